// Listens on a TCP port and accepts clients.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A listening TCP socket on 127.0.0.1.
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
        guard Self.withSocketAddress(&address, { bind(number, $0, $1.pointee) }) == 0,
            listen(number, 1_024) == 0
        else {
            throw SocketError("127.0.0.1:\(port)")
        }
        guard Self.withSocketAddress(&address, { getsockname(number, $0, $1) }) == 0 else {
            throw SocketError("getsockname")
        }
        self.port = UInt16(bigEndian: address.sin_port)
    }

    /// Ends the listening itself. Closing alone would not: a program that is being started has the descriptor too, from
    /// fork to exec, and would let clients in.
    func stop() { shutdown(socket.number, Int32(SHUT_RDWR)) }

    /// The result of accepting.
    enum AcceptResult {
        case client(Socket, address: String)
        /// No client is waiting.
        case wouldBlock
        /// The process or the system has no descriptor left.
        case outOfDescriptors
    }

    /// Accepts the next waiting client.
    func acceptNext() -> AcceptResult {
        var address = sockaddr_in()
        while true {
            let number = Self.withSocketAddress(&address) { accept(socket.number, $0, $1) }
            if number >= 0 { return .client(Socket(number), address: Self.text(address)) }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .outOfDescriptors
            default: return .wouldBlock
            }
        }
    }

    private static func text(_ address: sockaddr_in) -> String {
        withUnsafeBytes(of: address.sin_addr.s_addr) { $0.map { "\($0)" }.joined(separator: ".") }
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_in, _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Int32 {
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            // The socket calls define that a sockaddr_in begins like a sockaddr.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
    }
}
