// Ranks tweaks by how well they fit the words of a search.

import Tweaks

/// The words of a search, folded, and how they are ranked: by `find`, by the page, and by the editor.
///
/// A word is ranked by how it is found, best first: exact name, prefix of a part, word start, substring, letters in
/// order; and by where: name, collection, category, then help, unit and choices. The ranks of all words are added.
package struct FindQuery {
    /// The best tweaks, as positions in the list, and how many fit altogether.
    package struct Result: Sendable {
        package fileprivate(set) var best: [Int] = []
        package fileprivate(set) var count = 0
    }

    private enum Rank {
        static let exactName = 0
        /// These three count on: in the name, in the collection, in the category.
        static let partPrefix = 1
        static let wordStart = 4
        static let substring = 8
        /// Help, unit and choices come behind the path.
        static let detailsWordStart = 7
        static let detailsSubstring = 11
        static let letters = 12
    }

    private let words: [(bytes: [UInt8], mask: UInt64)]

    package init(_ words: [String]) {
        self.words = words.map { FoldedText.bytes($0) }.filter { !$0.isEmpty }.map { ($0, FoldedText.mask($0)) }
    }

    /// Whether there is nothing to look for.
    package var isEmpty: Bool { words.isEmpty }

    /// Looks through all tweaks, for the best `limit`; equals stay in the order of the list.
    /// - Parameter path: The path of a tweak, as it is written.
    package func run(_ index: FindIndex, limit: Int = .max, path original: (Int) -> String) -> Result {
        var result = Result()
        // No more than `limit` of a rank are ever shown, so nothing has to be sorted.
        var byRank: [[Int]] = Array(repeating: [], count: words.count * Rank.letters + 1)
        index.bytes.withUnsafeBufferPointer { bytes in
            let details = detailRanks(index, bytes)
            for (position, entry) in index.entries.enumerated() {
                let start = Int(entry.path)
                let path = UnsafeBufferPointer(rebasing: bytes[start..<start + Int(entry.pathCount)])
                guard let rank = rank(entry, path, details, original: { original(position) }) else { continue }
                result.count += 1
                if byRank[rank].count < limit { byRank[rank].append(position) }
            }
        }
        result.best = Array(byRank.joined().prefix(limit))
        return result
    }

    /// For each word and each text of details, the rank; nil where it is not in it. Texts are few, tweaks many.
    private func detailRanks(_ index: FindIndex, _ bytes: UnsafeBufferPointer<UInt8>) -> [[Int?]] {
        words.map { word in
            index.details.map { details in
                if word.mask & ~details.mask != 0 { return nil }
                let text = UnsafeBufferPointer(rebasing: bytes[details.range])
                var rank: Int?
                Self.forEachPosition(of: word.bytes, in: text) { position in
                    let begins = position == 0 || FoldedText.isWordStart(text[position - 1], text[position])
                    rank = begins ? Rank.detailsWordStart : rank ?? Rank.detailsSubstring
                    return !begins
                }
                return rank
            }
        }
    }

    /// The sum over all words; nil when one is nowhere.
    private func rank(
        _ entry: FindIndex.Entry, _ path: UnsafeBufferPointer<UInt8>, _ details: [[Int?]],
        original: () -> String
    ) -> Int? {
        var total = 0
        for (position, word) in words.enumerated() {
            var best: Int?
            if word.mask & ~entry.mask == 0 { best = rank(word.bytes, entry, path, original) }
            let detail = entry.details < 0 ? nil : details[position][Int(entry.details)]
            guard let rank = Self.least(best, detail) else { return nil }
            total += rank
        }
        return total
    }

    private static func least(_ left: Int?, _ right: Int?) -> Int? {
        guard let left else { return right }
        return min(left, right ?? left)
    }

    /// How a word is found in a path.
    private func rank(
        _ word: [UInt8], _ entry: FindIndex.Entry, _ path: UnsafeBufferPointer<UInt8>, _ original: () -> String
    ) -> Int? {
        let (collectionAt, nameAt) = (Int(entry.collectionAt), Int(entry.nameAt))
        var best: Int?
        Self.forEachPosition(of: word, in: path) { position in
            if position == nameAt, position + word.count == path.count {
                best = Rank.exactName
                return false
            }
            let part = position >= nameAt ? 0 : position >= collectionAt ? 1 : 2
            let isPrefix = position == nameAt || position == collectionAt || position == 0
            let base =
                isPrefix
                ? Rank.partPrefix
                : Self.isWordStart(position, path, entry, original) ? Rank.wordStart : Rank.substring
            best = Self.least(best, base + part)
            return true
        }
        return best ?? (Self.holdsInOrder(word, path) ? Rank.letters : nil)
    }

    private static func isWordStart(
        _ position: Int, _ path: UnsafeBufferPointer<UInt8>, _ entry: FindIndex.Entry, _ original: () -> String
    ) -> Bool {
        if FoldedText.isWordStart(path[position - 1], path[position]) { return true }
        // Where `fontSize` has its second word is seen in the path as it was written.
        if !entry.hasHiddenWords { return false }
        return original().withBytes { FoldedText.isWordStart($0[position - 1], $0[position]) }
    }

    // MARK: Searching bytes

    /// Calls back with each place of a word in a text, until that says false.
    private static func forEachPosition(
        of word: [UInt8], in text: UnsafeBufferPointer<UInt8>, _ body: (Int) -> Bool
    ) {
        guard text.count >= word.count else { return }
        word.withUnsafeBufferPointer { word in
            let first = word[0]
            for position in 0...(text.count - word.count) where text[position] == first {
                var length = 1
                while length < word.count, text[position + length] == word[length] { length += 1 }
                if length == word.count, !body(position) { return }
            }
        }
    }

    /// Whether the letters of a word occur in this order, with others in between.
    private static func holdsInOrder(_ word: [UInt8], _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var next = 0
        for byte in text where byte == word[next] {
            next += 1
            if next == word.count { return true }
        }
        return false
    }
}
