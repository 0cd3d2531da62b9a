// Sockets that accept connections.

import TweaksSystem
import Tweaks
import TweaksWire

/// Where a server can be reached.
public enum TweakListener: Equatable, Sendable {
    /// A Unix socket at an absolute path. Only its owner's user and root are served.
    case unix(path: String)
    /// TCP on the loopback addresses 127.0.0.1 and ::1; port 0 picks a free one.
    ///
    /// It asks for no token: every user and container of this network namespace can connect and change tweaks.
    case tcp(port: Int)
    /// The same for who shows a token with the command `auth`; nothing is done for anybody else.
    ///
    /// A server by itself knows no tokens, and does not start with it; `TweakDaemon` reads a file of them.
    case tcpWithTokens(port: Int)
}

/// A bound socket, and what has to be remembered about it.
final class Listener: Sendable {
    let descriptor: Descriptor
    let isUnix: Bool
    let isVersion6: Bool
    /// Who connects has to show a token.
    let wantsToken: Bool
    /// Others than its owner can open the Unix socket.
    let isShared: Bool
    /// The port, for TCP.
    let port: UInt16?
    /// How connections are spoken with; nil: by lines.
    let front: (any ServerFront)?
    /// It is on a loopback address.
    let isLoopback: Bool
    private let place: SocketPlace?
    private let kernel: Kernel

    /// A Unix socket at a claimed place.
    /// - Parameter isShared: Everybody can connect; each connection is judged by its user.
    init(at place: SocketPlace, isShared: Bool = false, _ kernel: Kernel) throws(ServerError) {
        self.kernel = kernel
        descriptor = try Self.open(
            .unix(path: place.path), name: "socket \(place.path)", mode: isShared ? 0o666 : 0o600)
        isUnix = true
        isVersion6 = false
        wantsToken = false
        self.isShared = isShared
        port = nil
        (front, isLoopback) = (nil, true)
        self.place = place
    }

    /// A TCP socket.
    init(
        _ address: SocketAddress, name: String, wantsToken: Bool = false, front: (any ServerFront)? = nil,
        _ kernel: Kernel
    ) throws(ServerError) {
        self.kernel = kernel
        descriptor = try Self.open(address, name: name)
        isUnix = false
        isVersion6 = address.family == AF_INET6
        port = SocketAddress.port(of: descriptor.number)
        self.wantsToken = wantsToken
        isShared = false
        self.front = front
        isLoopback = address.isLoopback
        place = nil
    }

    /// How a new connection is spoken with.
    func makeDialect(_ connection: Int32, _ instance: String) -> (any SessionDialect)? {
        let address = isLoopback ? nil : SocketAddress.host(of: connection, peer: false)
        return front?.makeDialect(FrontPlace(port: port ?? 0, address: address, instance: instance))
    }

    /// The path of a Unix socket.
    var path: String? { place?.path }

    /// Where it is, and who is let in.
    var facts: (address: String, access: JSON) {
        let host = front?.address ?? (isVersion6 ? "[::1]" : "127.0.0.1")
        let address = path ?? "\(host):\(port ?? 0)"
        let access = front.map { "token (\($0.name))" } ?? lineAccess
        return (address, .string(access))
    }

    private var lineAccess: String {
        isUnix ? isShared ? "by user" : "own user and root" : wantsToken ? "token" : "open"
    }

    /// Removes the file of a Unix socket.
    func removeFile() { place?.removeSocket() }

    private static func open(
        _ address: SocketAddress, name: String, mode: mode_t = 0o600
    ) throws(ServerError) -> Descriptor {
        let number = Platform.makeSocket(address.family)
        if number < 0 { throw ServerError("\(name): \(errorText())") }
        let descriptor = Descriptor(number)
        Platform.prepare(number)
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        switch address {
        case .unix: fchmod(number, mode)  // On Linux the file that `bind` makes inherits this.
        case .loopback6, .address6: setsockopt(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
        case .loopback4, .address4: break
        }
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, size)
        guard address.withCAddress({ bind(number, $0, $1) }) == 0 else { throw failure(name, errno) }
        if case .unix(let path) = address { chmod(path, mode) }
        guard listen(number, 1_024) == 0 else { throw failure(name, errno) }
        return descriptor
    }

    private static func failure(_ name: String, _ code: Int32) -> ServerError {
        let remedy = "another program, or another instance of this one, listens there; end it, or choose another port"
        return code == EADDRINUSE
            ? ServerError("\(name): \(errorText(code)): \(remedy)", isTaken: true)
            : ServerError("\(name): \(errorText(code))")
    }

    /// What came of accepting.
    enum Accepted {
        case connection(Descriptor)
        case nobody
        /// The process or the system is out of descriptors or memory, or there is other trouble that may pass.
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
            // The second: somebody has come and gone.
            case EINTR, ECONNABORTED: continue
            case EAGAIN, EWOULDBLOCK: return .nobody
            default: return .exhausted
            }
        }
    }

    private static func accept(_ number: Int32) -> Int32 {
        #if os(Linux)
            // At once: a program that another thread starts meanwhile would keep the connection open.
            tweaks_accept(number)
        #else
            Darwin.accept(number, nil, nil)
        #endif
    }
}
