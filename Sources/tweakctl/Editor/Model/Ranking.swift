// Search as it is typed: which tweaks match, and which of them best.

import TweaksWire

/// Ranks tweaks for the words of a search. It is done here, so that a slow line costs no letter its answer.
struct Ranking {
    private let words: [String]

    init(_ text: String) { words = SearchText.folded(text).split(whereSeparator: \.isWhitespace).map { String($0) } }

    var isEmpty: Bool { words.isEmpty }

    /// The positions of those that match every word, best first; ties stay in order.
    func matches(among tweaks: [EditorTweak]) -> [Int] {
        var found: [(score: Int, position: Int)] = []
        for (position, tweak) in tweaks.enumerated() {
            if let score = score(tweak) { found.append((score, position)) }
        }
        return found.sorted { ($0.score, $0.position) < ($1.score, $1.position) }.map(\.position)
    }

    /// Smaller is better; nil for no match.
    func score(_ tweak: EditorTweak) -> Int? {
        var sum = 0
        for word in words {
            guard let score = Self.score(word, tweak) else { return nil }
            sum += score
        }
        return sum
    }

    private static func score(_ word: String, _ tweak: EditorTweak) -> Int? {
        let name = SearchText.folded(tweak.parts[2])
        let path = SearchText.folded(tweak.path)
        if name == word { return 0 }
        if name.hasPrefix(word) { return 1 }
        if tweak.parts.dropLast().contains(where: { SearchText.folded($0).hasPrefix(word) }) { return 2 }
        if path.split(whereSeparator: { $0 == " " || $0 == "/" }).contains(where: { $0.hasPrefix(word) }) { return 3 }
        if path.contains(word) { return 4 }
        let about = [tweak.help, tweak.unit].compactMap(\.self) + tweak.choices
        if about.contains(where: { SearchText.folded($0).contains(word) }) { return 6 }
        return isInOrder(word, path) ? 8 : nil
    }

    /// Whether the letters of a word come in this order.
    private static func isInOrder(_ word: String, _ text: String) -> Bool {
        guard word.count > 1 else { return false }
        var rest = word[...]
        for character in text where character == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }
}
