// Joins shell arguments to one line of the protocol and quotes them where needed.

import Tweaks
import TweaksWire

/// Makes protocol lines out of words.
enum CommandText {
    /// The line of these words. One word that is a whole line already, as in `'A/B/C = 72'`, stays as it is.
    static func line(_ words: [String]) -> String {
        if words.count == 1, let word = words.first, isWholeLine(word) { return word }
        return words.enumerated().map { position, word in
            token(word, isFirst: position == 0, isLast: position == words.count - 1)
        }.joined(separator: " ")
    }

    /// A word as a token, quoted if it would otherwise be parsed as something else. Keywords stay unquoted.
    static func token(_ word: String, isFirst: Bool = false, isLast: Bool = false) -> String {
        let mustBeQuoted =
            word.isEmpty || word == "#" || word.unicodeScalars.contains(where: needsQuotes)
            // A comment, or a line of saved output: the server does not answer these.
            || isFirst && (word.hasPrefix("#") || word == "ok")
            // Servers of earlier versions take such an end for HTTP, and close the connection.
            || isLast && word.prefix(5).uppercased() == "HTTP/"
        return mustBeQuoted ? Quoting.json(word) : word
    }

    private static func needsQuotes(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\"" || scalar == "'" || Quoting.isUnsafe(scalar)
    }

    /// Whether the server answers this line; it does not answer blank lines and comments.
    static func isAnswered(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        switch ParsedLine(line) {
        case .blank, .ignored: false
        default: true
        }
    }

    /// The same of a text.
    static func isAnswered(_ line: String) -> Bool {
        var line = line
        return line.withUTF8(isAnswered)
    }

    /// Whether the server answers this line and closes the connection.
    static func isQuit(_ line: ArraySlice<UInt8>) -> Bool {
        // Long lines are values, and scripts have many.
        if line.count > 80 { return false }
        let tokens = tokens(String(decoding: line, as: UTF8.self))
        return tokens.count == 1 && !tokens[0].isQuoted && tokens[0].text == "quit"
    }

    /// Whether a line only reads values, so that it has no effect which its sender could miss.
    static func onlyReads(_ line: String) -> Bool {
        guard let first = tokens(line).first, !first.isQuoted, let command = Command.named(first.text) else {
            return false
        }
        switch command.permission {
        case .nothing, .session, .visibility: return true
        case .some, .whole: return command == .check
        }
    }

    /// The tokens of a line; empty for an invalid one.
    static func tokens(_ line: String) -> [Token] {
        var line = line
        return line.withUTF8 { (try? Tokenizer.tokens($0)) ?? [] }
    }

    /// Whether a word is several tokens with a command first or an assignment second. As one token it would be invalid.
    private static func isWholeLine(_ word: String) -> Bool {
        let tokens = tokens(word)
        guard tokens.count > 1, let first = tokens.first else { return false }
        if !first.isQuoted, Command.named(first.text) != nil { return true }
        return !tokens[1].isQuoted && ["=", "+=", "-="].contains(tokens[1].text)
    }
}
