// Ranks tweaks by how well they match the words of a search.

import Tweaks

/// The folded words of a search, with the ranking that `find`, the page and the editor share.
///
/// A word is ranked by its kind of match, best first: exact name, prefix of a part, word start, substring, letters in
/// order; then by the matching part: name, collection, category, then help, unit and choices. Ranks of words are added.
package struct FindQuery {
    /// The best matches, as positions in the list, and the number of all matches.
    package struct Result: Sendable {
        package fileprivate(set) var best: [Int] = []
        package fileprivate(set) var count = 0
    }

    private enum Rank {
        static let exactName = 0
        /// These three are for the name; add 1 for the collection, 2 for the category.
        static let partPrefix = 1
        static let wordStart = 4
        static let substring = 8
        /// Help, unit and choices rank after the path.
        static let detailsWordStart = 7
        static let detailsSubstring = 11
        static let lettersInOrder = 12
    }

    private let words: [(bytes: [UInt8], mask: UInt64)]

    package init(_ words: [String]) {
        self.words = words.map { FoldedText.bytes($0) }.filter { !$0.isEmpty }.map { ($0, FoldedText.mask($0)) }
    }

    /// Whether the search has no words.
    package var isEmpty: Bool { words.isEmpty }

    /// Returns the best `limit` matches; equal ranks stay in the order of the list.
    /// - Parameter path: Returns the path of a tweak, in its original case.
    package func run(_ index: FindIndex, limit: Int = .max, path original: (Int) -> String) -> Result {
        var result = Result()
        // Buckets by rank, each of at most `limit`, avoid sorting.
        var byRank: [[Int]] = Array(repeating: [], count: words.count * Rank.lettersInOrder + 1)
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

    /// The rank of each word in each text of details; nil without a match. Tweaks share few such texts.
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

    /// The sum of the ranks of all words; nil when a word has no match.
    private func rank(
        _ entry: FindIndex.Entry, _ path: UnsafeBufferPointer<UInt8>, _ details: [[Int?]],
        original: () -> String
    ) -> Int? {
        var total = 0
        for (position, word) in words.enumerated() {
            var best: Int?
            if word.mask & ~entry.mask == 0 { best = rank(of: word.bytes, in: path, entry, original: original) }
            let detail = entry.details < 0 ? nil : details[position][Int(entry.details)]
            guard let rank = Self.minimum(best, detail) else { return nil }
            total += rank
        }
        return total
    }

    private static func minimum(_ left: Int?, _ right: Int?) -> Int? {
        guard let left else { return right }
        return min(left, right ?? left)
    }

    /// The rank of a word in a path; nil without a match.
    private func rank(
        of word: [UInt8], in path: UnsafeBufferPointer<UInt8>, _ entry: FindIndex.Entry, original: () -> String
    ) -> Int? {
        let (collectionAt, nameAt) = (Int(entry.collectionAt), Int(entry.nameAt))
        var best: Int?
        Self.forEachPosition(of: word, in: path) { position in
            if position == nameAt, position + word.count == path.count {
                best = Rank.exactName
                return false
            }
            var rank = Rank.substring
            if position == nameAt || position == collectionAt || position == 0 {
                rank = Rank.partPrefix
            } else if Self.isWordStart(position, in: path, entry, original: original) {
                rank = Rank.wordStart
            }
            if position < nameAt { rank += 1 }
            if position < collectionAt { rank += 1 }
            best = Self.minimum(best, rank)
            return true
        }
        return best ?? (Self.containsInOrder(word, path) ? Rank.lettersInOrder : nil)
    }

    private static func isWordStart(
        _ position: Int, in path: UnsafeBufferPointer<UInt8>, _ entry: FindIndex.Entry, original: () -> String
    ) -> Bool {
        if FoldedText.isWordStart(path[position - 1], path[position]) { return true }
        // Only the original case shows the second word of `fontSize`.
        if !entry.hasHiddenWords { return false }
        return original().withBytes { FoldedText.isWordStart($0[position - 1], $0[position]) }
    }

    // MARK: Searching bytes

    /// Calls `body` with each position of a word in a text, until it returns false.
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

    /// Whether the letters of a word occur in this order, with or without others in between.
    private static func containsInOrder(_ word: [UInt8], _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var next = 0
        for byte in text where byte == word[next] {
            next += 1
            if next == word.count { return true }
        }
        return false
    }
}
