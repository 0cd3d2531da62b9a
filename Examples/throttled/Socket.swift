// Wraps the C library's sockets.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A system call that failed.
struct SocketError: Error, Equatable, CustomStringConvertible {
    let subject: String
    let code: Int32

    init(_ subject: String) {
        self.subject = subject
        code = errno
    }

    var description: String { "\(subject): \(String(cString: strerror(code)))" }
}

/// A nonblocking descriptor, closed on deinit.
final class Socket: Sendable {
    let number: Int32

    /// Takes ownership of a descriptor.
    init(_ number: Int32) {
        self.number = number
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    deinit { close(number) }

    /// Creates a socket for TCP over IPv4.
    static func tcp() throws(SocketError) -> Socket {
        let number = socket(AF_INET, stream, 0)
        if number < 0 { throw SocketError("socket") }
        return Socket(number)
    }

    /// The result of reading or writing.
    enum Transfer: Equatable {
        case bytes(Int)
        case wouldBlock
        /// The peer has closed the connection, or it is broken.
        case closed
    }

    func receive(into buffer: inout [UInt8]) -> Transfer {
        Self.transfer { recv(number, &buffer, buffer.count, 0) }
    }

    func transmit(_ bytes: [UInt8]) -> Transfer {
        Self.transfer { send(number, bytes, bytes.count, Self.sendFlags) }
    }

    private static func transfer(_ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            if count > 0 { return .bytes(count) }
            if count == 0 { return .closed }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            default: return .closed
            }
        }
    }

    /// Shuts down the output side.
    func shutdownOutput() { shutdown(number, Int32(SHUT_WR)) }

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
        private static let sendFlags: Int32 = 0  // SO_NOSIGPIPE is set instead.
    #elseif canImport(Musl)
        private static let stream = SOCK_STREAM
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif
}
