// Holds the text of tweaks, folded once, for searches of any number of words.

import Tweaks

/// The folded text of a list of tweaks, as positions in that list.
///
/// It holds bytes alone and no tweak: one that is removed does not live on for having been searched.
package struct FindIndex: Sendable {
    /// Where the text of one tweak stands.
    struct Entry: Sendable {
        /// Which letters the path holds: most tweaks are passed over by this alone.
        let mask: UInt64
        let path: UInt32
        /// Help, unit and choices: which of `details`.
        let details: Int32
        let pathCount: UInt16
        let collectionAt: UInt16
        let nameAt: UInt16
        /// Words begin where only the path as it was written shows it: `fontSize`.
        let hasHiddenWords: Bool
    }

    /// Help, unit and choices, which many tweaks have in common: where the text stands, and its letters.
    struct Details: Sendable {
        let mask: UInt64
        let range: Range<Int>
    }

    private(set) var entries: [Entry] = []
    private(set) var details: [Details] = []
    private(set) var bytes: [UInt8] = []

    /// A tweak as it is looked for.
    package struct Subject {
        let path: String
        let parts: (category: String, collection: String, name: String)
        let texts: [String]

        /// - Parameters:
        ///   - path: The path as it is written.
        ///   - texts: Help, unit, and the names and labels of choices.
        package init(_ path: String, _ parts: (category: String, collection: String, name: String), _ texts: [String?])
        {
            (self.path, self.parts, self.texts) = (path, parts, texts.compactMap(\.self))
        }
    }

    /// Category and collection, which many tweaks in a row have in common.
    private struct Prefix {
        var (category, collection) = ("", "")
        var bytes: [UInt8] = []
        var collectionAt = 0
    }

    /// The text of so many tweaks.
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
        // Part by part, so that nothing combines with a slash.
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
        // Beyond ASCII, folding moves the letters about; there such words are not found.
        var isHidden = false
        for position in path.indices.dropFirst() {
            let (before, byte) = (path[position - 1], path[position])
            if byte >= 0x80 { return false }
            if FoldedText.isUpper(byte), FoldedText.isLower(before) || FoldedText.isDigit(before) { isHidden = true }
        }
        return isHidden && (path.first ?? 0) < 0x80
    }

    /// - Returns: Its position; -1 when there is no text.
    private mutating func appendDetails(_ texts: [String], _ known: inout [String: Int32]) -> Int32 {
        // Line by line, so that no word spans two of them.
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
