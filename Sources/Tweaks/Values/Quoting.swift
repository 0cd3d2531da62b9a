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
        bytes.append(UInt8(ascii: "\""))
        append(text, inQuotes: true, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    private static func append(_ text: String, inQuotes: Bool, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { source in
            var start = 0
            while let special = special(in: source, from: start, inQuotes: inQuotes) {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<special.lowerBound]))
                if inQuotes { appendEscape(source[special], to: &bytes) } else { bytes.append("\u{FFFD}") }
                start = special.upperBound
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start...]))
        }
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
        var bytes: [UInt8] = []
        append(text, inQuotes: false, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
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

extension Quoting {
    /// The range of the next character that is unsafe, or in quotes a quote or backslash; nil if there is none.
    static func special(
        in bytes: UnsafeBufferPointer<UInt8>, from start: Int, inQuotes: Bool
    ) -> Range<Int>? {
        var position = start
        while position < bytes.count {
            if position + 8 <= bytes.count, isPlain(bytes, position) {
                position += 8
                continue
            }
            let length = specialLength(bytes, position, inQuotes: inQuotes)
            if length > 0 { return position..<position + length }
            position += 1
        }
        return nil
    }

    /// The length in bytes of the character that begins here, if it is unsafe or a quote or backslash; else 0.
    ///
    /// The few first bytes of unsafe scalars are checked first: most text beyond ASCII has others.
    private static func specialLength(
        _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int, inQuotes: Bool
    ) -> Int {
        switch bytes[position] {
        case 0..<0x20, 0x7F: return 1
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return inQuotes ? 1 : 0
        case 0xC2, 0xCD, 0xD8, 0xE1...0xE3, 0xEF, 0xF0, 0xF3:
            guard let scalar = scalar(bytes, at: position), isUnsafe(scalar) else { return 0 }
            let length = UTF8.width(scalar)
            return isNeeded(scalar, in: bytes, at: position, length: length) ? 0 : length
        default: return 0
        }
    }

    /// Whether eight bytes are ASCII without controls, quotes and backslashes.
    private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        let word = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: position, as: UInt64.self)
        let (ones, highs) = (UInt64(0x0101_0101_0101_0101), UInt64(0x8080_8080_8080_8080))
        // Each term sets the high bit of the bytes that it finds.
        let isZero = { (word: UInt64) in (word &- ones) & ~word }
        let special =
            (word &- ones &* 0x20) & ~word | isZero(word ^ ones &* 0x22) | isZero(word ^ ones &* 0x5C)
            | isZero(word ^ ones &* 0x7F) | word
        return special & highs == 0
    }
}
