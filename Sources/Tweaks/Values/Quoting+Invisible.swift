// Lists the characters that are invisible or reorder text, and finds where scripts and emoji need some of them.

extension Quoting {
    /// Whether a scalar could mislead a reader, a terminal or a line parser: controls, line separators, bidirectional
    /// controls, and everything without a visible form. The one list for names, display names, replies, logs, files and
    /// terminals; the page has the same in `dom.js`.
    ///
    /// Some are visible by what they do to their neighbors: ``special(in:from:inQuotes:)`` leaves those alone.
    package static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Controls and line separators.
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        // Bidirectional controls.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        // The property Default_Ignorable_Code_Point: soft hyphen, fillers, joiners, selectors, tags.
        case 0xAD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B...0x180F, 0x200B...0x200D, 0x2060...0x2065,
            0x206A...0x206F, 0x3164, 0xFE00...0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0...0xFFF8, 0x1BCA0...0x1BCA3,
            0x1D173...0x1D17A, 0xE0000...0xE0FFF:
            true
        // Annotation marks, the empty Braille cell, the empty note head.
        case 0xFFF9...0xFFFB, 0x2800, 0x1D159: true
        default: false
        }
    }

    /// The first unsafe scalar of a text; nil if there is none.
    package static func firstUnsafe(_ text: String) -> Unicode.Scalar? {
        var text = text
        return text.withUTF8 { bytes in
            special(in: bytes, from: 0, inQuotes: false).flatMap { scalar(bytes, at: $0.lowerBound) }
        }
    }

    /// Whether an unsafe scalar has a visible effect where it is: a joiner between letters of scripts that need it or in
    /// an emoji, a selector of a form of the character before it, the tags of a flag.
    static func isNeeded(
        _ scalar: Unicode.Scalar, in bytes: UnsafeBufferPointer<UInt8>, at position: Int, length: Int
    ) -> Bool {
        let before = Self.scalar(bytes, before: position)
        let after = Self.scalar(bytes, at: position + length)
        switch scalar.value {
        case 0x200D where isEmoji(after) && endsEmoji(bytes, before: position): return true
        case 0x200C, 0x200D: return isJoining(before) && isJoining(after)
        case 0xFE0F where after?.value == 0x20E3: return before?.properties.isEmoji == true
        case 0xFE00...0xFE0F: return isEmoji(before) || before?.properties.isIdeographic == true
        case 0xE0100...0xE01EF: return before?.properties.isIdeographic == true
        case 0x180B...0x180D, 0x180F: return before.map { (0x1820...0x18AA).contains($0.value) } ?? false
        case 0xE0020...0xE007F: return isInFlag(bytes, position)
        default: return false
        }
    }

    // MARK: Neighbors

    /// An emoji other than the digits and signs that can be one.
    private static func isEmoji(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map { !$0.isASCII && $0.properties.isEmoji } ?? false
    }

    /// Whether an emoji ends before a position, with or without a selector.
    private static func endsEmoji(_ bytes: UnsafeBufferPointer<UInt8>, before position: Int) -> Bool {
        let last = scalar(bytes, before: position)
        return isEmoji(last?.value == 0xFE0F ? scalar(bytes, before: position - 3) : last)
    }

    /// A letter or mark of the scripts from Arabic to Myanmar, of Khmer, or of Mongolian.
    private static func isJoining(_ scalar: Unicode.Scalar?) -> Bool {
        guard let scalar, !isUnsafe(scalar) else { return false }
        return switch scalar.value {
        case 0x0600...0x109F, 0x1780...0x18AF: true
        default: false
        }
    }

    /// The letters of the flags that consist of tags: England, Scotland, Wales.
    private static let flags = ["gbeng", "gbsct", "gbwls"]

    /// Whether a tag belongs to one of these flags: a black flag, five letters, and the end.
    private static func isInFlag(_ bytes: UnsafeBufferPointer<UInt8>, _ position: Int) -> Bool {
        // Every tag has four bytes, as the black flag has.
        for index in 1...6 where scalar(bytes, at: position - 4 * index)?.value == 0x1F3F4 {
            let tags = (1...6).map { scalar(bytes, at: position + 4 * ($0 - index))?.value ?? 0 }
            let letters = tags.prefix(5).compactMap { Unicode.Scalar($0 &- 0xE0000) }
            return tags[5] == 0xE007F && flags.contains(String(String.UnicodeScalarView(letters)))
        }
        return false
    }

    /// The scalar that begins at a position of valid UTF-8; nil outside the text, or where none begins.
    static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> Unicode.Scalar? {
        guard bytes.indices.contains(position) else { return nil }
        let first = bytes[position]
        if first < 0x80 { return Unicode.Scalar(first) }
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        guard first >= 0xC2, position + length <= bytes.count else { return nil }
        var value = UInt32(first & 0x7F >> UInt8(length))
        for offset in 1..<length { value = value << 6 | UInt32(bytes[position + offset] & 0x3F) }
        return Unicode.Scalar(value)
    }

    private static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, before position: Int) -> Unicode.Scalar? {
        var start = position - 1
        while start > 0, bytes[start] & 0xC0 == 0x80 { start -= 1 }
        return scalar(bytes, at: start)
    }
}
