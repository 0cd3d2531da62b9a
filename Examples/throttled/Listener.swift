// The socket that clients connect to.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A TCP port of 127.0.0.1.
struct Listener {
    let socket: Socket
    let port: UInt16

    /// Opens a port; 0 picks a free one.
    init(port: UInt16) throws(SocketError) {
        socket = try Socket.tcp()
        let number = socket.number
        var on: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        guard Self.lend(&address, { bind(number, $0, $1.pointee) }) == 0, listen(number, 1_024) == 0 else {
            throw SocketError("127.0.0.1:\(port)")
        }
        guard Self.lend(&address, { getsockname(number, $0, $1) }) == 0 else { throw SocketError("getsockname") }
        self.port = UInt16(bigEndian: address.sin_port)
    }

    /// What came of accepting.
    enum Arrival {
        case client(Socket, address: String)
        case nobody
        /// The process or the system has no descriptor left.
        case exhausted
    }

    /// The next client that waits to be let in.
    func nextArrival() -> Arrival {
        var address = sockaddr_in()
        while true {
            let number = Self.lend(&address) { accept(socket.number, $0, $1) }
            if number >= 0 { return .client(Socket(number), address: Self.text(address)) }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            default: return .nobody
            }
        }
    }

    private static func text(_ address: sockaddr_in) -> String {
        withUnsafeBytes(of: address.sin_addr.s_addr) { $0.map { "\($0)" }.joined(separator: ".") }
    }

    private static func lend(
        _ address: inout sockaddr_in, _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Int32 {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            // A sockaddr_in begins like a sockaddr: that is the contract of the socket calls.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
    }
}
