// Indexes the folded text of tweaks for searches.

import Tweaks

/// The folded text of a list of tweaks; results are positions in that list.
///
/// It holds bytes and no references to tweaks, so it does not keep a removed tweak alive.
package struct FindIndex: Sendable {
    /// The offsets of one tweak's text in `bytes`.
    struct Entry: Sendable {
        /// A bit set of the letters in the path; it alone rules out most tweaks.
        let mask: UInt64
        let path: UInt32
        /// Index into `details` (help, unit, choices); -1 for none.
        let details: Int32
        let pathCount: UInt16
        let collectionAt: UInt16
        let nameAt: UInt16
        /// Whether the path has words that only its original case shows, as in `fontSize`.
        let hasHiddenWords: Bool
    }

    /// Help, unit and choices, often shared by many tweaks: the range of the text, and its letters.
    struct Details: Sendable {
        let mask: UInt64
        let range: Range<Int>
    }

    private(set) var entries: [Entry] = []
    private(set) var details: [Details] = []
    private(set) var bytes: [UInt8] = []

    /// The searchable texts of one tweak.
    package struct Subject {
        let path: String
        let parts: (category: String, collection: String, name: String)
        let texts: [String]

        /// - Parameters:
        ///   - path: The path, in its original case.
        ///   - texts: Help, unit, and the names and labels of choices.
        package init(_ path: String, _ parts: (category: String, collection: String, name: String), _ texts: [String?])
        {
            self.path = path
            self.parts = parts
            self.texts = texts.compactMap(\.self)
        }
    }

    /// The folded category and collection, shared by consecutive tweaks.
    private struct Prefix {
        var (category, collection) = ("", "")
        var bytes: [UInt8] = []
        var collectionAt = 0
    }

    /// Indexes `subjects`; `count` reserves memory.
    package init(count: Int, _ subjects: some Sequence<Subject>) {
        entries.reserveCapacity(count)
        bytes.reserveCapacity(count * 40)
        var known: [String: Int32] = [:]
        var prefix = Prefix()
        for subject in subjects {
            Self.fold(subject, &prefix)
            append(subject, prefix, &known)
        }
    }

    private static func fold(_ subject: Subject, _ prefix: inout Prefix) {
        let (category, collection, _) = subject.parts
        if !prefix.bytes.isEmpty, prefix.collection == collection, prefix.category == category { return }
        // Folded part by part, so that no combining character joins a slash.
        prefix = Prefix(category: category, collection: collection, bytes: FoldedText.bytes(category))
        prefix.bytes.append(UInt8(ascii: "/"))
        prefix.collectionAt = prefix.bytes.count
        FoldedText.append(collection, to: &prefix.bytes)
        prefix.bytes.append(UInt8(ascii: "/"))
    }

    private mutating func append(_ subject: Subject, _ prefix: Prefix, _ known: inout [String: Int32]) {
        let start = bytes.count
        bytes += prefix.bytes
        FoldedText.append(subject.parts.name, to: &bytes)
        let count = bytes.count - start
        let mask = FoldedText.mask(bytes[start...])
        entries.append(
            Entry(
                mask: mask, path: UInt32(start), details: appendDetails(subject.texts, &known),
                pathCount: UInt16(count), collectionAt: UInt16(prefix.collectionAt),
                nameAt: UInt16(prefix.bytes.count), hasHiddenWords: subject.path.withBytes(Self.hasHiddenWords)))
    }

    private static func hasHiddenWords(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        // Folding text beyond ASCII changes byte offsets, so such words are not found there.
        var isHidden = false
        for position in path.indices.dropFirst() {
            let (before, byte) = (path[position - 1], path[position])
            if byte >= 0x80 { return false }
            if FoldedText.isUpper(byte), FoldedText.isLower(before) || FoldedText.isDigit(before) { isHidden = true }
        }
        return isHidden && (path.first ?? 0) < 0x80
    }

    /// - Returns: Its index in `details`; -1 when there is no text.
    private mutating func appendDetails(_ texts: [String], _ known: inout [String: Int32]) -> Int32 {
        // Separated by line breaks, so that no match spans two texts.
        let text = texts.joined(separator: "\n")
        if text.isEmpty { return -1 }
        if let position = known[text] { return position }
        let start = bytes.count
        FoldedText.append(text, to: &bytes)
        details.append(Details(mask: FoldedText.mask(bytes[start...]), range: start..<bytes.count))
        known[text] = Int32(details.count - 1)
        return Int32(details.count - 1)
    }
}

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

    /// Whether it is a letter or a digit.
    static func isPartOfWord(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

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
