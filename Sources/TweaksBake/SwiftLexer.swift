// Splits Swift source into tokens, as far as finding calls and reading literals needs it.

import Tweaks

/// A token of Swift source.
struct SwiftToken {
    enum Kind: Equatable {
        case identifier, number, symbol
        case string(SwiftStringShape)
        /// `#if`, `#elseif`, `#else`, `#endif`.
        case directive
        /// A regular expression, or a text without its end: nothing that a value can be read from.
        case opaque
    }

    let kind: Kind
    /// Its bytes.
    let range: Range<Int>
    /// The line that it begins in, from 1.
    let line: Int
    /// Whether it is the first one in its line.
    let beginsLine: Bool
    /// Whether a comment stands before it.
    let followsComment: Bool
}

/// The delimiters of a string literal.
package struct SwiftStringShape: Equatable {
    /// The number of `#` before it.
    let hashes: Int
    let isMultiline: Bool
    /// Whether it has `\(…)` in it, so that it is no literal value.
    var isInterpolated = false

    package init(hashes: Int, isMultiline: Bool) {
        self.hashes = hashes
        self.isMultiline = isMultiline
    }
}

/// Tokens that belong together: those of a file, or of the code in one interpolation.
struct SwiftTokens {
    fileprivate(set) var tokens: [SwiftToken] = []
    /// For each `(`, `[` and `{`, the position of the token that closes it; -1 where it has none.
    private(set) var closings: [Int] = []

    /// Pairs the brackets. A bracket that another one interrupts stays without a partner.
    fileprivate mutating func pair(_ bytes: [UInt8]) {
        closings = Array(repeating: -1, count: tokens.count)
        var open: [(position: Int, closer: UInt8)] = []
        // How many of them wait for each closer: a search that cannot succeed would look at all of them each time.
        var waiting: [UInt8: Int] = [:]
        func push(_ position: Int, _ closer: UInt8) {
            open.append((position, closer))
            waiting[closer, default: 0] += 1
        }
        for (position, token) in tokens.enumerated() where token.kind == .symbol && token.range.count == 1 {
            switch bytes[token.range.lowerBound] {
            case UInt8(ascii: "("): push(position, UInt8(ascii: ")"))
            case UInt8(ascii: "["): push(position, UInt8(ascii: "]"))
            case UInt8(ascii: "{"): push(position, UInt8(ascii: "}"))
            case let byte where [UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}")].contains(byte):
                guard waiting[byte, default: 0] > 0 else { continue }
                while let last = open.popLast() {
                    waiting[last.closer, default: 0] -= 1
                    guard last.closer == byte else { continue }
                    closings[last.position] = position
                    break
                }
            default: break
            }
        }
    }
}

