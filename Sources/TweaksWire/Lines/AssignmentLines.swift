// Parses a text of assignments, one a line, and collects all its errors.

package import Tweaks

/// A parsed config file or import, in the grammar of the protocol. The registry validates the values.
package struct AssignmentLines: Sendable {
    /// `PATH = VALUE`.
    package struct Assignment: Sendable, Equatable {
        package let path: String
        /// The value: one token without its quotes.
        package let text: String
        package let line: Int
    }

    package private(set) var assignments: [Assignment] = []
    /// The errors of invalid lines, at most `listedProblems`.
    package var problems: [ConfigProblem] { allProblems.first }
    /// The same, with the number of all errors.
    package private(set) var allProblems: ConfigProblems

    /// The maximum bytes of a line, as in the protocol.
    package static let lineLimit = 65_536

    /// Parses a text.
    /// - Parameters:
    ///   - subject: The kind of text, for errors: `a config file`.
    ///   - mostProblems: Parsing stops after this many errors.
    ///   - listedProblems: This many errors are listed; the others are only counted.
    ///   - maxAssignments: With more assignments the text is invalid as a whole, and parsing stops.
    ///   - isCancelled: Called every 256 lines; parsing stops when it returns true.
    package init(
        _ bytes: [UInt8], in subject: String, mostProblems: Int = .max, listedProblems: Int = .max,
        maxAssignments: Int = .max, isCancelled: () -> Bool = { false }
    ) {
        allProblems = ConfigProblems(limit: listedProblems)
        if let objection = TextEncoding.objection(to: bytes) {
            allProblems.append(ConfigProblem(line: 1, error: TweakError(.badLine, objection)))
            return
        }
        TextEncoding.forEachLine(of: bytes) { line, number, _ in
            if number % 256 == 0, isCancelled() { return false }
            if assignments.count > maxAssignments {
                let text = "\(subject) has at most \(maxAssignments) assignments; leave out what is the default"
                allProblems.append(ConfigProblem(line: number - 1, error: TweakError(.tooMany, text)))
                return false
            }
            add(line, number, subject)
            return allProblems.count < mostProblems
        }
    }

    private mutating func add(_ line: UnsafeBufferPointer<UInt8>, _ number: Int, _ subject: String) {
        do throws(TweakError) {
            guard let (path, text) = try Self.assignment(line, subject) else { return }
            assignments.append(Assignment(path: path, text: text, line: number))
        } catch {
            allProblems.append(ConfigProblem(line: number, error: error))
        }
    }

    /// Path and value; nil for a blank line, a comment, and a line of saved output that begins with `ok`.
    private static func assignment(
        _ line: UnsafeBufferPointer<UInt8>, _ subject: String
    ) throws(TweakError) -> (path: String, text: String)? {
        if line.count > lineLimit {
            throw TweakError(.tooLong, "the line has \(line.count) bytes; a line holds at most \(lineLimit)")
        }
        if TextEncoding.markLength(line) > 0 {
            throw TweakError(.badLine, "a byte order mark is in front of this line; delete it")
        }
        let tokens = try? Tokenizer.tokens(line)
        if let tokens, tokens.count == 3, !tokens[1].isQuoted, tokens[1].text == "=",
            tokens[0].isQuoted || tokens[0].text != "ok"
        {
            return (tokens[0].text, tokens[2].text)
        }
        switch ParsedLine(line) {
        case .blank, .ignored: return nil
        // The value may be a secret; only the registry knows.
        case .correctable(let correction): throw correction.error(.file)
        case .failure(let error, _):
            // JSON's names are quoted, with a colon after the quote.
            let start = line.first { $0 != 0x20 && $0 != 0x09 }
            let isJSON =
                error.code == .badQuoting && (start == UInt8(ascii: "\"") || start == UInt8(ascii: "{"))
                && zip(line, line.dropFirst()).contains { $0 == (0x22, 0x3A) }
            throw Self.mistake(isJSON ? [Token(":")] : tokens ?? [], subject).map { TweakError(.usage, $0) } ?? error
        case .request: throw TweakError(.usage, "\(subject) holds only assignments: PATH = VALUE")
        }
    }

    /// The mistake of a line that may be in the syntax of other files, with the remedy; nil without words.
    @inline(never) private static func mistake(_ tokens: [Token], _ subject: String) -> String? {
        guard let first = tokens.first?.text else { return nil }
        // A token is never repeated.
        let shown = first.hasPrefix(TokenSecret.prefix) ? "the line" : Quoting.excerpt(first)
        var text = shown + " is not an assignment; " + subject + " holds only"
        if first.hasPrefix("[") {
            text = subject + " has no sections; each line holds a whole path:"
        } else if first.utf8.contains(UInt8(ascii: ":")) || tokens.count > 1 && tokens[1].text == ":" {
            text = "= replaces the colon, after a whole path:"
        }
        return text + " CATEGORY/COLLECTION/NAME = VALUE"
    }
}

extension TextEncoding {
    /// Calls `body` with the lines of a text, without byte order mark and line ends, their numbers, and whether
    /// a line end follows, until it returns false.
    static func forEachLine(
        of bytes: [UInt8], _ body: (_ line: UnsafeBufferPointer<UInt8>, _ number: Int, _ isEnded: Bool) -> Bool
    ) {
        bytes.withUnsafeBufferPointer { bytes in
            var start = markLength(bytes)
            var number = 1
            while start < bytes.count {
                let newline = bytes[start...].firstIndex(of: UInt8(ascii: "\n"))
                let next = newline ?? bytes.count
                let hasReturn = next > start && bytes[next - 1] == UInt8(ascii: "\r")
                let line = UnsafeBufferPointer(rebasing: bytes[start..<(hasReturn ? next - 1 : next)])
                guard body(line, number, newline != nil) else { return }
                start = next + 1
                number += 1
            }
        }
    }
}
