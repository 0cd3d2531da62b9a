// Owns a file descriptor, and retries or classifies its interruptible calls.

import TweaksSystem

/// An open socket, closed on deinit.
final class Descriptor: Sendable {
    let number: Int32
    private let kernel: Kernel

    init(_ number: Int32, _ kernel: Kernel = Kernel()) {
        self.number = number
        self.kernel = kernel
    }

    deinit { close(number) }

    /// The result of reading or writing.
    enum Transfer: Equatable {
        case bytes(Int)
        /// Not ready; wait for the poller.
        case wouldBlock
        case endOfInput
        case failed(Int32)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        while true {
            let count = kernel.make(.receive, on: number, count: buffer.count) {
                recv(number, buffer.baseAddress, $0, 0)
            }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .endOfInput }
            if let failure = Self.failure(count) { return failure }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        while true {
            let count = kernel.make(.send, on: number, count: bytes.count) {
                send(number, bytes.baseAddress, $0, Platform.sendFlags)
            }
            if count >= 0 { return .bytes(count) }
            if let failure = Self.failure(count) { return failure }
        }
    }

    /// Whether bytes can be read now.
    var hasInput: Bool {
        var byte: UInt8 = 0
        return recv(number, &byte, 1, Int32(MSG_PEEK)) > 0
    }

    /// Nil if the call was only interrupted.
    private static func failure(_ result: Int) -> Transfer? {
        switch Int32(-result) {
        case EINTR: nil
        case EAGAIN, EWOULDBLOCK: .wouldBlock
        case let code: .failed(code)
        }
    }

    /// Shuts down the sending side. A failure is ignored: the connection is already gone.
    func endOutput() { _ = kernel.make(.shutdown, on: number) { _ in Int(shutdown(number, Int32(SHUT_WR))) } }
}
