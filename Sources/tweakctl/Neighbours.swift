// The processes that run and offer tweaks, and which of them a name means.

import Tweaks
import TweaksWire

import TweaksSystem
import TweaksTerminal

/// A process that offers tweaks.
struct Neighbour: Equatable {
    let socket: NamedSocket
    var processID: String?
    var tweaks: String?
    var modified: String?
    /// Nil for one that accepts connections and does not answer.
    var isTalking: Bool { processID != nil }

    /// How long a process may take to say who it is.
    static let patience: Int32 = 1_000

    /// Those that accept connections; what dead ones left is cleared away.
    static func running() -> [NamedSocket] { RunDirectory.sockets.filter(isAlive) }

    /// Whether somebody is behind a socket. In doubt there is: one may be too busy to accept.
    private static func isAlive(_ socket: NamedSocket) -> Bool {
        do throws(Address.Refusal) {
            close(try socket.address.connectedSocket())
            return true
        } catch {
            if error.code == ECONNREFUSED, socket != NamedSocket.ofEnvironment { socket.clearIfDead() }
            return error.code == EAGAIN || error.code == EINPROGRESS
        }
    }

    /// The one of exactly this name, with the connection that showed it to be there, where one did.
    static func running(_ name: String) -> (NamedSocket, Connection?)? {
        for socket in RunDirectory.sockets where socket.name == name {
            if let connection = try? Connection(socket.address) { return (socket, connection) }
            if isAlive(socket) { return (socket, nil) }
        }
        return nil
    }

    /// As an object for programs.
    var json: JSON {
        func number(_ text: String?) -> JSON { text.flatMap { Int64($0) }.map(JSON.int) ?? .null }
        return .object([
            ("name", .string(socket.name)), ("pid", number(processID)), ("tweaks", number(tweaks)),
            ("modified", number(modified)), ("socket", .string(socket.path)),
        ])
    }

    // MARK: Names

    /// The only further instance of a name, as is left when the first one has ended.
    /// - Returns: Nil when there is none.
    static func instance(of name: String, among sockets: [NamedSocket]) throws(Failure) -> NamedSocket? {
        let instances = sockets.filter { $0.isInstance(of: name) }
        if instances.count > 1 {
            let names = instances.map { Quoting.sanitized($0.name) }.joined(separator: ", ")
            throw Failure(.usage, "\(name) runs several times; name one of them: \(names)")
        }
        return instances.first
    }

    /// The one of a command line without a name: that of `TWEAKS_SOCKET`, or the only one that runs.
    static func unnamed() throws(Failure) -> NamedSocket {
        if let socket = NamedSocket.ofEnvironment { return socket }
        return try only(among: running())
    }

    /// The only one there is.
    static func only(among sockets: [NamedSocket]) throws(Failure) -> NamedSocket {
        guard let first = sockets.first else { throw Failure(.unreachable, nobody) }
        guard sockets.count == 1 else {
            throw Failure(.usage, "several processes offer tweaks; name one of them: \(names(sockets))")
        }
        return first
    }

    static func names(_ sockets: [NamedSocket]) -> String {
        sockets.map { Quoting.sanitized($0.name) }.joined(separator: ", ")
    }

    /// What to say when nobody is there.
    static var nobody: String {
        "no process of yours offers tweaks in \(RunDirectory.all.map(\.path).joined(separator: " or ")); "
            + "start one, or name its socket with -s PATH"
    }
}

extension Neighbour {
    /// Asks a process who it is.
    init(asking socket: NamedSocket) {
        self.socket = socket
        guard let connection = try? Connection(socket.address),
            let hello = connection.ask("hello 1", within: Self.patience), !hello.isRefusal,
            let stats = connection.ask("stats", within: Self.patience)
        else { return }
        processID = hello.fact("pid")
        tweaks = stats.fact("tweaks")
        modified = stats.fact("modified")
    }
}
