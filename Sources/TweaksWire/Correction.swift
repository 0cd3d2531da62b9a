// A line that is nearly a change of one tweak, and the line that was probably meant.

package import Tweaks

/// What a person typed in place of `PATH = VALUE`. Only the server knows whether the value is a secret, so it decides
/// whether the error repeats it.
package struct Correction: Equatable, Sendable {
    package let path: String
    /// `set` or `check`; nil for an assignment.
    let command: String?
    /// `=`, `+=` or `-=`, in an assignment.
    var sign = "="
    /// Nil where none was given.
    let value: String?
    let hint: String

    /// What it means for the session: a change that failed spoils an open batch.
    package var severity: ParsedLine.Severity { command == "check" ? .ordinary : .badChange }

    /// Beyond that a line is not repeated, in bytes.
    private static let longest = 120

    /// The error that shows the line that was meant.
    /// - Parameter showsValue: Whether it repeats the value.
    package func error(showsValue: Bool) -> TweakError {
        let placeholder = value.map(Quoting.needsQuotes) == true ? "\"VALUE\"" : "VALUE"
        let isShown = showsValue && (value?.utf8.count ?? 0) <= Self.longest
        let text = isShown ? value.map(Self.token) ?? placeholder : placeholder
        let start = command.map { "\($0) \(Self.token(path))" } ?? "\(Self.token(path)) \(sign)"
        return TweakError(.usage, "write \(start) \(text)\(hint.isEmpty ? "" : " (\(hint))")")
    }

    private static func token(_ text: String) -> String { Quoting.needsQuotes(text) ? Quoting.json(text) : text }
}

extension Correction {
    private static let operators = ["+=", "-=", "="]

    /// The correction of a line without a command; nil when its first token is not the beginning of a change.
    init?(_ tokens: [Token]) {
        guard let first = tokens.first else { return nil }
        let (path, glued) = Self.split(first)
        let isAssignment = tokens.count > 1 && !tokens[1].isQuoted && Self.operators.contains(tokens[1].text)
        let isPath = first.isQuoted || path.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2
        guard isPath || isAssignment else { return nil }
        var words = tokens.dropFirst().map(\.text)
        if let glued { words.insert(glued, at: 0) }
        let sign = tokens.count > 1 && tokens[1].isQuoted && glued == nil ? nil : Self.takeOperator(&words)
        let value = words.isEmpty ? nil : words.joined(separator: " ")
        // With spaces around the operator, and a value, all that is wrong is that the value has several words.
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

    /// A path and what stands behind it without a space.
    private static func split(_ token: Token) -> (path: String, glued: String?) {
        guard !token.isQuoted, let sign = token.text.firstIndex(of: "=") else { return (token.text, nil) }
        let path = token.text[..<sign]
        let end = ["+", "-"].contains(path.last) ? path.index(before: sign) : sign
        return (String(path[..<end]), String(token.text[end...]))
    }

    /// Takes the operator that the words begin with, alone or with a value behind it.
    private static func takeOperator(_ words: inout [String]) -> String? {
        guard let first = words.first, let sign = operators.first(where: first.hasPrefix) else { return nil }
        let rest = String(first.dropFirst(sign.count))
        if rest.isEmpty { words.removeFirst() } else { words[0] = rest }
        return sign
    }
}
