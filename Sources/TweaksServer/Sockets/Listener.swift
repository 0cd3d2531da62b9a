// Opens the sockets that accept connections.

import Synchronization
import Tweaks
import TweaksSystem
import TweaksWire

/// A place where a server can be reached.
public enum TweakListener: Equatable, Sendable {
    /// A Unix socket at an absolute path. By default only its owner's user and root are served.
    case unix(path: String)
    /// TCP on the loopback addresses 127.0.0.1 and ::1; port 0 picks a free one.
    ///
    /// It requires no token: every user and container of this network namespace can connect and change tweaks.
    case tcp(port: Int)
    /// TCP on loopback for clients that show a token with the command `auth`; others can do nothing.
    ///
    /// A server alone knows no tokens and does not start with it; `TweakDaemon` reads a token file.
    case tcpWithTokens(port: Int)
}

/// A bound socket and its properties.
final class Listener: Sendable {
    let descriptor: Descriptor
    let isUnix: Bool
    let isVersion6: Bool
    let wantsToken: Bool
    let isShared: Bool
    let port: UInt16?
    /// The endpoint whose dialect connections speak; nil means lines.
    let endpoint: (any Endpoint)?
    let isLoopback: Bool
    /// Whether it is on 127.0.0.1 alone, and another program has the same port on ::1.
    let isTakenOnVersion6 = Atomic(false)
    private let lease: SocketLease?
    private let kernel: Kernel

    /// Creates a Unix socket at a locked path.
    /// - Parameters:
    ///   - isShared: Every user can connect; each connection is authorized by its user.
    ///   - endpoint: As of a TCP socket; tests serve it without a port.
    convenience init(
        at lease: SocketLease, isShared: Bool = false, endpoint: (any Endpoint)? = nil, _ kernel: Kernel
    ) throws(ServerError) {
        try self.init(
            .unix(path: lease.path), name: "socket \(lease.path)", endpoint: endpoint, at: lease, isShared: isShared,
            kernel)
        lease.noteSocket()
    }

    init(
        _ address: SocketAddress, name: String, wantsToken: Bool = false, endpoint: (any Endpoint)? = nil,
        at lease: SocketLease? = nil, isShared: Bool = false, _ kernel: Kernel
    ) throws(ServerError) {
        descriptor = try Self.open(address, name: name, mode: Self.mode(isShared: isShared))
        isUnix = lease != nil
        isVersion6 = address.family == AF_INET6
        isLoopback = address.isLoopback
        port = lease == nil ? SocketAddress.of(descriptor.number)?.port : nil
        self.wantsToken = wantsToken
        self.isShared = isShared
        self.endpoint = endpoint
        self.lease = lease
        self.kernel = kernel
    }

    /// Ends the listening itself. Closing alone would not: a program that is being started has the descriptor too, from
    /// fork to exec, and would keep the port and let clients in.
    deinit { shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    /// Creates the dialect of a new connection.
    func makeDialect(_ connection: Int32, _ instance: String, _ readiness: Readiness) -> (any SessionDialect)? {
        let address = isLoopback ? nil : SocketAddress.of(connection)?.host
        return endpoint?.makeDialect(
            EndpointAddress(port: port ?? 0, address: address, instance: instance, readiness: readiness))
    }

    var path: String? { lease?.path }

    /// Its address, and the access rule for `stats`.
    var info: (address: String, access: JSON) {
        let host = endpoint?.address ?? (isVersion6 ? "[::1]" : "127.0.0.1")
        let address = path ?? "\(host):\(port ?? 0)"
        let access = endpoint.map { "\($0.needsTokens ? "token" : "open") (\($0.name))" } ?? lineAccess
        return (address, .string(access))
    }

    private var lineAccess: String {
        if isUnix { return isShared ? "by user" : "own user and root" }
        return wantsToken ? "token" : "open"
    }

    func removeFile() { lease?.removeSocket() }

    /// What is at the path of a Unix socket; nil for TCP.
    var presence: SocketLease.Presence? { lease?.presence }

    /// Takes the lock again if its file was removed: another process could take it. If that has, its start is refused by
    /// this socket, and the next check tries again.
    func renewLock() { try? lease?.renew() }

    /// Makes the removed file of a Unix socket again. The descriptor keeps its number, and must be polled anew.
    func remakeFile() throws(ServerError) {
        guard let lease else { return }
        try lease.renew()
        let new = try Self.open(
            .unix(path: lease.path), name: "socket \(lease.path)", mode: Self.mode(isShared: isShared))
        lease.noteSocket()
        if !Platform.replace(descriptor.number, by: new.number) {
            let reason = errorText()
            lease.removeSocket()
            throw ServerError("socket \(lease.path): \(reason)")
        }
    }

    private static func mode(isShared: Bool) -> mode_t { isShared ? 0o666 : 0o600 }

    private static func open(
        _ address: SocketAddress, name: String, mode: mode_t
    ) throws(ServerError) -> Descriptor {
        let number = Platform.makeSocket(address.family)
        if number < 0 { throw failure(name, address, errno) }
        let descriptor = Descriptor(number)
        Platform.prepare(number)
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        switch address {
        case .unix: fchmod(number, mode)  // On Linux the file that `bind` makes inherits this.
        case .version4: break
        case .version6: setsockopt(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
        }
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, size)
        guard address.withCAddress({ bind(number, $0, $1) }) == 0 else {
            throw failure(name, address, errno)
        }
        if case .unix(let path) = address { chmod(path, mode) }
        guard listen(number, 1_024) == 0 else { throw failure(name, address, errno) }
        return descriptor
    }

    private static func failure(_ name: String, _ address: SocketAddress, _ code: Int32) -> ServerError {
        if code == EADDRINUSE {
            return ServerError(
                "\(name): \(errorText(code)): another program, or another instance of this one, listens there; end it, "
                    + "or choose another port", isTaken: true)
        }
        if case .unix = address { return SocketLease.unavailable("\(name): \(errorText(code))") }
        return ServerError("\(name): \(errorText(code))")
    }

    enum Accepted {
        case connection(Descriptor)
        case wouldBlock
        /// The process or the system is out of descriptors or memory, or another temporary error occurred.
        case exhausted
    }

    func accept() -> Accepted {
        while true {
            let number = kernel.make(.accept, on: descriptor.number) { _ in Int(Self.accept(descriptor.number)) }
            if number >= 0 {
                Platform.prepare(Int32(number))
                return .connection(Descriptor(Int32(number), kernel))
            }
            switch Int32(-number) {
            // ECONNABORTED: the client disconnected before it was accepted.
            case EINTR, ECONNABORTED: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            default: return .exhausted
            }
        }
    }

    private static func accept(_ number: Int32) -> Int32 {
        #if os(Linux)
            // Atomic close-on-exec: a program started meanwhile by another thread would inherit the connection.
            tweaks_accept(number)
        #else
            Darwin.accept(number, nil, nil)
        #endif
    }
}

extension TweakServer {
    func open(_ listener: TweakListener, _ kernel: Kernel) throws(ServerError) -> [Listener] {
        switch listener {
        case .unix(let path):
            return [try Listener(at: try SocketLease(path: path), isShared: hooks.access.isShared, kernel)]
        case .tcp(let port): return try Self.openTCP(port, wantsToken: false, kernel)
        case .tcpWithTokens(let port):
            guard hooks.tokens != nil else {
                throw ServerError(
                    "tcp port \(port): this listener requires tokens, and there is no token file; name one in "
                        + "TWEAKS_TOKEN_FILE, or in TweakDaemon.start")
            }
            return try Self.openTCP(port, wantsToken: true, kernel)
        }
    }

