// Quotes text, and escapes the characters that could mislead a terminal.

/// The rules for text that is shown in terminals.
package enum Quoting {
    /// Whether text can be declared as a name, unit, choice or help line.
    package static func isSafe(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { special(in: $0, from: 0, inQuotes: false) == nil }
    }

    /// The text as a JSON string (RFC 8259, section 7), with everything unsafe as `\uXXXX`.
    package static func json(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 2)
        appendJSON(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the same; copies runs of bytes that need no escaping at once.
    package static func appendJSON(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { source in
            var start = 0
            while let special = special(in: source, from: start, inQuotes: true) {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<special.lowerBound]))
                appendEscape(source[special], to: &bytes)
                start = special.upperBound
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(_ character: Slice<UnsafeBufferPointer<UInt8>>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch character[character.startIndex] {
        case UInt8(ascii: "\""): bytes.append(UInt8(ascii: "\""))
        case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
        default:
            // Two escapes beyond the Basic Multilingual Plane.
            for (position, unit) in String(decoding: character, as: UTF8.self).utf16.enumerated() {
                let digits = String(unit, radix: 16, uppercase: true)
                let zeros = String(repeating: "0", count: 4 - digits.count)
                bytes.append(contentsOf: "\(position > 0 ? "\\" : "")u\(zeros)\(digits)".utf8)
            }
        }
    }

    /// The text with every unsafe scalar replaced by U+FFFD, for use outside quotes.
    package static func sanitized(_ text: String) -> String {
        if isSafe(text) { return text }
        var text = text
        return text.withUTF8 { source in
            var (bytes, start) = ([UInt8](), 0)
            while let special = special(in: source, from: start, inQuotes: false) {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<special.lowerBound]))
                bytes.append(contentsOf: "\u{FFFD}".utf8)
                start = special.upperBound
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start...]))
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The same for multiline text; line breaks are kept.
    package static func sanitizedLines(_ text: String) -> String {
        if isSafe(text) { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { sanitized(String($0)) }
            .joined(separator: "\n")
    }

    /// Whether a path, or the beginning of one, needs quotes: it contains a blank, a quote, `#`, `=`, `*` or `?`, or
    /// begins with `[`.
    package static func needsQuotes(_ path: String) -> Bool {
        path.utf8.first == UInt8(ascii: "[")
            || path.utf8.contains { byte in
                switch byte {
                case UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "#"), UInt8(ascii: "="),
                    UInt8(ascii: "*"), UInt8(ascii: "?"):
                    true
                default: false
                }
            }
    }

    /// Whether a choice's name needs no quotes: `A–Z a–z 0–9 _ . -` only.
    package static func isBareWord(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Received text, shortened and sanitized to be quoted in an error.
    package static func excerpt(_ text: String) -> String {
        // The text may be long: only the part that is shown is scanned.
        let isLong = text.index(text.startIndex, offsetBy: 61, limitedBy: text.endIndex) != nil
        let short = isLong ? text.prefix(57) + "…" : text[...]
        return "“" + sanitized(String(short)) + "”"
    }
}
