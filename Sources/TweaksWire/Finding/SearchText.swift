// Folds text for searches: removes case, width and diacritics.

/// Folds text, so that “Größe”, “GROSSE” and “größe” are equal. It does not depend on the locale.
package enum SearchText {
    /// The folded text.
    package static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            for lower in scalar.properties.lowercaseMapping.unicodeScalars { append(lower, to: &result) }
        }
        return String(result)
    }

    private static func append(_ lower: Unicode.Scalar, to result: inout String.UnicodeScalarView) {
        switch lower {
        case "ß": return result.append(contentsOf: "ss".unicodeScalars)
        // Fullwidth ASCII.
        case "\u{FF01}"..."\u{FF5E}": return result.append(Unicode.Scalar(UInt8(lower.value - 0xFEE0)))
        default: break
        }
        if let letter = letters[lower] { return result.append(letter) }
        // Drops combining marks.
        if !lower.properties.isGraphemeExtend { result.append(lower) }
    }

    private static let letters: [Unicode.Scalar: Unicode.Scalar] = {
        var letters: [Unicode.Scalar: Unicode.Scalar] = [:]
        for (first, row) in rows {
            for (offset, letter) in row.unicodeScalars.enumerated() {
                letters[Unicode.Scalar(first + UInt32(offset)) ?? letter] = letter
            }
        }
        return letters
    }()

    /// Base letters of consecutive lowercase Latin, Greek and Cyrillic letters, and of halfwidth Katakana, by the first
    /// code point of each row. The standard library does not expose Unicode's canonical decomposition.
    private static let rows: [(first: UInt32, letters: String)] = [
        (0xB5, "μ"), (0xE0, "aaaaaaæceeeeiiiiðnooooo÷øuuuuyþyaaaaaaccccccccdd"), (0x113, "eeeeeeeeegggggggghh"),
        (0x129, "iiiiiii"), (0x135, "jkkĸllllll"), (0x144, "nnnnn"), (0x14D, "ooooo"), (0x155, "rrrrrsssssssstttt"),
        (0x169, "uuuuuuuuuuuwwyyyzzzzzzs"), (0x1A1, "o"), (0x1B0, "u"), (0x1CE, "aiioouuuuuuuuuuǝaaaaææ"),
        (0x1E7, "gkkooooʒʒj"), (0x1F5, "g"), (0x1F9, "naaææøøaaaaeeeeiiiioooorrrruuuusstt"), (0x21F, "h"),
        (0x227, "aeeooooooooyy"), (0x385, "¨α·"), (0x390, "ι"), (0x3AC, "αεηιυ"), (0x3C2, "σ"),
        (0x3CA, "ιυουωϗβθϒϒϒφπ"), (0x3F0, "κρ"), (0x3F5, "ε"), (0x439, "и"), (0x450, "ееђг"), (0x457, "і"),
        (0x45C, "киу"), (0x477, "ѵ"), (0x4C2, "ж"), (0x4D1, "ааа"), (0x4D7, "е"), (0x4DB, "әжжзз"), (0x4E3, "иииоо"),
        (0x4EB, "өээуууууучч"), (0x4F9, "ы"),
        (0x1E01, "abbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooo"),
        (0x1E54, "pppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyẚs"),
        (0x1EA1, "aaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy"),
        (0x1F00, "αααααααα"), (0x1F10, "εεεεεε"), (0x1F20, "ηηηηηηηη"), (0x1F30, "ιιιιιιιι"), (0x1F40, "οοοοοο"),
        (0x1F50, "υυυυυυυυ"), (0x1F60, "ωωωωωωωω"), (0x1F70, "ααεεηηιιοουυωω"), (0x1F80, "αααααααα"),
        (0x1F90, "ηηηηηηηη"), (0x1FA0, "ωωωωωωωω"), (0x1FB0, "ααααα"), (0x1FB6, "αα"), (0x1FBE, "ι"), (0x1FC2, "ηηη"),
        (0x1FC6, "ηη"), (0x1FD0, "ιιιι"), (0x1FD6, "ιι"), (0x1FE0, "υυυυρρυυ"), (0x1FF2, "ωωω"), (0x1FF6, "ωω"),
        (0xFF66, "ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"),
    ]
}
