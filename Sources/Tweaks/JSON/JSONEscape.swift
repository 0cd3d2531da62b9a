// Reads the escapes of JSON texts, for files and for lines of the protocol.

/// One escape of a text (RFC 8259, section 7).
package enum JSONEscape {
    /// Why there is none.
    package enum Problem: String, Error {
        case isCutOff = "a text has no closing quote"
        case isUnknown = "a text holds an escape that there is not"
        case lacksDigits = "\\u needs four hexadecimal digits"
        case isHalfAPair = "a text holds half a surrogate pair"
    }

    /// Appends what an escape stands for.
    /// - Parameter position: Behind the backslash; in the end, behind the escape.
    package static func read<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, at position: inout Int, to text: inout [UInt8]
    ) throws(Problem) where Bytes.Index == Int {
        guard position < bytes.endIndex else { throw .isCutOff }
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
        default: throw .isUnknown
        }
    }

    /// Four digits; or twice four, for a scalar beyond the basic plane.
    private static func scalar<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ position: inout Int
    ) throws(Problem) -> Unicode.Scalar where Bytes.Index == Int {
        let first = try codeUnit(bytes, &position)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, bytes[position...].starts(with: "\\u".utf8) else { throw .isHalfAPair }
        position += 2
        let second = try codeUnit(bytes, &position)
        // Before any arithmetic: what a client sends must not be able to overflow.
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw .isHalfAPair }
        return scalar
    }

    private static func codeUnit<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ position: inout Int
    ) throws(Problem) -> UInt32 where Bytes.Index == Int {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.endIndex, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw .lacksDigits
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
