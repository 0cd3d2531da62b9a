// Text as the search compares it: without case, width and diacritics, as the server's `find` does.

/// Folds text without Foundation, which this program does not carry with it.
enum SearchText {
    /// “Größe”, “GROSSE” and “große” are the same.
    static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { append(scalar, to: &result) }
        return String(result)
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout String.UnicodeScalarView) {
        switch scalar.value {
        case 0xDF, 0x1E9E: return result.append(contentsOf: "ss".unicodeScalars)
        // Marks that stand for themselves behind their letter.
        case 0x300...0x36F: return
        // Wide ASCII.
        case 0xFF01...0xFF5E: return append(Unicode.Scalar(UInt8(scalar.value - 0xFEE0)), to: &result)
        default: break
        }
        if let letter = letters[scalar] { return result.append(letter) }
        for lower in scalar.properties.lowercaseMapping.unicodeScalars { result.append(letters[lower] ?? lower) }
    }

    private static let letters: [Unicode.Scalar: Unicode.Scalar] = {
        var letters: [Unicode.Scalar: Unicode.Scalar] = [:]
        for (first, row) in rows {
            for (offset, letter) in row.unicodeScalars.enumerated() {
                letters[Unicode.Scalar(first + UInt32(offset)) ?? letter] = letter
            }
        }
        for (letter, base) in zip(marked.unicodeScalars, bases.unicodeScalars) { letters[letter] = base }
        return letters
    }()

    /// Consecutive letters of Latin by their first one; for each what it is without its mark.
    private static let rows: [(first: UInt32, letters: String)] = [
        (0xC0, "aaaaaaæceeeeiiiiðnooooo×øuuuuyþ"), (0xE0, "aaaaaaæceeeeiiiiðnooooo÷øuuuuyþy"),
        (0x100, "aaaaaaccccccccddđđeeeeeeeeeegggggggghhħħiiiiiiiiiıĳĳjjkkĸllllllŀŀłłnnnnnn"),
        (0x14A, "ŋŋooooooœœrrrrrrssssssssttttŧŧuuuuuuuuuuuuwwyyyzzzzzzs"), (0x218, "sstt"),
        (0x1EA0, "aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy"),
    ]
    /// Others that people write, each above its base.
    private static let marked = "µơưάέήίόύώϊϋΐΰςйёїќўѓѐѝ"
    private static let bases = "μouαεηιουωιυιυσиеікугеи"
}
