// Splits a line into tokens by blanks, quotes, lists and comments.

import Tweaks

/// A word of a line.
package struct Token: Equatable, Sendable {
    /// The text, without quotes and with escapes resolved.
    package var text: String
    /// Whether it was quoted; then it is never a keyword.
    package var isQuoted: Bool

    package init(_ text: String, isQuoted: Bool = false) {
        self.text = text
        self.isQuoted = isQuoted
    }

    /// Whether it is this keyword, unquoted.
    package func isBare(_ keyword: String) -> Bool { !isQuoted && text == keyword }
}

/// The reason why a line cannot be split.
package enum TokenizingError: Error, Equatable {
    case badLine
    case badQuoting
}

/// Splits a line into tokens.
package enum Tokenizer {
    /// The tokens of a line; none for a blank line or a comment.
    /// - Throws: `badLine` for invalid UTF-8 or a control character, `badQuoting` for quotes out of place.
    package static func tokens(_ line: UnsafeBufferPointer<UInt8>) throws(TokenizingError) -> [Token] {
        try checkBytes(line)
        var tokens: [Token] = []
        var (position, lists) = (0, ListScanner())
        while let start = skipBlanks(line, from: position) {
            let byte = line[start]
            if byte == UInt8(ascii: "#"), tokens.isEmpty || isAlone(line, start) { break }
            tokens.append(try token(line, from: start, end: &position, &lists))
        }
        return tokens
    }

    /// The tokens of an unfinished line, and its last token, which may have an open quote and is empty after a blank.
    /// Nil in a comment, and for a line that no further input makes valid.
    package static func unfinished(_ line: UnsafeBufferPointer<UInt8>) -> (before: [Token], last: Token)? {
        var tokens: [Token] = []
        var (position, lists) = (0, ListScanner())
        do throws(TokenizingError) {
            try checkBytes(line)
            while let start = skipBlanks(line, from: position) {
                // A # at the end may begin a color.
                let isComment = tokens.isEmpty || start + 1 < line.count && isAlone(line, start)
                if line[start] == UInt8(ascii: "#"), isComment { return nil }
                tokens.append(try token(line, from: start, end: &position, &lists, mayBeOpen: true))
            }
        } catch {
            return nil
        }
        // A token at the end of the line may continue.
        let last = position == line.count ? tokens.popLast() : nil
        return (tokens, last ?? Token(""))
    }

    // MARK: Bytes

    /// One pass for the common case, all ASCII; the rest is validated as a whole.
    private static func checkBytes(_ line: UnsafeBufferPointer<UInt8>) throws(TokenizingError) {
        var high: UInt8 = 0
        for byte in line {
            if LineReader.isControl(byte) { throw .badLine }
            high |= byte
        }
        if high < 0x80 { return }
        guard let text = String(validating: line, as: UTF8.self) else { throw .badLine }
        // U+0080…U+009F are control characters, too; some terminals execute them.
        if text.unicodeScalars.contains(where: { (0x80..<0xA0).contains($0.value) }) { throw .badLine }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func skipBlanks(_ line: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var position = start
        while position < line.count, isBlank(line[position]) { position += 1 }
        return position < line.count ? position : nil
    }

    /// Whether a blank or the end of the line follows the character at a position.
    private static func isAlone(_ line: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        position + 1 == line.count || isBlank(line[position + 1])
    }

    // MARK: Tokens

    private static func token(
        _ line: UnsafeBufferPointer<UInt8>, from start: Int, end: inout Int, _ lists: inout ListScanner,
        mayBeOpen: Bool = false
    ) throws(TokenizingError) -> Token {
        if line[start] == UInt8(ascii: "["), let list = lists.token(line, from: start, end: &end) { return list }
        guard line[start] == UInt8(ascii: "\"") || line[start] == UInt8(ascii: "'") else {
            return Token(try bare(line, from: start, end: &end))
        }
        return Token(try quoted(line, from: start, end: &end, mayBeOpen: mayBeOpen), isQuoted: true)
    }

    /// Finds the lists of a line. It caches the end of the next one, so that a line of brackets takes linear time.
    private struct ListScanner {
        private var nextEnd: Int?

        /// The list at `start` as one token, with its blanks and quotes; nil where the bracket begins another word.
        mutating func token(_ line: UnsafeBufferPointer<UInt8>, from start: Int, end: inout Int) -> Token? {
            if nextEnd.map({ $0 <= start }) ?? true { nextEnd = ListText.end(line, from: start) ?? .max }
            guard let listEnd = nextEnd, listEnd < .max, isAlone(line, listEnd - 1) else { return nil }
            end = listEnd
            return Token(String(decoding: UnsafeBufferPointer(rebasing: line[start..<listEnd]), as: UTF8.self))
        }
    }

    private static func bare(
        _ line: UnsafeBufferPointer<UInt8>, from start: Int, end: inout Int
    ) throws(TokenizingError) -> String {
        var position = start
        while position < line.count, !isBlank(line[position]) {
            if line[position] == UInt8(ascii: "\"") || line[position] == UInt8(ascii: "'") { throw .badQuoting }
            position += 1
        }
        end = position
        return String(decoding: UnsafeBufferPointer(rebasing: line[start..<position]), as: UTF8.self)
    }

    private static func quoted(
        _ line: UnsafeBufferPointer<UInt8>, from start: Int, end: inout Int, mayBeOpen: Bool
    ) throws(TokenizingError) -> String {
        let quote = line[start]
        var position = start + 1
        var bytes: [UInt8] = []
        while position < line.count, line[position] != quote {
            if quote == UInt8(ascii: "\""), line[position] == UInt8(ascii: "\\") {
                if mayBeOpen, position + 1 == line.count { break }
                position += 1
                do { try JSONEscape.read(line, at: &position, to: &bytes) } catch { throw .badQuoting }
            } else {
                bytes.append(line[position])
                position += 1
            }
        }
        let isClosed = position < line.count && line[position] == quote
        guard isClosed ? isAlone(line, position) : mayBeOpen else { throw .badQuoting }
        end = isClosed ? position + 1 : line.count
        return String(decoding: bytes, as: UTF8.self)
    }
}
