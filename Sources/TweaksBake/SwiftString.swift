// Reads the text of string literals, and writes texts as such literals.

import Tweaks

/// The text of a string literal in its source form.
package enum SwiftString {
    // MARK: Reading

    /// The text of bytes that are one literal; nil for others.
    package static func text(_ literal: [UInt8]) -> String? {
        let groups = SwiftLexer.groups(of: literal)
        guard groups.count == 1, groups[0].tokens.count == 1, case .string(let shape) = groups[0].tokens[0].kind else {
            return nil
        }
        return text(literal[groups[0].tokens[0].range], shape)
    }

    /// The text of a literal with its delimiters; nil if it has an interpolation, or an escape that Swift does not know.
    static func text(_ literal: ArraySlice<UInt8>, _ shape: SwiftStringShape) -> String? {
        if shape.isInterpolated { return nil }
        let margin = shape.hashes + (shape.isMultiline ? 3 : 1)
        guard literal.count >= 2 * margin else { return nil }
        let content = Array(literal.dropFirst(margin).dropLast(margin))
        guard shape.isMultiline else { return unescaped(content[...], shape) }
        guard let lines = lines(of: content) else { return nil }
        return unescaped(Array(lines.joined(separator: [UInt8(ascii: "\n")]))[...], shape)
    }

    /// The lines of a literal of several lines without their indentation, which is that of the closing quotes.
    private static func lines(of content: [UInt8]) -> [ArraySlice<UInt8>]? {
        var lines = split(content)
        guard lines.count >= 2, lines.removeFirst().allSatisfy(isBlank) else { return nil }
        let indentation = lines.removeLast()
        guard indentation.allSatisfy(isBlank) else { return nil }
        var result: [ArraySlice<UInt8>] = []
        for line in lines {
            if line.starts(with: indentation) {
                result.append(line.dropFirst(indentation.count))
            } else if line.allSatisfy(isBlank) {
                result.append([])
            } else {
                return nil
            }
        }
        return result
    }

    /// Splits at line ends of any form.
    private static func split(_ content: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        var position = 0
        while position < content.count {
            let end = position
            position += 1
            guard content[end].isLineEnd else { continue }
            let isPair = content[end] == UInt8(ascii: "\r") && content[position...].first == UInt8(ascii: "\n")
            if isPair { position += 1 }
            lines.append(content[start..<end])
            start = position
        }
        return lines + [content[start...]]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func unescaped(_ content: ArraySlice<UInt8>, _ shape: SwiftStringShape) -> String? {
        let escape = [UInt8(ascii: "\\")] + Array(repeating: UInt8(ascii: "#"), count: shape.hashes)
        var rest = content
        var result: [UInt8] = []
        while let byte = rest.first {
            guard byte == escape[0], rest.starts(with: escape) else {
                result.append(byte)
                rest.removeFirst()
                continue
            }
            rest = rest.dropFirst(escape.count)
            guard let text = escaped(&rest, shape) else { return nil }
            result += text.utf8
        }
        return String(validating: result, as: UTF8.self)
    }

    /// The text of an escape, from the character after the backslash on.
    private static func escaped(_ rest: inout ArraySlice<UInt8>, _ shape: SwiftStringShape) -> String? {
        switch rest.popFirst() {
        case UInt8(ascii: "0"): return "\0"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "'"): return "'"
        case UInt8(ascii: "u"): return scalar(&rest)
        // In a text of several lines, a backslash at the end of a line continues it.
        case UInt8(ascii: "\n") where shape.isMultiline: return ""
        case let byte? where isBlank(byte) && shape.isMultiline:
            rest = rest.drop(while: isBlank)
            return rest.popFirst() == UInt8(ascii: "\n") ? "" : nil
        default: return nil
        }
    }

    /// The character of `\u{…}`.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.popFirst() == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")) else { return nil }
        let digits = rest[..<end]
        rest = rest[(end + 1)...]
        guard (1...8).contains(digits.count), digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
            let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        return Unicode.Scalar(code).map { String($0) }
    }

    // MARK: Writing

    /// A text as a literal of a shape, as far as the shape can hold it.
    /// - Parameters:
    ///   - indentation: That of the closing quotes of several lines.
    ///   - lineEnd: That of the file.
    package static func literal(
        _ text: String, like shape: SwiftStringShape, indentation: [UInt8], lineEnd: String
    ) -> String {
        let isPlainText = isVisible(text)
        if shape.isMultiline, isPlainText, shape.hashes == 0 {
            let margin = String(decoding: indentation, as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                line.isEmpty ? "" : margin + escaped(line, escapesQuotes: false)
            }
            return (["\"\"\""] + lines + [margin + "\"\"\""]).joined(separator: lineEnd)
        }
        let isOneLine = isPlainText && !text.utf8.contains { $0 < 0x20 }
        guard shape.hashes > 0, !shape.isMultiline, isOneLine else { return quoted(text) }
        return raw(text, hashes: shape.hashes)
    }

    /// A text in plain quotes, on one line.
    static func quoted(_ text: String) -> String { "\"\(escaped(text, escapesQuotes: true))\"" }

    /// A text in raw quotes with as many `#` as it takes.
    private static func raw(_ text: String, hashes: Int) -> String {
        var count = hashes
        let bytes = Array(text.utf8)
        for position in bytes.indices where [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(bytes[position]) {
            let following = bytes[(position + 1)...].prefix { $0 == UInt8(ascii: "#") }.count
            count = max(count, following + 1)
        }
        // `#"""` may begin a text of several lines.
        if text.hasPrefix("\"\"") { return quoted(text) }
        let delimiter = String(repeating: "#", count: count)
        return "\(delimiter)\"\(text)\"\(delimiter)"
    }

    private static func escaped(_ text: some StringProtocol, escapesQuotes: Bool) -> String {
        // A joiner within an emoji or a word has a visible effect, and stays.
        let isVisible = isVisible(text)
        var result = ""
        var quotes = 0
        for scalar in text.unicodeScalars {
            quotes = scalar == "\"" ? quotes + 1 : 0
            switch scalar {
            case "\\": result += "\\\\"
            // Three in a row would end a text of several lines.
            case "\"" where escapesQuotes || quotes == 3:
                result += "\\\""
                quotes = 0
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where !isVisible && Quoting.isUnsafe(scalar):
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether a text has no invisible characters besides line ends and tabs.
    private static func isVisible(_ text: some StringProtocol) -> Bool {
        Quoting.isSafe(String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\n" && $0 != "\t" })))
    }
}
