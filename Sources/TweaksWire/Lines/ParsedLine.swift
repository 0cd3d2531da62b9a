// Parses a line into a request, a suggestion, or an error.

package import Tweaks

/// The result of parsing one line.
package enum ParsedLine: Equatable, Sendable {
    /// Only blanks.
    case blank
    /// A comment, or a line of saved output that begins with `ok`.
    case ignored
    case request(Request)
    /// Malformed, but similar to a change: its error suggests the correct line.
    case correctable(Correction)
    case failure(TweakError, Severity)

    /// The effect of an error on the session.
    package enum Severity: Equatable, Sendable {
        /// The session continues.
        case ordinary
        /// The session continues; the line may have been a change, so an open batch cannot be committed without it.
        case badChange
        /// Ends a session that has not proven to speak this protocol.
        case fatalUnlessProven
    }

    /// Parses one line, given without its end.
    package init(_ line: UnsafeBufferPointer<UInt8>) {
        let tokens: [Token]
        do throws(TokenizingError) {
            tokens = try Tokenizer.tokens(line)
        } catch {
            self = Self.failure(error)
            return
        }
        guard let first = tokens.first else {
            let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 }
            self = isBlank ? .blank : .ignored
            return
        }
        if first.isBare("ok") {
            self = .ignored
        } else if Self.isHTTP(tokens) {
            self = .failure(Self.http, .fatalUnlessProven)
        } else {
            self = Self.parse(tokens, first)
        }
    }

    private static func parse(_ tokens: [Token], _ first: Token) -> ParsedLine {
        do throws(TweakError) {
            if !first.isQuoted, let command = Command.named(first.text) {
                let arguments = tokens.dropFirst()
                if let correction = Correction(command, arguments) { return .correctable(correction) }
                return .request(try command.request(arguments))
            }
            if let assignment = assignment(tokens, first) { return .request(assignment) }
            if let correction = Correction(tokens) { return .correctable(correction) }
        } catch {
            return .failure(error, mayBeChange(first) ? .badChange : .ordinary)
        }
        return .failure(unknownCommand(first.text, isAlone: tokens.count == 1), .fatalUnlessProven)
    }

    private static func mayBeChange(_ first: Token) -> Bool {
        guard !first.isQuoted, let command = Command.named(first.text) else { return true }
        return command.effect == .isQueued
    }

    /// `PATH = VALUE`, `PATH += VALUE`, `PATH -= VALUE`; nil when the line is none of these.
    private static func assignment(_ tokens: [Token], _ path: Token) -> Request? {
        guard tokens.count == 3, !tokens[1].isQuoted else { return nil }
        let value = tokens[2].text
        switch tokens[1].text {
        case "=": return Request(.set, [path.text], change: .assign(value))
        case "+=": return Request(.set, [path.text], change: .add(value))
        case "-=": return Request(.set, [path.text], change: .subtract(value))
        default: return nil
        }
    }

    // MARK: Errors

    private static func failure(_ error: TokenizingError) -> ParsedLine {
        switch error {
        case .badLine: .failure(badLine, .fatalUnlessProven)
        case .badQuoting:
            .failure(
                TweakError(
                    .badQuoting,
                    "quotes must surround a whole token: \"two words\" with JSON's escapes, or 'as it is'"),
                .fatalUnlessProven)
        }
    }

    /// A line that is not text.
    package static let badLine = TweakError(.badLine, "the line must be UTF-8 without control characters, ended by LF")

    /// The error of a line that is not text.
    /// - Parameter encoding: The encoding of the input, if that is the reason.
    package static func badLine(_ encoding: String?) -> TweakError {
        encoding.map { TweakError(.badLine, "the input is \($0); send it as UTF-8") } ?? badLine
    }

    /// The line with an error that names the encoding of the input.
    package func explained(by encoding: @autoclosure () -> String?) -> ParsedLine {
        guard case .failure(Self.badLine, let severity) = self else { return self }
        return .failure(Self.badLine(encoding()), severity)
    }

    private static let http = TweakError(
        .unknownCommand, "this port speaks the tweak protocol, not HTTP; connect with nc or telnet and type help")

    /// Whether a line is the request line of HTTP, `METHOD TARGET HTTP/d.d`. No line of this protocol is: its commands
    /// are in lower case, and the second word of an assignment is an operator.
    private static func isHTTP(_ tokens: [Token]) -> Bool {
        guard tokens.count == 3, !tokens.contains(where: \.isQuoted) else { return false }
        let (method, target, version) = (tokens[0].text.utf8, tokens[1].text.utf8, Array(tokens[2].text.utf8))
        let isDigit = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(version[$0]) }
        return version.count == 8 && version.starts(with: "HTTP/".utf8) && isDigit(5)
            && version[6] == UInt8(ascii: ".") && isDigit(7)
            && method.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            && (target.first == UInt8(ascii: "/") || target.first == UInt8(ascii: "*")
                || target.starts(with: "http:".utf8))
    }

    private static func unknownCommand(_ text: String, isAlone: Bool) -> TweakError {
        // A token is never repeated, not even to the client that sent it.
        if text.hasPrefix(TokenSecret.prefix) {
            return TweakError(.unknownCommand, "a token alone is not a command; sign in with auth TOKEN")
        }
        let guess = guess(text, isAlone).map { "did you mean \($0)?" } ?? "type help"
        return TweakError(.unknownCommand, "\(Quoting.excerpt(text)) is not a command; \(guess)")
    }

    /// Commands of other programs.
    private static let synonyms = [
        "login": "auth", "signin": "auth", "exit": "quit", "logout": "quit", "list": "ls", "show": "get",
        "search": "find", "unset": "reset", "revert": "undo",
    ]

    private static func guess(_ text: String, _ isAlone: Bool) -> String? {
        // A text with a slash or an operator was not meant as a command.
        if text.utf8.contains(UInt8(ascii: "=")) { return nil }
        if !text.utf8.contains(UInt8(ascii: "/")) {
            // Two edits of a short word lead to any other: Shop is not swap.
            return synonyms[text.lowercased()]
                ?? Spelling.nearest(
                    to: text, among: Command.all.map(\.name), mostEdits: text.utf8.count < 6 ? 1 : 2)
        }
        let isPattern = isAlone && text.utf8.count <= Correction.longest && TweakPattern(text) != nil
        return isPattern && Quoting.isSafe(text) ? "get \(text)" : nil
    }
}
