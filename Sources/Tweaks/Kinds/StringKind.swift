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
        if let maxLength = definition.maxLength { try checkLength(text, maxLength, path) }
        if let reason = definition.validate?(text) {
            // The program's own text, unless it reveals a secret.
            let revealsSecret =
                definition.flags.contains(.secret) && (text.isEmpty || !reason.occurrences(of: text).isEmpty)
            throw path.refusal(.badValue, revealsSecret ? "the value is refused" : Quoting.sanitized(reason))
        }
        return ValidatedValue(value)
    }

    /// The longest emoji have 35 bytes; without a limit, one character with many accents could be of any size.
    private static let bytesOfCharacter = 64

    private static func checkLength(_ text: String, _ maxLength: Int, _ path: TweakPath) throws(TweakError) {
        let bytes = text.utf8.count
        if bytes <= maxLength { return }
        let (most, isLarge) = maxLength.multipliedReportingOverflow(by: bytesOfCharacter)
        if !isLarge, bytes > most, text.count <= maxLength {
            throw path.refusal(
                .outOfRange,
                "\(bytes) bytes are too many; at most \(most), \(bytesOfCharacter) for each of \(maxLength) characters")
        }
        if text.count > maxLength {
            throw path.refusal(.outOfRange, "\(text.count) characters are too many; at most \(maxLength)")
        }
    }

    static func remedy(_ definition: TweakDefinition) -> String { "write text in quotes" }

    static func isSet(_ value: TweakValue) -> Bool { value != .string("") }
}
