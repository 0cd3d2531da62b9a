// Rejects every value for an action, because actions have no values.

enum ActionKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? { nil }

    static func text(_ value: TweakValue) -> String { "(action)" }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue { throw noValue(path) }

    static func remedy(_ definition: TweakDefinition) -> String { "use run" }

    static func noValue(_ path: TweakPath) -> TweakError {
        TweakError(.badValue, "\(path.token) is an action and has no value; use: run \(path.token)", path: path)
    }
}
