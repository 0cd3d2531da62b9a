// Decodes the escapes of JSON strings, for files and protocol lines.

/// An escape sequence of a string (RFC 8259, section 7).
package enum JSONEscape {
    /// The reason why an escape is invalid.
    package enum Problem: String, Error {
        case unterminated = "a text has no closing quote"
        case unknownEscape = "a text contains an unknown escape"
        case missingDigits = "\\u needs four hexadecimal digits"
        case unpairedSurrogate = "a text contains half a surrogate pair"
    }

    /// Appends the character of an escape.
    /// - Parameter position: On input, after the backslash; on output, after the escape.
    package static func read<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, at position: inout Int, to text: inout [UInt8]
    ) throws(Problem) where Bytes.Index == Int {
        guard position < bytes.endIndex else { throw .unterminated }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try scalar(bytes, &position))).utf8)
        default: throw .unknownEscape
        }
    }

    /// Four digits; or two escapes of four, for a scalar beyond the Basic Multilingual Plane.
    private static func scalar<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ position: inout Int
    ) throws(Problem) -> Unicode.Scalar where Bytes.Index == Int {
        let first = try codeUnit(bytes, &position)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, bytes[position...].starts(with: "\\u".utf8) else { throw .unpairedSurrogate }
        position += 2
        let second = try codeUnit(bytes, &position)
        // Checked before the arithmetic, so that no input can overflow it.
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw .unpairedSurrogate }
        return scalar
    }

    private static func codeUnit<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ position: inout Int
    ) throws(Problem) -> UInt32 where Bytes.Index == Int {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.endIndex, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw .missingDigits
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
