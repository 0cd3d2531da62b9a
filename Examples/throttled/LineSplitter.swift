// Splits a byte stream into lines, independent of packet boundaries.

/// Buffers received bytes and returns them line by line.
///
/// It holds at most one line of the allowed length and the bytes of the last `append`.
struct LineSplitter {
    /// A valid line, or the reason why it is invalid.
    enum Line: Equatable {
        case text(String)
        case tooLong(limit: Int)
        case invalidUTF8
        /// The input ended before the line did.
        case unterminated
    }

    private var bytes: [UInt8] = []
    /// The start of the next line, and the position up to which it has no end.
    private var (start, searched) = (0, 0)
    /// Whether the line is too long, and the rest of it is discarded.
    private var isDiscarding = false
    private(set) var hasEnded = false

    /// Whether the input ended and all lines were returned.
    var isExhausted: Bool { hasEnded && start == bytes.count && !isDiscarding }

    /// Appends received bytes.
    mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    /// Marks the end of the input.
    mutating func end() { hasEnded = true }

    /// The next line, without its LF or CR LF; nil when more bytes are needed.
    mutating func next(limit: Int) -> Line? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            compact(limit)
            return isExhausted || !hasEnded ? nil : lastLine(limit)
        }
        var line = bytes[start..<end]
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        defer { (start, searched, isDiscarding) = (end + 1, end + 1, false) }
        if isDiscarding || line.count > limit { return .tooLong(limit: limit) }
        return String(validating: line, as: UTF8.self).map(Line.text) ?? .invalidUTF8
    }

    /// Keeps the bytes of the unfinished line, or discards them when it is too long.
    private mutating func compact(_ limit: Int) {
        bytes.removeFirst(start)
        // One more than the limit, since the last byte may be the CR of a line end.
        if isDiscarding || bytes.count > limit + 1 { (bytes, isDiscarding) = ([], true) }
        (start, searched) = (0, bytes.count)
    }

    private mutating func lastLine(_ limit: Int) -> Line {
        defer { (bytes, start, searched, isDiscarding) = ([], 0, 0, false) }
        return isDiscarding ? .tooLong(limit: limit) : .unterminated
    }
}
