// A file descriptor that closes itself, and the calls on it that can be interrupted or fall short.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// An open socket; closed when it is let go of.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// What came of reading or writing.
    enum Transfer: Equatable {
        case bytes(Int)
        /// Nothing now; wait until it is ready.
        case wouldBlock
        case endOfInput
        case failed(Int32)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = recv(number, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .endOfInput }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        while true {
            let count = send(number, bytes.baseAddress, bytes.count, Platform.sendFlags)
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
        }
    }

    /// Says that nothing more will be sent.
    func endOutput() { shutdown(number, Int32(SHUT_WR)) }
}
