// Ranks tweaks by how well they match the words of a search.

package import Tweaks

/// The folded words of a search, with the ranking that `find`, the page and the editor share.
///
/// A word is ranked by its kind of match, best first: exact name, whole word, prefix of a part, word start, substring,
/// value, letters in order; then by the matching part: name, collection, category, then help, unit and
/// choices. Ranks of words are added.
package struct FindQuery {
    /// The best matches, as positions in the list, and the number of all matches.
    package struct Result: Sendable {
        package fileprivate(set) var best: [Int] = []
        package fileprivate(set) var count = 0
    }

    private enum Rank {
        static let exactName = 0
        /// These are for the name; add 1 for the collection, 2 for the category.
        static let wholeWord = 1
        static let partPrefix = 4
        static let wordStart = 7
        static let substring = 11
        static let typo = 16
        /// Help, unit and choices rank after the path.
        static let detailsWordStart = 10
        static let detailsSubstring = 14
        static let value = 15
        static let detailsTypo = 19
        static let lettersInOrder = 20

        /// Whether it is the rank of a word as it was typed.
        static func isLiteral(_ rank: Int) -> Bool { rank <= value }
    }

    private let words: [FindWord]

    package init(_ words: [String]) {
        self.words = words.map { FindWord(FoldedText.bytes($0)) }.filter { !$0.bytes.isEmpty }
    }

    /// Whether the search has no words.
    package var isEmpty: Bool { words.isEmpty }

    /// Returns the best `limit` matches; equal ranks stay in the order of the list.
    ///
    /// Values are searched if there are fewer than `limit` other matches. If no tweak has all words as they are typed, those that have them with at most one typo each are the result.
    /// - Parameters:
    ///   - path: Returns the path of a tweak, in its original case.
    ///   - value: Returns the value to search; nil for a secret, and for tweaks without one.
    package func run(
        _ index: FindIndex, limit: Int = .max, path: (Int) -> String, value: (Int) -> TweakValue? = { _ in nil }
    ) -> Result {
        var search = Search(words: words, index: index, limit: limit)
        var result = search.run(path: path, value: { _ in nil })
        // Values rank after all names, and take longer to search.
        if search.literalCount < limit { result = search.run(path: path, value: value) }
        if search.literalCount > 0 || !words.contains(where: \.mayHaveTypo) { return result }
        search.forgivesTypos = true
        let misspelled = search.run(path: path, value: value)
        return misspelled.count > 0 ? misspelled : result
    }

    /// One pass over an index.
    private struct Search {
        let words: [FindWord]
        let index: FindIndex
        let limit: Int
        /// Whether a word may have a typo; its letters in order do not suffice then.
        var forgivesTypos = false
        /// How many tweaks have all words as they are typed.
        private(set) var literalCount = 0

        init(words: [FindWord], index: FindIndex, limit: Int) {
            self.words = words
            self.index = index
            self.limit = limit
        }

        mutating func run(path original: (Int) -> String, value: (Int) -> TweakValue?) -> Result {
            var result = Result()
            literalCount = 0
            // Buckets by rank, each of at most `limit`, avoid sorting.
            var byRank: [[Int]] = Array(repeating: [], count: words.count * Rank.lettersInOrder + 1)
            index.bytes.withUnsafeBufferPointer { bytes in
                let details = detailRanks(bytes)
                for (position, entry) in index.entries.enumerated() {
                    let start = Int(entry.path)
                    let path = UnsafeBufferPointer(rebasing: bytes[start..<start + Int(entry.pathCount)])
                    guard
                        let rank = rank(
                            entry, path, details, original: { original(position) }, value: { value(position) })
                    else { continue }
                    result.count += 1
                    if byRank[rank].count < limit { byRank[rank].append(position) }
                }
            }
            result.best = Array(byRank.joined().prefix(limit))
            return result
        }

        /// The rank of each word in each text of details; nil without a match. Tweaks share few such texts.
        private func detailRanks(_ bytes: UnsafeBufferPointer<UInt8>) -> [[Int?]] {
            words.map { word in
                index.details.map { details in
                    let text = UnsafeBufferPointer(rebasing: bytes[details.range])
                    if word.mayOccur(in: details.mask), let rank = Self.detailRank(word, text) { return rank }
                    guard forgivesTypos, word.mayOccurWithTypo(in: details.mask) else { return nil }
                    return word.misspelling(in: text) { FoldedText.isWordStart(text[$0 - 1], text[$0]) } == nil
                        ? nil : Rank.detailsTypo
                }
            }
        }

        private static func detailRank(_ word: FindWord, _ text: UnsafeBufferPointer<UInt8>) -> Int? {
            var rank: Int?
            word.forEachPosition(in: text) { position in
                let begins = position == 0 || FoldedText.isWordStart(text[position - 1], text[position])
                rank = begins ? Rank.detailsWordStart : rank ?? Rank.detailsSubstring
                return !begins
            }
            return rank
        }

        /// The sum of the ranks of all words; nil when a word has no match.
        private mutating func rank(
            _ entry: FindIndex.Entry, _ path: UnsafeBufferPointer<UInt8>, _ details: [[Int?]],
            original: () -> String, value: () -> TweakValue?
        ) -> Int? {
            var total = 0
            var isLiteral = true
            // Read once, and only if a word is nowhere else.
            var known: TweakValue??
            for (position, word) in words.enumerated() {
                var best = rank(of: word, in: path, entry, original: original)
                if entry.details >= 0, let detail = details[position][Int(entry.details)] {
                    best = min(detail, best ?? detail)
                }
                if best.map({ !Rank.isLiteral($0) }) ?? true {
                    let value = known ?? value()
                    known = .some(value)
                    if let value, word.occurs(in: value) { best = Rank.value }
                }
                guard let best else { return nil }
                total += best
                if !Rank.isLiteral(best) { isLiteral = false }
            }
            if isLiteral { literalCount += 1 }
            return total
        }

        /// The rank of a word in a path; nil without a match.
        private func rank(
            of word: FindWord, in path: UnsafeBufferPointer<UInt8>, _ entry: FindIndex.Entry, original: () -> String
        ) -> Int? {
            let isPossible = word.mayOccur(in: entry.mask)
            if isPossible, let rank = literalRank(of: word, in: path, entry, original: original) { return rank }
            if forgivesTypos, word.mayOccurWithTypo(in: entry.mask),
                let position = word.misspelling(
                    in: path, where: { Self.begins($0, in: path, entry, original: original) })
            {
                return Rank.typo + Self.distance(position, entry)
            }
            return isPossible && !forgivesTypos && word.hasLettersInOrder(path) ? Rank.lettersInOrder : nil
        }

        private func literalRank(
            of word: FindWord, in path: UnsafeBufferPointer<UInt8>, _ entry: FindIndex.Entry, original: () -> String
        ) -> Int? {
            let (collectionAt, nameAt) = (Int(entry.collectionAt), Int(entry.nameAt))
            var best: Int?
            word.forEachPosition(in: path) { position in
                let end = position + word.bytes.count
                if position == nameAt, end == path.count {
                    best = Rank.exactName
                    return false
                }
                var rank = Rank.substring
                if Self.begins(position, in: path, entry, original: original) {
                    let isPart = position == nameAt || position == collectionAt || position == 0
                    rank = isPart ? Rank.partPrefix : Rank.wordStart
                    if Self.ends(end, in: path, entry, original: original) { rank = Rank.wholeWord }
                }
                rank += Self.distance(position, entry)
                best = min(rank, best ?? rank)
                return true
            }
            return best
        }

        /// 0 in the name, 1 in the collection, 2 in the category.
        private static func distance(_ position: Int, _ entry: FindIndex.Entry) -> Int {
            position >= Int(entry.nameAt) ? 0 : position >= Int(entry.collectionAt) ? 1 : 2
        }

        /// Whether a part or a word begins at a position.
        private static func begins(
            _ position: Int, in path: UnsafeBufferPointer<UInt8>, _ entry: FindIndex.Entry, original: () -> String
        ) -> Bool {
            if position == 0 || position == Int(entry.collectionAt) || position == Int(entry.nameAt) { return true }
            if FoldedText.isWordStart(path[position - 1], path[position]) { return true }
            // Only the original case shows the second word of `fontSize`.
            if !entry.hasHiddenWords { return false }
            return original().withBytes { FoldedText.isWordStart($0[position - 1], $0[position]) }
        }

        /// Whether a word ends before a position.
        private static func ends(
            _ position: Int, in path: UnsafeBufferPointer<UInt8>, _ entry: FindIndex.Entry, original: () -> String
        ) -> Bool {
            if position == path.count || !FoldedText.isPartOfWord(path[position]) { return true }
            return begins(position, in: path, entry, original: original)
        }
    }
}
