// Buffers audit lines until they are written to a file.

import TweaksWire

/// Unwritten lines, in order, without their line feeds and links.
struct AuditLineBuffer {
    private var lines: [[UInt8]] = []
    private var head = 0
    /// The bytes of the unwritten lines.
    private(set) var byteCount = 0

    var isEmpty: Bool { head == lines.count }
    var count: Int { lines.count - head }

    /// As many lines as fit with their links, but at least one.
    func next(upTo size: Int) -> ArraySlice<[UInt8]> {
        var (end, sum) = (head, 0)
        while end < lines.count {
            sum += lines[end].count + AuditChain.overhead + 1
            if sum > size, end > head { break }
            end += 1
        }
        return lines[head..<end]
    }

    /// The bytes of lines in a file, at most.
    static func size(of lines: ArraySlice<[UInt8]>) -> Int {
        lines.reduce(0) { $0 + $1.count + AuditChain.overhead + 1 }
    }

    mutating func removeFirst() {
        byteCount -= lines[head].count
        head += 1
        if head == lines.count { (lines, head) = ([], 0) }
    }

    /// Inserts lines before the unwritten ones.
    mutating func prepend(_ text: [UInt8]) {
        let added = Self.split(text)
        lines.replaceSubrange(..<head, with: added)
        head = 0
        byteCount += added.reduce(0) { $0 + $1.count }
    }

    /// Appends lines that end in line feeds.
    mutating func append(_ text: [UInt8]) {
        let added = Self.split(text)
        lines += added
        byteCount += added.reduce(0) { $0 + $1.count }
    }

    /// Drops the unwritten lines.
    /// - Returns: Their number.
    mutating func dropAll() -> Int {
        defer { self = AuditLineBuffer() }
        return count
    }

    private static func split(_ text: [UInt8]) -> [[UInt8]] {
        text.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }
}
