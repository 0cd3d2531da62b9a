// Converts socket addresses to the form of the system calls.

import TweaksSystem

/// An address of a Unix socket or of TCP.
enum SocketAddress: Equatable {
    case unix(path: String)
    /// 127.0.0.1
    case loopback4(port: UInt16)
    /// ::1
    case loopback6(port: UInt16)
    /// Any IPv4 address, four bytes.
    case address4([UInt8], port: UInt16)
    /// Any IPv6 address, sixteen bytes.
    case address6([UInt8], port: UInt16)

    /// A numeric address, `192.0.2.1` or `2001:db8::1`; nil for anything else.
    init?(_ text: String, port: UInt16) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self = .address4(Array(bytes.prefix(4)), port: port)
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self = .address6(bytes, port: port)
        } else {
            return nil
        }
    }

    /// Whether it is reachable only from this machine.
    var isLoopback: Bool {
        switch self {
        case .unix, .loopback4, .loopback6: true
        case .address4(let bytes, _): bytes.first == 127
        case .address6(let bytes, _): bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }

    var family: Int32 {
        switch self {
        case .unix: AF_UNIX
        case .loopback4, .address4: AF_INET
        case .loopback6, .address6: AF_INET6
        }
    }

    /// The maximum path length of a Unix socket, in bytes.
    static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Calls `body` with the address as a C structure.
    func withCAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { field in
                field.copyBytes(from: path.utf8.prefix(Self.longestPath))
            }
            return Self.lend(&address, body)
        case .loopback4(let port): return Self.with4([127, 0, 0, 1], port, body)
        case .loopback6(let port): return Self.with6([UInt8](repeating: 0, count: 15) + [1], port, body)
        case .address4(let bytes, let port): return Self.with4(bytes, port, body)
        case .address6(let bytes, let port): return Self.with6(bytes, port, body)
        }
    }

    private static func with4<Result>(
        _ bytes: [UInt8], _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
        return lend(&address, body)
    }

    private static func with6<Result>(
        _ bytes: [UInt8], _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
        return lend(&address, body)
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

    /// The numeric address of a connected TCP socket: its own, or its peer's.
    static func host(of descriptor: Int32, peer: Bool = true) -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: 256)
        let result = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                (peer ? getpeername(descriptor, address, &length) : getsockname(descriptor, address, &length)) == 0
                    && getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            }
        }
        guard result else { return nil }
        let host = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return storage.ss_family == sa_family_t(AF_INET6) ? "[\(host)]" : host
    }

    /// The port of a bound or connected TCP socket: its own, or its peer's.
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
