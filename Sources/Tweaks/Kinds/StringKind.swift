// Parses, prints and validates strings.

enum StringKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? { .string(text) }

    static func text(_ value: TweakValue) -> String { Quoting.json(value.choiceName) }

    static func append(_ value: TweakValue, to bytes: inout [UInt8]) {
        if case .string(let text) = value { Quoting.appendJSON(text, to: &bytes) }
    }

    static func json(_ value: TweakValue) -> JSON { .string(value.choiceName) }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        guard case .string(let text) = value else { throw definition.wrongKind(value, path) }
        if let maxLength = definition.maxLength, text.count > maxLength {
            throw path.refusal(.outOfRange, "\(text.count) characters are too many; at most \(maxLength)")
        }
        if let reason = definition.validate?(text) {
            // The program's own text, unless it reveals a secret.
            let revealsSecret =
                definition.flags.contains(.secret) && (text.isEmpty || !reason.occurrences(of: text).isEmpty)
            throw path.refusal(.badValue, revealsSecret ? "the value is refused" : Quoting.sanitized(reason))
        }
        return ValidatedValue(value)
    }

    static func remedy(_ definition: TweakDefinition) -> String { "write text in quotes" }

    static func isSet(_ value: TweakValue) -> Bool { value != .string("") }
}
