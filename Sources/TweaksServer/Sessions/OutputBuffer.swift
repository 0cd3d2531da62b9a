// Buffers output for a client.

/// A queue of unsent bytes.
struct OutputBuffer: ~Copyable {
    private(set) var bytes: [UInt8] = []
    private var head = 0
    /// Whether the byte sent last ended a line, or none was sent.
    private var isAtLineStart = true
    /// The bytes that were sent since the kernel was asked how many it keeps.
    private var unchecked = 0

    /// The bytes of memory that it holds.
    var memorySize: Int { bytes.capacity }

    var count: Int { bytes.count - head }
    var isEmpty: Bool { head == bytes.count }

    /// Appends what `body` writes.
    mutating func append(_ body: (inout [UInt8]) -> Void) { body(&bytes) }

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Sends as much as the socket accepts.
    /// - Parameter most: The kernel's send buffer, and the maximum bytes of one call: TCP takes all bytes of a call into a
    ///   buffer that has any room, and beyond that adds to its last packet up to 64 KiB.
    mutating func send(to descriptor: Descriptor, atMost most: Int) -> Descriptor.Transfer {
        if bytes.isEmpty { return .bytes(0) }
        while !isEmpty {
            if unchecked >= most {
                // The poller reports the socket when this is less.
                if Platform.unsentBytes(descriptor.number) >= most {
                    compact()
                    return .wouldBlock
                }
                unchecked = 0
            }
            let result = bytes.withUnsafeBytes { all in
                descriptor.write(UnsafeRawBufferPointer(rebasing: all[head...].prefix(most)))
            }
            guard case .bytes(let count) = result else {
                compact()
                return result
            }
            head += count
            unchecked += count
        }
        if let last = bytes.last { isAtLineStart = last == UInt8(ascii: "\n") }
        // An idle session must not keep the buffer of a long reply.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4_096)
        head = 0
        return .bytes(0)
    }

    private mutating func compact() {
        if head < 65_536 { return }
        isAtLineStart = bytes[head - 1] == UInt8(ascii: "\n")
        bytes.removeSubrange(..<head)
        head = 0
    }

    /// Discards unsent bytes.
    /// - Returns: Whether a partial line was sent.
    mutating func forget() -> Bool {
        if head > 0 { isAtLineStart = bytes[head - 1] == UInt8(ascii: "\n") }
        (bytes, head) = ([], 0)
        return !isAtLineStart
    }
}
