// Suggests the correct form of a malformed change of one tweak.

package import Tweaks

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
