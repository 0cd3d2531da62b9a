// Reduces a name to what it looks like: two names with the same skeleton are hard to tell apart on a screen.

extension String {
    /// The text with letters that look like Latin ones replaced by these, and without what does not show.
    ///
    /// Made in the manner of Unicode Technical Standard #39, section 4, with the part of its table (confusables.txt,
    /// version 16) that matters in names: Cyrillic and Greek letters, full-width forms, spaces and dashes. Equal skeletons
    /// are compared as Swift compares text, by canonical equivalence.
    var skeleton: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
            scalars.append(scalar.lookAlike)
        }
        return String(scalars)
    }

    /// The first scalar that does not show where it stands; nil when all of the text can be seen.
    ///
    /// Joiners and selectors are taken where scripts and emoji need them: behind a letter that is not ASCII, or an emoji.
    var invisibleScalar: Unicode.Scalar? {
        if utf8.allSatisfy({ $0 < 0x80 }) { return nil }
        var carrier: Unicode.Scalar?
        for scalar in unicodeScalars {
            if !scalar.properties.isDefaultIgnorableCodePoint {
                carrier = scalar
            } else if !scalar.mayFollow(carrier) {
                return scalar
            }
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// `U+200B`
    var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    fileprivate func mayFollow(_ carrier: Unicode.Scalar?) -> Bool {
        guard let carrier else { return false }
        return switch value {
        case 0x200C, 0x200D: !carrier.isASCII
        case 0xFE00...0xFE0F, 0xE0020...0xE007F: carrier.properties.isEmoji || !carrier.isASCII
        default: false
        }
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
