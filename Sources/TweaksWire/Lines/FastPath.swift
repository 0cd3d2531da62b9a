// Recognizes the two most frequent requests, get and set, without allocating strings.

import Tweaks

/// A line that is `get PATH`, `set PATH VALUE` or `PATH = VALUE` in unquoted words. It is only an optimization: a test
/// checks that the full parser returns the same request.
package enum FastPath: Equatable, Sendable {
    case get(path: Range<Int>)
    case set(path: Range<Int>, value: Range<Int>)

    /// Nil for all other lines: quotes, comments, other words, other numbers of words.
    package init?(_ line: UnsafeBufferPointer<UInt8>) {
        var position = 0
        guard let first = Self.word(line, &position), let second = Self.word(line, &position) else { return nil }
        // A list may continue after a blank.
        let bracket = UInt8(ascii: "[")
        if line[first.lowerBound] == bracket || line[second.lowerBound] == bracket { return nil }
        let third = Self.word(line, &position)
        if position < line.count { return nil }
        if let third {
            if Self.matches(line, third, "toggle") { return nil }
            if Self.matches(line, first, "set") {
                self = .set(path: second, value: third)
            } else if Self.matches(line, second, "="), line[first].contains(UInt8(ascii: "/")) {
                self = .set(path: first, value: third)
            } else {
                return nil
            }
        } else if Self.matches(line, first, "get") {
            self = .get(path: second)
        } else {
            return nil
        }
    }

    /// The request that the line means.
    package func request(in line: UnsafeBufferPointer<UInt8>) -> Request {
        let text = { String(decoding: UnsafeBufferPointer(rebasing: line[$0]), as: UTF8.self) }
        switch self {
        case .get(let path): return Request(.get, [text(path)])
        case .set(let path, let value): return Request(.set, [text(path)], change: .assign(text(value)))
        }
    }

    /// The next run of printable ASCII; nil, without moving the position, for quotes, comments and other bytes.
    private static func word(_ line: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Range<Int>? {
        var start = position
        while start < line.count, line[start] == UInt8(ascii: " ") { start += 1 }
        var end = start
        while end < line.count, isPlain(line[end]) { end += 1 }
        if end < line.count, line[end] != UInt8(ascii: " ") { return nil }
        position = end
        return start < end ? start..<end : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "'")
            && byte != UInt8(ascii: "#")
    }

    private static func matches(
        _ line: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ word: StaticString
    ) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        for offset in 0..<range.count where line[range.lowerBound + offset] != word.utf8Start[offset] { return false }
        return true
    }
}
