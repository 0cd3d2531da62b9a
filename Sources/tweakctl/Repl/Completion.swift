// Completes the word before the cursor with candidates from the server.

import Tweaks
import TweaksSystem
import TweaksWire

/// The word before the cursor and its completions.
struct Completion: Equatable {
    /// The index of the word's first character in the line.
    let start: Int
    /// The word as typed, without an opening quote.
    let word: String
    /// The line before the word.
    private let head: String

    init(_ text: String) {
        let characters = Array(text)
        var (start, quote) = (0, Character?.none)
        for (position, character) in characters.enumerated() {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == " " {
                start = position + 1
            } else if position == start, character == "\"" || character == "'" {
                quote = character
            }
        }
        self.start = start
        head = String(characters[..<start])
        let isQuoted = start < characters.count && (characters[start] == "\"" || characters[start] == "'")
        word = String(characters[(isQuoted ? start + 1 : start)...])
    }

    /// The request for candidates.
    var request: String { "complete \(Quoting.json(head + word))" }

    /// The candidates of an answer: the rows of the body. A candidate with escaped control characters, which only a
    /// hostile server sends, is dropped.
    static func candidates(_ answer: Answer) -> [String] {
        if answer.isRefusal { return [] }
        return answer.body.filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
            .filter { Quoting.isSafe(bare($0)) }
    }

    /// The text to replace the word with: the only candidate, or the common prefix of all; nil if that adds nothing.
    func replacement(_ candidates: [String]) -> String? {
        guard let first = candidates.first else { return nil }
        if candidates.count == 1 { return first.hasSuffix("/") ? first : first + " " }
        var common = Self.bare(first)
        for candidate in candidates.dropFirst() { common = common.commonPrefix(with: Self.bare(candidate)) }
        guard common.count > word.count, common.hasPrefix(word) else { return nil }
        // With a space, it is the start of a quoted word.
        return common.contains(" ") ? "\"" + common : common
    }

    static func bare(_ candidate: String) -> String {
        candidate.hasPrefix("\"") ? CommandText.tokens(candidate).first?.text ?? candidate : candidate
    }

    /// The candidates in columns, for a screen of this width.
    static func table(_ candidates: [String], columns: Int) -> [String] {
        let width = (candidates.map(TextWidth.of).max() ?? 0) + 2
        let perLine = max(1, columns / width)
        return stride(from: 0, to: candidates.count, by: perLine).map { start in
            candidates[start..<min(start + perLine, candidates.count)]
                .map { TextWidth.padded($0, to: width) }.joined().trimmedAtEnd
        }
    }
}

extension String {
    /// The longest common prefix.
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }

    /// Without trailing spaces.
    var trimmedAtEnd: String {
        var text = self[...]
        while text.hasSuffix(" ") { text.removeLast() }
        return String(text)
    }
}
