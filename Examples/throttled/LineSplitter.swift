// Bytes become lines, however they were cut on their way.

/// Collects what a client sends, and hands it out line by line.
///
/// It holds at most one line of the length allowed and what was appended last.
struct LineSplitter {
    /// What a line turned out to be.
    enum Line: Equatable {
        case text(String)
        case tooLong(limit: Int)
        /// Not UTF-8.
        case garbled
        /// The input ended within it.
        case unfinished
    }

    private var bytes: [UInt8] = []
    /// Where the next line begins, and how far there is no end of it.
    private var (start, searched) = (0, 0)
    /// Whether the line was too long already, and the rest of it is thrown away as it comes.
    private var isSkipping = false
    private(set) var hasEnded = false

    /// Whether the input ended and all of it was handed out.
    var isExhausted: Bool { hasEnded && start == bytes.count && !isSkipping }

    /// Takes bytes as they come.
    mutating func append(_ more: ArraySlice<UInt8>) { bytes += more }

    /// Says that no more bytes will come.
    mutating func end() { hasEnded = true }

    /// The next line, without its LF or CR LF; nil when more bytes have to come first.
    mutating func next(limit: Int) -> Line? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            wait(limit)
            return isExhausted || !hasEnded ? nil : lastLine(limit)
        }
        var line = bytes[start..<end]
        if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
        defer { (start, searched, isSkipping) = (end + 1, end + 1, false) }
        if isSkipping || line.count > limit { return .tooLong(limit: limit) }
        return String(validating: line, as: UTF8.self).map(Line.text) ?? .garbled
    }

    /// Keeps what there is of a line, or no more than that it was too long.
    private mutating func wait(_ limit: Int) {
        bytes.removeFirst(start)
        // One more than the limit, since the last byte may be the CR of a line end.
        if isSkipping || bytes.count > limit + 1 { (bytes, isSkipping) = ([], true) }
        (start, searched) = (0, bytes.count)
    }

    private mutating func lastLine(_ limit: Int) -> Line {
        defer { (bytes, start, searched, isSkipping) = ([], 0, 0, false) }
        return isSkipping ? .tooLong(limit: limit) : .unfinished
    }
}
