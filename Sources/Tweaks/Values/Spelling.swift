// Finds the known word nearest to a mistyped one, for “did you mean …”.

/// Finds the most similar known word to a mistyped one.
package enum Spelling {
    /// The limit of compared candidates, so that one request does not delay others.
    package static let mostCandidates = 5_000

    /// The candidate with the fewest edits from the word, ignoring case; nil if all are too different.
    package static func nearest(
        to word: String, among candidates: some Sequence<String>, mostEdits: Int = 4
    ) -> String? {
        let wanted = letters(String(word.prefix(200)))
        let mask = mask(wanted)
        var rows = Rows()
        var best: (candidate: String, distance: Int)?
        // At most a third of the word may be wrong, and never all of it.
        let limit = max(1, min(wanted.count / 3 + 1, wanted.count - 1, mostEdits))
        for candidate in candidates.prefix(mostCandidates) {
            let bound = min(limit, (best?.distance ?? limit + 1) - 1)
            if bound < 0 { break }
            // A scalar has at most four UTF-8 bytes, so byte counts can exclude candidates early.
            if candidate.utf8.count + bound < wanted.count || candidate.utf8.count > 4 * (wanted.count + bound) {
                continue
            }
            let letters = letters(candidate)
            guard (letters.count - wanted.count).magnitude <= bound.magnitude else { continue }
            // One edit removes at most one letter and adds at most one.
            if (Self.mask(letters) ^ mask).nonzeroBitCount > 2 * bound { continue }
            let distance = rows.distance(wanted, letters, limit: bound)
            if distance <= bound, distance < max(wanted.count, letters.count) { best = (candidate, distance) }
            if best?.distance == 0 { break }
        }
        return best?.candidate
    }

    private static func letters(_ text: String) -> [UInt32] {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        if !isASCII { return text.lowercased().unicodeScalars.map(\.value) }
        return text.utf8.map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? UInt32(byte | 0x20) : UInt32(byte)
        }
    }

    /// The set of letters as bits.
    private static func mask(_ letters: [UInt32]) -> UInt64 { letters.reduce(0) { $0 | 1 << UInt64($1 & 63) } }

    /// The rows of the distance table, reused for all words.
    private struct Rows {
        private var beforeLast: [Int] = []
        private var last: [Int] = []
        private var current: [Int] = []

        /// Optimal string alignment distance (Damerau 1964): insert, delete, replace, or swap adjacent letters.
        mutating func distance(_ left: [UInt32], _ right: [UInt32], limit: Int) -> Int {
            last.removeAll(keepingCapacity: true)
            last.append(contentsOf: 0...right.count)
            for row in 0..<left.count {
                current.removeAll(keepingCapacity: true)
                current.append(row + 1)
                var least = row + 1
                for column in 0..<right.count {
                    // Cells this far from the diagonal exceed the limit.
                    if (row - column).magnitude > limit.magnitude {
                        current.append(limit + 1)
                        continue
                    }
                    var cost = min(
                        last[column] + (left[row] == right[column] ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                    if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                        cost = min(cost, beforeLast[column - 1] + 1)
                    }
                    current.append(cost)
                    least = min(least, cost)
                }
                if least > limit { return limit + 1 }
                swap(&beforeLast, &last)
                swap(&last, &current)
            }
            return last[right.count]
        }
    }
}
