// Parses `PATH = VALUE` from command-line words: three words each, or a single quoted one.

import Tweaks
import TweaksFleet
import TweaksSystem
import TweaksWire

extension TextAssignment {
    /// Parses all assignments.
    static func all(_ words: [String]) throws(Failure) -> [TextAssignment] {
        var rest = words[...]
        var assignments: [TextAssignment] = []
        while let word = rest.popFirst() {
            if rest.first == "=" {
                rest.removeFirst()
                guard let value = rest.popFirst() else {
                    throw Failure(.usage, "\(Quoting.excerpt(word)): a value is missing after the =")
                }
                assignments.append(TextAssignment(path: try path(word), text: value))
            } else {
                assignments.append(try single(word))
            }
        }
        return assignments
    }

    /// Parses a single word: `'A/B/C = 72'`.
    private static func single(_ word: String) throws(Failure) -> TextAssignment {
        var line = word
        let tokens = line.withUTF8 { (try? Tokenizer.tokens($0)) ?? [] }
        if tokens.count == 3, tokens[1].isBare("=") {
            return TextAssignment(
                path: try path(tokens[0].text), text: tokens[2].text, isQuoted: tokens[2].isQuoted)
        }
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, let path = try? TweakPath(trimmed(parts[0])) {
            let text = "\(path.token) = \(trimmed(parts[1]))"
            throw Failure(.usage, "\(Quoting.excerpt(word)): put spaces around “=”, and text in quotes: '\(text)'")
        }
        throw Failure(.usage, "\(Quoting.excerpt(word)) is not an assignment; write PATH = VALUE")
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Parses a path.
    static func path(_ text: String) throws(Failure) -> TweakPath {
        do throws(TweakError) {
            return try TweakPath(text)
        } catch {
            throw Failure(.usage, error.message)
        }
    }
}