/// Reads a file once, from its beginning to its end. It accepts any bytes: what it does not understand becomes a token
/// that nothing matches.
struct SwiftLexer {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var beginsLine = true
    private var followsComment = false
    /// Interpolations within interpolations.
    private var depth = 0
    private static let maxDepth = 32
    /// Where the last search for the end of a `/…/` stopped without success. One from a later `/` up to there fails as
    /// well, because that `/` was escaped.
    private var failedSearch = 0
    /// The same for `#/…/#`, and how many `#` it wanted: that `/` was escaped, or had too few of them after it.
    private var failedRawSearch = (end: 0, hashes: 0)
    /// More than a person writes; each number of `#` may cost a search of its own.
    private static let maxHashes = 32
    /// The groups of tokens: first the file's own, then those of interpolations.
    private var groups: [SwiftTokens] = []

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The groups of tokens of a file; the first one is the file's own.
    static func groups(of bytes: [UInt8]) -> [SwiftTokens] {
        var lexer = SwiftLexer(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { lexer.position = 3 }
        if lexer.follows("#!") { lexer.skipLine() }
        var file = SwiftTokens()
        while lexer.skipBlanks() { lexer.readToken(&file) }
        file.pair(bytes)
        return [file] + lexer.groups
    }

    // MARK: Bytes

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func follows(_ text: StaticString, at offset: Int = 0) -> Bool {
        let start = position + offset
        guard start >= 0, bytes.count - start >= text.utf8CodeUnitCount else { return false }
        return UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            .elementsEqual(bytes[start..<start + text.utf8CodeUnitCount])
    }

    private mutating func advance() {
        if bytes[position] == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    private mutating func skipLine() {
        while let byte, !byte.isLineEnd { advance() }
    }

    private func count(of symbol: UInt8, from start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end] == symbol { end += 1 }
        return end - start
    }

    // MARK: Between tokens

    /// Skips blanks and comments; false at the end.
    private mutating func skipBlanks() -> Bool {
        while let byte {
            if byte.isLineEnd {
                beginsLine = true
                advance()
            } else if byte <= UInt8(ascii: " ") {
                advance()
            } else if follows("//") {
                followsComment = true
                skipLine()
            } else if follows("/*") {
                followsComment = true
                skipComment()
            } else {
                return true
            }
        }
        return false
    }

    /// Skips a comment with the comments in it.
    private mutating func skipComment() {
        var open = 0
        repeat {
            let isOpening = follows("/*")
            if isOpening || follows("*/") {
                open += isOpening ? 1 : -1
                position += 2
            } else {
                advance()
            }
        } while open > 0 && position < bytes.count
    }

    // MARK: Tokens

    private mutating func readToken(_ group: inout SwiftTokens) {
        let start = position
        let line = line
        let kind = readKind(after: group.tokens.last)
        group.tokens.append(
            SwiftToken(
                kind: kind, range: start..<position, line: line, beginsLine: beginsLine,
                followsComment: followsComment))
        beginsLine = false
        followsComment = false
    }

    /// Reads the next token, at least one byte of it.
    private mutating func readKind(after last: SwiftToken?) -> SwiftToken.Kind {
        let first = bytes[position]
        if first.isIdentifierHead { return readIdentifier() }
        if first.isASCIIDigit { return readNumber() }
        switch first {
        case UInt8(ascii: "\""): return readString(hashes: 0)
        case UInt8(ascii: "#"): return readHash()
        case UInt8(ascii: "`"):
            guard let end = bytes[(position + 1)...].firstIndex(where: { $0 == first || $0.isLineEnd }),
                bytes[end] == first
            else { break }
            position = end + 1
            return .identifier
        case UInt8(ascii: "/") where mayBeginExpression(last):
            if skipRegex(hashes: 0) { return .opaque }
        case UInt8(ascii: "."):
            position += count(of: first, from: position)
            return .symbol
        default: break
        }
        advance()
        return .symbol
    }

    private mutating func readIdentifier() -> SwiftToken.Kind {
        while let byte, byte.isIdentifierHead || byte.isASCIIDigit { position += 1 }
        return .identifier
    }

    /// A number with its exponent; a point belongs to it if a digit follows.
    private mutating func readNumber() -> SwiftToken.Kind {
        let isHexadecimal = follows("0x")
        while let byte {
            let last = bytes[position - (position > 0 ? 1 : 0)] | 0x20
            let isExponent = last == (isHexadecimal ? UInt8(ascii: "p") : UInt8(ascii: "e"))
            let isSign = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            let next = position + 1 < bytes.count ? bytes[position + 1] : 0
            guard
                byte.isASCIIDigit || byte.isIdentifierHead
                    || byte == UInt8(ascii: ".") && next.isASCIIDigit
                    || isSign && isExponent && next.isASCIIDigit
            else { break }
            position += 1
        }
        return .number
    }

    /// `#if` and its like, a raw string, a regular expression, or a macro.
    private mutating func readHash() -> SwiftToken.Kind {
        let hashes = count(of: UInt8(ascii: "#"), from: position)
        let next = position + hashes < bytes.count ? bytes[position + hashes] : 0
        if next == UInt8(ascii: "\"") {
            position += hashes
            return readString(hashes: hashes)
        }
        if next == UInt8(ascii: "/") {
            position += hashes
            if skipRegex(hashes: hashes) { return .opaque }
            return .symbol
        }
        let start = position
        position += hashes
        _ = readIdentifier()
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        return ["#if", "#elseif", "#else", "#endif"].contains(word) ? .directive : .symbol
    }

    // MARK: Strings

    /// A string from its first quote on.
    private mutating func readString(hashes: Int) -> SwiftToken.Kind {
        let isMultiline = follows("\"\"\"") && !(hashes > 0 && endsInLine(hashes, from: position + 1))
        var shape = SwiftStringShape(hashes: hashes, isMultiline: isMultiline)
        let quotes = isMultiline ? 3 : 1
        position += quotes
        while let byte {
            switch byte {
            case UInt8(ascii: "\"") where endsString(quotes: quotes, hashes: hashes):
                position += quotes + hashes
                return .string(shape)
            case UInt8(ascii: "\\") where count(of: UInt8(ascii: "#"), from: position + 1) >= hashes:
                position += 1 + hashes
                if self.byte == UInt8(ascii: "(") {
                    shape.isInterpolated = true
                    guard skipInterpolation() else { return .opaque }
                } else if position < bytes.count {
                    advance()
                }
            case _ where byte.isLineEnd && !isMultiline: return .opaque
            default: advance()
            }
        }
        return .opaque
    }

    /// Whether these quotes and the `#` after them end a string.
    private func endsString(quotes: Int, hashes: Int) -> Bool {
        (quotes == 1 || follows("\"\"\"")) && count(of: UInt8(ascii: "#"), from: position + quotes) >= hashes
    }

    /// Whether a raw string of one line ends in this line: `#"""#` is one of a quote.
    private func endsInLine(_ hashes: Int, from start: Int) -> Bool {
        var end = start
        while end < bytes.count, !bytes[end].isLineEnd {
            if bytes[end] == UInt8(ascii: "\""), count(of: UInt8(ascii: "#"), from: end + 1) >= hashes { return true }
            end += 1
        }
        return false
    }

    /// Reads the code in `\(…)` as a group of its own.
    private mutating func skipInterpolation() -> Bool {
        if depth == Self.maxDepth { return false }
        depth += 1
        let stringBeginsLine = beginsLine
        let stringFollowsComment = followsComment
        defer {
            depth -= 1
            beginsLine = stringBeginsLine
            followsComment = stringFollowsComment
        }
        var group = SwiftTokens()
        var open = 0
        repeat {
            guard skipBlanks() else { return false }
            if byte == UInt8(ascii: "(") { open += 1 }
            if byte == UInt8(ascii: ")") { open -= 1 }
            readToken(&group)
        } while open > 0
        group.pair(bytes)
        groups.append(group)
        return true
    }

    // MARK: Regular expressions

    /// Whether an expression, and no operator, may stand after a token.
    private func mayBeginExpression(_ last: SwiftToken?) -> Bool {
        guard let last else { return true }
        switch last.kind {
        case .number, .string, .opaque: return false
        case .directive: return true
        case .identifier:
            let word = String(decoding: bytes[last.range], as: UTF8.self)
            return ["return", "in", "case", "where", "if", "guard", "while", "try", "await", "else"].contains(word)
        case .symbol:
            let symbol = bytes[last.range.upperBound - 1]
            return ![UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "!"), UInt8(ascii: "?")]
                .contains(symbol)
        }
    }

