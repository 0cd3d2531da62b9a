// How text is put between quotes, and which characters never leave unescaped.

/// The rules for text that people's terminals will show.
package enum Quoting {
    /// Whether a scalar could fool a terminal or a line-based reader: controls, line separators, bidirectional controls.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether text can be declared as a name, unit, choice or help line.
    package static func isSafe(_ text: String) -> Bool {
        !text.unicodeScalars.contains(where: isUnsafe)
    }

    /// The text as a JSON string (RFC 8259, section 7), with everything unsafe as `\uXXXX`.
    package static func json(_ text: String) -> String {
        var result = "\""
        result.reserveCapacity(text.utf8.count + 2)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isUnsafe(scalar): result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        result += "\""
        return result
    }

    // All unsafe scalars lie in the basic plane, so four digits are enough.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// The text with every unsafe scalar replaced by U+FFFD, for places without quotes.
    package static func sanitized(_ text: String) -> String {
        if isSafe(text) { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isUnsafe($0) ? "\u{FFFD}" : $0 }))
    }

    /// The same for text of several lines, which stay several.
    package static func sanitizedLines(_ text: String) -> String {
        if isSafe(text) { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { sanitized(String($0)) }
            .joined(separator: "\n")
    }

    /// Whether a path, or the beginning of one, has to stand in quotes: it holds a blank, a quote, `#`, `=`, `*` or `?`.
    package static func needsQuotes(_ path: String) -> Bool {
        path.utf8.contains { byte in
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "#"), UInt8(ascii: "="),
                UInt8(ascii: "*"), UInt8(ascii: "?"):
                true
            default: false
            }
        }
    }

    /// Whether a choice's name may stand without quotes: `A–Z a–z 0–9 _ . -` only.
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

    /// Text that somebody sent, short and harmless enough to be repeated in an error.
    package static func excerpt(_ text: String) -> String {
        let short = text.count > 60 ? text.prefix(57) + "…" : text[...]
        return "“" + sanitized(String(short)) + "”"
    }
}
