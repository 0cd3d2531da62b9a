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
    /// Matches the same scalars as ``isUnsafe(_:)``: those beyond ASCII have two bytes that begin with C2 or D8, or
    /// three that begin with E2.
    private static func specialLength(
        _ bytes: UnsafeBufferPointer<UInt8>, _ position: Int, inQuotes: Bool
    ) -> Int {
        let next = { (offset: Int) in position + offset < bytes.count ? bytes[position + offset] : 0 }
        switch bytes[position] {
        case 0..<0x20, 0x7F: return 1
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return inQuotes ? 1 : 0
        case 0xC2: return (0x80...0x9F).contains(next(1)) ? 2 : 0
        case 0xD8: return next(1) == 0x9C ? 2 : 0
        case 0xE2:
            switch (next(1), next(2)) {
            case (0x80, 0x8E...0x8F), (0x80, 0xA8...0xAE), (0x81, 0xA6...0xA9): return 3
            default: return 0
            }
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