    /// Skips `/…/` in a line, or `#/…/#`, which may have several. False, and nothing is skipped, if it is none.
    private mutating func skipRegex(hashes: Int) -> Bool {
        var end = position + 1
        let next = end < bytes.count ? bytes[end] : UInt8(ascii: " ")
        let isMultiline = hashes > 0 && next.isLineEnd
        if hashes == 0, next <= UInt8(ascii: " ") || next == UInt8(ascii: "/") { return false }
        if hashes > Self.maxHashes || hasFailed(hashes, isMultiline) { return false }
        while end < bytes.count, isMultiline || !bytes[end].isLineEnd {
            if bytes[end] == UInt8(ascii: "\\") {
                end += 2
                continue
            }
            if bytes[end] == UInt8(ascii: "/"), count(of: UInt8(ascii: "#"), from: end + 1) >= hashes {
                let limit = end + 1 + hashes
                while position < limit { advance() }
                return true
            }
            end += 1
        }
        if hashes == 0 { failedSearch = end } else { failedRawSearch = (end, hashes) }
        return false
    }

    /// Whether an earlier search has shown that one from here fails.
    private func hasFailed(_ hashes: Int, _ isMultiline: Bool) -> Bool {
        if hashes == 0 { return position < failedSearch }
        let failed = failedRawSearch
        return position < failed.end && hashes >= failed.hashes && (!isMultiline || failed.end >= bytes.count)
    }
}

extension UInt8 {
    var isLineEnd: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
    var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    /// A letter, `_`, `$`, or a part of a character outside of ASCII.
    var isIdentifierHead: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) && self >= UInt8(ascii: "A")
            || self == UInt8(ascii: "_") || self == UInt8(ascii: "$") || self >= 0x80
    }
}