    /// Opens an endpoint on the first free one of its ports.
    static func open(
        _ endpoint: any Endpoint, hasTokenFile: Bool, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        var taken: ServerError?
        for port in endpoint.ports {
            do throws(ServerError) {
                return try open(endpoint, port, hasTokenFile: hasTokenFile, kernel)
            } catch {
                guard error.isTaken else { throw error }
                taken = error
            }
        }
        throw taken ?? ServerError("\(endpoint.name): no port was named")
    }

    private static func open(
        _ endpoint: any Endpoint, _ port: Int, hasTokenFile: Bool, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        guard let text = endpoint.address else {
            return try openTCP(port, wantsToken: true, endpoint: endpoint, kernel)
        }
        let port = try number(port, endpoint.name)
        guard let address = SocketAddress(text, port: port) else {
            throw ServerError("\(endpoint.name) address \(text): write it in numbers, such as 192.0.2.1 or ::")
        }
        let name = "\(endpoint.name) \(text) port \(port)"
        if !address.isLoopback, endpoint.needsTokens, !hasTokenFile {
            throw ServerError(
                "\(name): listening beyond this machine needs a token file; name one in TWEAKS_TOKEN_FILE (tweakctl "
                    + "token new makes one), or listen on loopback and tunnel by ssh")
        }
        return [try Listener(address, name: name, wantsToken: true, endpoint: endpoint, kernel)]
    }

    private static func number(_ port: Int, _ kind: String) throws(ServerError) -> UInt16 {
        if let number = UInt16(exactly: port) { return number }
        throw ServerError("\(kind) port \(port): a port is 0…65535; 0 picks a free one")
    }

    /// Opens a port on 127.0.0.1 and, if this machine has it, on ::1.
    private static func openTCP(
        _ port: Int, wantsToken: Bool, endpoint: (any Endpoint)? = nil, _ kernel: Kernel
    ) throws(ServerError) -> [Listener] {
        let name = endpoint?.name ?? "tcp"
        let number = try number(port, name)
        // A port that is free on one address only is not free: clients of localhost may try the other one first. Another
        // free port is as good as that one.
        for _ in 0..<(number == 0 ? freePortAttempts : 0) {
            do throws(ServerError) {
                return try openBoth(number, name, wantsToken: wantsToken, endpoint, kernel, isShareable: false)
            } catch {
                guard error.isTaken else { throw error }
            }
        }
        return try openBoth(number, name, wantsToken: wantsToken, endpoint, kernel, isShareable: !wantsToken)
    }

    private static let freePortAttempts = 16

    /// - Parameter isShareable: Another program may have the port on ::1; the listener reports it. Where clients show a
    ///   token, they could show it to that program.
    private static func openBoth(
        _ number: UInt16, _ name: String, wantsToken: Bool, _ endpoint: (any Endpoint)?, _ kernel: Kernel,
        isShareable: Bool
    ) throws(ServerError) -> [Listener] {
        let first = try Listener(
            .loopback4(port: number), name: "\(name) 127.0.0.1:\(number)", wantsToken: wantsToken, endpoint: endpoint,
            kernel)
        guard let port = first.port else { return [first] }
        do throws(ServerError) {
            let second = try Listener(
                .loopback6(port: port), name: "\(name) [::1]:\(port)", wantsToken: wantsToken, endpoint: endpoint,
                kernel)
            return [first, second]
        } catch {
            if error.isTaken, !isShareable { throw error }
            first.isTakenOnVersion6.store(error.isTaken, ordering: .relaxed)
            return [first]
        }
    }
}
