// Sockets that accept connections.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Where a server can be reached.
public enum TweakListener: Equatable, Sendable {
    /// A Unix socket at an absolute path. Only its owner's user and root are served.
    case unix(path: String)
    /// TCP on the loopback addresses 127.0.0.1 and ::1; port 0 picks a free one.
    ///
    /// It asks for no token: every user and container of this network namespace can connect and change tweaks.
    case tcp(port: Int)
}

/// A bound socket, and what has to be remembered about it.
final class Listener: Sendable {
    let descriptor: Descriptor
    let isUnix: Bool
    let isVersion6: Bool
    /// The port, for TCP.
    let port: UInt16?
    private let place: SocketPlace?
    private let kernel: Kernel

    /// A Unix socket at a claimed place.
    init(at place: SocketPlace, _ kernel: Kernel) throws(ServerError) {
        self.kernel = kernel
        descriptor = try Self.open(.unix(path: place.path), name: "socket \(place.path)")
        isUnix = true
        isVersion6 = false
        port = nil
        self.place = place
    }

    /// A TCP socket on a loopback address.
    init(_ address: SocketAddress, name: String, _ kernel: Kernel) throws(ServerError) {
        self.kernel = kernel
        descriptor = try Self.open(address, name: name)
        isUnix = false
        isVersion6 = address.family == AF_INET6
        port = SocketAddress.port(of: descriptor.number)
        place = nil
    }

    /// The path of a Unix socket.
    var path: String? { place?.path }

    /// Removes the file of a Unix socket.
    func removeFile() { place?.removeSocket() }

    private static func open(_ address: SocketAddress, name: String) throws(ServerError) -> Descriptor {
        let number = socket(address.family, Platform.stream, 0)
        if number < 0 { throw ServerError("\(name): \(errorText())") }
        let descriptor = Descriptor(number)
        Platform.prepare(number)
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        switch address {
        case .unix: fchmod(number, 0o600)  // On Linux the file that `bind` makes inherits this.
        case .loopback6: setsockopt(number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
        case .loopback4: break
        }
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, size)
        guard address.withCAddress({ bind(number, $0, $1) }) == 0 else {
            throw ServerError("\(name): \(errorText())", isTaken: errno == EADDRINUSE)
        }
        if case .unix(let path) = address { chmod(path, 0o600) }
        guard listen(number, 1_024) == 0 else {
            throw ServerError("\(name): \(errorText())", isTaken: errno == EADDRINUSE)
        }
        return descriptor
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
        #if canImport(Darwin)
            Darwin.accept(number, nil, nil)
        #elseif canImport(Musl)
            Musl.accept(number, nil, nil)
        #else
            Glibc.accept(number, nil, nil)
        #endif
    }
}
