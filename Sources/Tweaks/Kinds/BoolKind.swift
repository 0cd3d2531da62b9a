// Parses, prints and validates Boolean values.

enum BoolKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        switch text.lowercased() {
        case "true", "on", "yes", "1": .bool(true)
        case "false", "off", "no", "0": .bool(false)
        default: nil
        }
    }

    static func text(_ value: TweakValue) -> String { value == .bool(true) ? "true" : "false" }

    static func json(_ value: TweakValue) -> JSON { .bool(value == .bool(true)) }

    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        if case .bool(let value) = json { .bool(value) } else { nil }
    }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        guard case .bool = value else { throw definition.wrongKind(value, path) }
        return ValidatedValue(value)
    }

    static func remedy(_ definition: TweakDefinition) -> String { "write true or false" }

    static func names(_ definition: TweakDefinition) -> [String] { ["true", "false"] }
}
