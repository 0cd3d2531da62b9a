// Holds lines of the audit on their way to a file.

/// Lines that are not written yet, in order.
struct AuditLines {
    private(set) var bytes: [UInt8] = []
    /// Up to here they are in a file.
    private var position = 0

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    var isEmpty: Bool { position == bytes.count }

    /// As many whole lines as fit, but one at least.
    func next(upTo size: Int) -> ArraySlice<UInt8> {
        let rest = bytes[position...]
        if rest.count <= size { return rest }
        let newline = UInt8(ascii: "\n")
        if let last = rest.prefix(max(0, size)).lastIndex(of: newline) { return rest[...last] }
        return rest.firstIndex(of: newline).map { rest[...$0] } ?? rest
    }

    mutating func wrote(_ count: Int) { position += count }

    /// Another file gets the line from its beginning, of which the one before has a part.
    mutating func backToLine() {
        let newline = UInt8(ascii: "\n")
        position = bytes[..<position].lastIndex(of: newline).map { $0 + 1 } ?? 0
    }

    /// Puts lines before those that are not written yet, of which none has begun.
    mutating func prepend(_ lines: [UInt8]) { (bytes, position) = (lines + bytes[position...], 0) }

    mutating func append(_ lines: [UInt8]) { bytes += lines }

    /// Lets go of what is not written.
    /// - Returns: How many lines that was.
    mutating func dropRest() -> Int {
        defer { self = AuditLines() }
        return bytes[position...].count { $0 == UInt8(ascii: "\n") }
    }
}
