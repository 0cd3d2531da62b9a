// Computes the skeleton of a name: names with equal skeletons look alike on a screen.

extension String {
    /// The text with look-alike letters replaced by Latin ones, and without invisible characters.
    ///
    /// Follows Unicode Technical Standard #39, section 4, with the part of its table (confusables.txt, version 16)
    /// that matters in names: Cyrillic and Greek letters, full-width forms, spaces and dashes. Compare skeletons as
    /// Swift strings, by canonical equivalence.
    var skeleton: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
            scalars.append(scalar.lookAlike)
        }
        return String(scalars)
    }
}

extension Unicode.Scalar {
    /// `U+200B`
    var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    fileprivate var lookAlike: Unicode.Scalar {
        if let known = Self.lookAlikes[self] { return known }
        switch value {
        case 0xFF01...0xFF5E: return Unicode.Scalar(value - 0xFF01 + 0x21) ?? self
        case 0x2010...0x2015, 0x2212, 0xFE58, 0xFE63: return "-"
        default: return properties.generalCategory == .spaceSeparator ? " " : self
        }
    }

    private static let lookAlikes: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs = [
            ("аԁеһіјӏоԛрѕԝхусѵ", "adehijloqpswxycv"), ("АВЕԌНІЈКМОРЅТХҮСԜ", "ABEGHIJKMOPSTXYCW"),
            ("αγιονρσυ", "ayiovpou"), ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
        ]
        var table: [Unicode.Scalar: Unicode.Scalar] = ["\u{2019}": "'", "\u{212A}": "K"]
        for (others, latin) in pairs {
            for (other, letter) in zip(others.unicodeScalars, latin.unicodeScalars) { table[other] = letter }
        }
        return table
    }()
}
