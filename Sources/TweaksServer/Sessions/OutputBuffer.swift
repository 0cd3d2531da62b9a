// Bytes on their way to a client.

/// Bytes that wait to be sent; written at the end, taken at the front.
struct OutputBuffer: ~Copyable {
    private(set) var bytes: [UInt8] = []
    private var head = 0
    /// The last byte before these was the end of a line, or there was none.
    private var isAtLineStart = true

    /// How much memory it takes.
    var heldBytes: Int { bytes.capacity }

    var count: Int { bytes.count - head }
    var isEmpty: Bool { head == bytes.count }

    /// Appends what `body` writes.
    mutating func append(_ body: (inout [UInt8]) -> Void) { body(&bytes) }

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Sends as much as the socket takes.
    mutating func send(to descriptor: Descriptor) -> Descriptor.Transfer {
        if bytes.isEmpty { return .bytes(0) }
        while !isEmpty {
            let result = bytes.withUnsafeBytes { all in
                descriptor.write(UnsafeRawBufferPointer(rebasing: all[head...]))
            }
            guard case .bytes(let count) = result else {
                compact()
                return result
            }
            head += count
        }
        if let last = bytes.last { isAtLineStart = last == UInt8(ascii: "\n") }
        // A long reply must not leave its buffer behind on an idle session.
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

    /// Throws away what was not sent.
    /// - Returns: Whether a part of a line was.
    mutating func forget() -> Bool {
        if head > 0 { isAtLineStart = bytes[head - 1] == UInt8(ascii: "\n") }
        (bytes, head) = ([], 0)
        return !isAtLineStart
    }
}
