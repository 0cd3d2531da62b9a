// “Did you mean …”: the nearest of a few known words.

/// Finds what somebody may have meant.
package enum Spelling {
    /// The candidate with the fewest edits from the word, compared without case; nil when all are too far off.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let wanted = Array(word.prefix(200).lowercased().unicodeScalars)
        var best: (candidate: String, distance: Int)?
        // A third of the word may be wrong, but never all of it.
        let limit = max(1, min(wanted.count / 3 + 1, wanted.count - 1, 4))
        for candidate in candidates.prefix(5_000) {
            let letters = Array(candidate.lowercased().unicodeScalars)
            let bound = min(limit, (best?.distance ?? limit + 1) - 1)
            guard (letters.count - wanted.count).magnitude <= bound.magnitude, bound >= 0 else { continue }
            let distance = distance(wanted, letters, limit: bound)
            if distance <= bound, distance < max(wanted.count, letters.count) { best = (candidate, distance) }
            if best?.distance == 0 { break }
        }
        return best?.candidate
    }

    /// Optimal string alignment distance (Damerau 1964): insert, delete, replace, or swap neighbours.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar], limit: Int) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                var cost = min(
                    last[column] + (left[row] == right[column] ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            if current.min().map({ $0 > limit }) == true { return limit + 1 }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
