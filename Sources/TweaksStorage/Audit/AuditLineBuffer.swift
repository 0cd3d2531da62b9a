// Buffers audit lines until they are written to a file.

/// Unwritten lines, in order.
struct AuditLineBuffer {
    private(set) var bytes: [UInt8] = []
    /// The number of bytes already written.
    private var position = 0

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    var isEmpty: Bool { position == bytes.count }

    /// As many whole lines as fit, but at least one.
    func next(upTo size: Int) -> ArraySlice<UInt8> {
        let rest = bytes[position...]
        if rest.count <= size { return rest }
        let newline = UInt8(ascii: "\n")
        if let last = rest.prefix(max(0, size)).lastIndex(of: newline) { return rest[...last] }
        return rest.firstIndex(of: newline).map { rest[...$0] } ?? rest
    }

    mutating func wrote(_ count: Int) { position += count }

    /// Goes back to the start of a partly written line, because the next file needs the whole line.
    mutating func backToLine() {
        let newline = UInt8(ascii: "\n")
        position = bytes[..<position].lastIndex(of: newline).map { $0 + 1 } ?? 0
    }

    /// Inserts lines before the unwritten ones, none of which is partly written.
    mutating func prepend(_ lines: [UInt8]) { (bytes, position) = (lines + bytes[position...], 0) }

    mutating func append(_ lines: [UInt8]) { bytes += lines }

    /// Drops the unwritten lines.
    /// - Returns: Their number.
    mutating func dropRest() -> Int {
        defer { self = AuditLineBuffer() }
        return bytes[position...].count { $0 == UInt8(ascii: "\n") }
    }
}
