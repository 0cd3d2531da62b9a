// Folds text into the UTF-8 bytes that searches compare.

/// Folds text, so that “Größe”, “GROSSE” and “größe” are equal.
package enum FoldedText {
    /// Appends the folded text as UTF-8.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            for byte in text.utf8 { bytes.append(isUpper(byte) ? byte | 0x20 : byte) }
        } else {
            bytes.append(contentsOf: SearchText.folded(text).utf8)
        }
    }

    package static func bytes(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return bytes
    }

    static func isUpper(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        // All bytes beyond ASCII count as letters.
        byte >= 0x80 || isUpper(byte) || isLower(byte)
    }

    /// Whether a word begins between two bytes of unfolded text: `fontSize` and `HTTP2` have two words each.
    static func isWordStart(_ before: UInt8, _ byte: UInt8) -> Bool {
        if isLetter(byte) {
            return !isLetter(before) || isUpper(byte) && !isUpper(before) && before < 0x80
        }
        return isDigit(byte) && !isDigit(before)
    }

    /// A bit set of the bytes that occur; the mask of a substring is a subset of the mask of its text.
    static func mask(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 | 1 << UInt64($1 & 63) }
    }
}
