// Finds the running processes that offer tweaks and resolves names to them.

import Tweaks
import TweaksSystem
import TweaksWire

/// A process that offers tweaks.
struct RunningProcess: Equatable {
    let socket: NamedSocket
    var processID: String?
    var tweaks: String?
    var modified: String?
    /// Whether it answers; false for a process that only accepts connections.
    var isResponding: Bool { processID != nil }

    /// The timeout for each answer, in milliseconds.
    static let timeout: Int32 = 1_000

    /// The sockets that accept connections; sockets of crashed processes are removed.
    static func running() -> [NamedSocket] { NamedSocket.all.filter(isAccepting) }

    /// Whether a process listens on a socket. A process that is too busy to accept counts as running.
    private static func isAccepting(_ socket: NamedSocket) -> Bool { connection(to: socket) != nil }

    /// Connects without waiting; removes the socket of a crashed process.
    /// - Returns: Nil where no process listens; nil in the inner one where it is too busy to accept.
    private static func connection(to socket: NamedSocket) -> Connection?? {
        do throws(SocketError) {
            return .some(try Connection(socket.address, within: 0))
        } catch {
            if error.code == ECONNREFUSED, socket != NamedSocket.ofEnvironment { socket.removeIfStale() }
            return error.isTimeout ? .some(nil) : nil
        }
    }

    /// The running process of exactly this name, with the connection that proved it, if there is one.
    static func running(_ name: String) -> (NamedSocket, Connection?)? {
        for socket in NamedSocket.all where socket.name == name {
            if let connection = connection(to: socket) { return (socket, connection) }
        }
        return nil
    }

    /// The JSON object that `--json` prints.
    var json: JSON {
        func number(_ text: String?) -> JSON { text.flatMap { Int64($0) }.map(JSON.int) ?? .null }
        return .object([
            ("name", .string(socket.name)), ("pid", number(processID)), ("tweaks", number(tweaks)),
            ("modified", number(modified)), ("socket", .string(socket.path)),
        ])
    }

    // MARK: Names

    /// The only running `NAME-PID` instance of a name, as remains when the first instance has ended.
    static func instance(of name: String) throws(Failure) -> NamedSocket? {
        try instance(of: name, among: NamedSocket.all.filter { $0.isInstance(of: name) && isAccepting($0) })
    }

    /// The only instance in a list.
    /// - Returns: Nil when there is none.
    static func instance(of name: String, among sockets: [NamedSocket]) throws(Failure) -> NamedSocket? {
        let instances = sockets.filter { $0.isInstance(of: name) }
        if instances.count > 1 {
            let names = instances.map { Quoting.sanitized($0.name) }.joined(separator: ", ")
            throw Failure(.usage, "\(name) runs several times; name one of them: \(names)")
        }
        return instances.first
    }

    /// The process of a command line without a name: that of `TWEAKS_SOCKET`, or the only running one.
    static func implied() throws(Failure) -> NamedSocket {
        if let socket = NamedSocket.ofEnvironment { return socket }
        return try only(among: running())
    }

    /// The only socket of a list.
    static func only(among sockets: [NamedSocket]) throws(Failure) -> NamedSocket {
        guard let first = sockets.first else { throw Failure(.unreachable, noProcessText) }
        guard sockets.count == 1 else {
            throw Failure(.usage, "several processes offer tweaks; name one of them: \(names(sockets))")
        }
        return first
    }

    static func names(_ sockets: [NamedSocket]) -> String {
        sockets.map { Quoting.sanitized($0.name) }.joined(separator: ", ")
    }

    /// The error text for an empty list.
    static var noProcessText: String {
        "no process of yours offers tweaks in \(NamedSocket.directories.map(\.path).joined(separator: " or ")); "
            + "start one, or name its socket with -s PATH"
    }
}

extension RunningProcess {
    /// Asks a process for its identity and its counts.
    init(asking socket: NamedSocket) {
        self.socket = socket
        guard let connection = try? Connection(socket.address, within: Self.timeout),
            let hello = connection.ask("hello 1", within: Self.timeout), !hello.isRefusal,
            let stats = connection.ask("stats", within: Self.timeout)
        else { return }
        processID = hello.field("pid")
        tweaks = stats.field("tweaks")
        modified = stats.field("modified")
    }
}

/// A socket in a run directory, or the one of `TWEAKS_SOCKET`.
struct NamedSocket: Equatable {
    /// The name of the process: the file name without `.sock`.
    let name: String
    let path: String

    /// All known sockets: that of `TWEAKS_SOCKET`, then those in the directories.
    static var all: [NamedSocket] {
        let named = ofEnvironment.map { [$0] } ?? []
        let found = directories.flatMap { $0.sockets() }.map { NamedSocket(at: $0) }
        return named + found.filter { $0.path != named.first?.path }
    }

    static var directories: [RunDirectory] { RunDirectory.all(RunPlaces(System.variable)) }

    /// The socket of `TWEAKS_SOCKET`, the variable that the process itself reads; nil for `off`.
    static var ofEnvironment: NamedSocket? {
        guard let path = System.variable("TWEAKS_SOCKET"), path != "off" else { return nil }
        return NamedSocket(at: path)
    }

    init(name: String, path: String) {
        self.name = name
        self.path = path
    }

    /// The socket at a path, named by its file.
    init(at path: String) {
        let file = Folder.split(path).name
        self.init(name: file.hasSuffix(".sock") ? String(file.dropLast(5)) : file, path: path)
    }

    var address: Address { .unix(path: path) }

    /// Whether it is `NAME-PID`, the form of a second instance of a name.
    func isInstance(of name: String) -> Bool {
        guard self.name.hasPrefix(name + "-") else { return false }
        let rest = self.name.utf8.dropFirst(name.utf8.count + 1)
        return !rest.isEmpty && rest.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Removes the socket of a crashed process: nothing accepts connections, and its lock is free. The server uses the
    /// same rules, so that a starting process never loses its socket.
    func removeIfStale() {
        guard let lock = try? Folder.anywhere.lock(path + ".lock", FileRules(.anyone)) else { return }
        defer { withExtendedLifetime(lock) {} }
        // Again under the lock: a process may have started before it was acquired.
        do throws(SocketError) {
            close(try address.connectedSocket(within: 0))
        } catch {
            if error.code == ECONNREFUSED { unlink(path) }
        }
        unlink(path + ".lock")
    }
}
