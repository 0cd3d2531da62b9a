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
            (self.path, self.parts, self.texts) = (path, parts, texts.compactMap(\.self))
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
