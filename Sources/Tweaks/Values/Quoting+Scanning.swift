// Finds the characters of UTF-8 text that need escaping, and skips plain text eight bytes at a time.

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
