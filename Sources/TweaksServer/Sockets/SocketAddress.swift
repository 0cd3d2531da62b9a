// Addresses in the form that the socket calls want.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An address of a Unix socket, or a loopback address of TCP.
enum SocketAddress: Equatable {
    case unix(path: String)
    /// 127.0.0.1
    case loopback4(port: UInt16)
    /// ::1
    case loopback6(port: UInt16)

    var family: Int32 {
        switch self {
        case .unix: AF_UNIX
        case .loopback4: AF_INET
        case .loopback6: AF_INET6
        }
    }

    /// The longest path that a Unix socket's address holds.
    static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Calls `body` with the address as C sees it.
    func withCAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { field in
                field.copyBytes(from: path.utf8.prefix(Self.longestPath))
            }
            return Self.lend(&address, body)
        case .loopback4(let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return Self.lend(&address, body)
        case .loopback6(let port):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return Self.lend(&address, body)
        }
    }

    private static func lend<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) { pointer in
            // A sockaddr_xx begins like a sockaddr: that is the contract of the socket calls.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// The port of a bound or accepted TCP socket, of its own end or of its peer's.
    static func port(of descriptor: Int32, peer: Bool = false) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage -> UInt16? in
            let result = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                peer ? getpeername(descriptor, address, &length) : getsockname(descriptor, address, &length)
            }
            guard result == 0 else { return nil }
            switch Int32(storage.pointee.ss_family) {
            case AF_INET:
                return storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                }
            case AF_INET6:
                return storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin6_port)
                }
            default: return nil
            }
        }
    }
}
