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
                if hasLongValue(command, arguments) {
                    return .correctable(Correction(command: command.name, arguments))
                }
                return .request(try command.request(arguments))
            }
            if let assignment = assignment(tokens, first) { return .request(assignment) }
            if let correction = Correction(tokens) { return .correctable(correction) }
        } catch {
            return .failure(error, mayBeChange(first) ? .badChange : .ordinary)
        }
        return .failure(unknownCommand(first.text), .fatalUnlessProven)
    }

    private static func mayBeChange(_ first: Token) -> Bool {
        guard !first.isQuoted, let command = Command.named(first.text) else { return true }
        return command.effect == .isQueued
    }

    /// Whether the value has several words without quotes.
    private static func hasLongValue(_ command: Command, _ arguments: ArraySlice<Token>) -> Bool {
        guard command.takesValue, arguments.count > 2 else { return false }
        return command.entry.marked?.isMarked(by: arguments[arguments.startIndex + 2]) != true
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

    private static func unknownCommand(_ text: String) -> TweakError {
        // A token is never repeated, not even to the client that sent it.
        if text.hasPrefix(TokenSecret.prefix) {
            return TweakError(.unknownCommand, "a token alone is not a command; write auth TOKEN")
        }
        // A text with a slash or an operator was not meant as a command.
        let isWord = !text.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") }
        let near = isWord ? Spelling.nearest(to: text, among: Command.all.map(\.name)) : nil
        let guess = near.map { "did you mean \($0)?" } ?? "type help"
        return TweakError(.unknownCommand, "\(Quoting.excerpt(text)) is not a command; \(guess)")
    }
}

/// A line that resembles `PATH = VALUE`, with the line that was probably meant. The error repeats the value only where
/// the server, which knows the tweak, allows it: the value may be a secret.
package struct Correction: Equatable, Sendable {
    package let path: String
    /// `set` or `check`; nil for an assignment.
    let command: String?
    /// `=`, `+=` or `-=`, in an assignment.
    var sign = "="
    /// Nil where none was given.
    let value: String?
    let hint: String

    /// A failed change invalidates an open batch; a failed `check` does not.
    package var severity: ParsedLine.Severity { command == "check" ? .ordinary : .badChange }

    /// A longer value is not repeated, in bytes.
    private static let valueLimit = 120

    /// The error that suggests the corrected line.
    /// - Parameter showsValue: Whether it repeats the value.
    package func error(showsValue: Bool) -> TweakError {
        let placeholder = value.map(Quoting.needsQuotes) == true ? "\"VALUE\"" : "VALUE"
        let isShown = showsValue && (value?.utf8.count ?? 0) <= Self.valueLimit
        let text = isShown ? value.map(Self.token) ?? placeholder : placeholder
        let start = command.map { "\($0) \(Self.token(path))" } ?? "\(Self.token(path)) \(sign)"
        return TweakError(.usage, "write \(start) \(text)\(hint.isEmpty ? "" : " (\(hint))")")
    }

    private static func token(_ text: String) -> String { Quoting.needsQuotes(text) ? Quoting.json(text) : text }
}

extension Correction {
    private static let operators = ["+=", "-=", "="]

    /// The correction of a line without a command; nil when the line does not begin like a change.
    init?(_ tokens: [Token]) {
        guard let first = tokens.first else { return nil }
        let (path, glued) = Self.split(first)
        let isAssignment = tokens.count > 1 && !tokens[1].isQuoted && Self.operators.contains(tokens[1].text)
        let isPath = first.isQuoted || path.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2
        guard isPath || isAssignment else { return nil }
        var words = tokens.dropFirst().map(\.text)
        if let glued { words.insert(glued, at: 0) }
        let sign = tokens.count > 1 && tokens[1].isQuoted && glued == nil ? nil : Self.removeOperator(&words)
        let value = words.isEmpty ? nil : words.joined(separator: " ")
        // With spaces around the operator, and a value, the only error is that the value has several words.
        let hint =
            switch (sign, value) {
            case (nil, nil): "or get \(Self.token(path))"
            case (nil, _), (_, nil): ""
            default:
                isAssignment && glued == nil ? "quote a value of several words" : "put spaces around \(sign ?? "=")"
            }
        self.init(path: path, command: nil, sign: sign ?? "=", value: value, hint: hint)
    }

    /// `set PATH two words`, and the like.
    init(command: String, _ arguments: ArraySlice<Token>) {
        self.init(
            path: arguments.first?.text ?? "PATH", command: command,
            value: arguments.dropFirst().map(\.text).joined(separator: " "), hint: "quote a value of several words")
    }

    /// A path, and the operator and value that follow it without a space.
    private static func split(_ token: Token) -> (path: String, glued: String?) {
        guard !token.isQuoted, let sign = token.text.firstIndex(of: "=") else { return (token.text, nil) }
        let path = token.text[..<sign]
        let end = ["+", "-"].contains(path.last) ? path.index(before: sign) : sign
        return (String(path[..<end]), String(token.text[end...]))
    }

    /// Removes the operator at the beginning of the words, with or without a value attached.
    private static func removeOperator(_ words: inout [String]) -> String? {
        guard let first = words.first, let sign = operators.first(where: first.hasPrefix) else { return nil }
        let rest = String(first.dropFirst(sign.count))
        if rest.isEmpty { words.removeFirst() } else { words[0] = rest }
        return sign
    }
}
