// Parses, prints and validates durations.

enum DurationKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        DurationText.parse(text).map { .duration(.nanoseconds($0)) }
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        guard case .duration(let standard)? = context.standard, let nanoseconds = standard.exactNanoseconds else {
            return nil
        }
        return DurationText.parse(text, inUnitOf: nanoseconds).map { .duration(.nanoseconds($0)) }
    }

    static func text(_ value: TweakValue) -> String {
        guard case .duration(let duration) = value else { return "" }
        return duration.exactNanoseconds.map(DurationText.print) ?? "\(duration)"
    }

    static func json(_ value: TweakValue) -> JSON { value.whole == nil ? .null : .string(text(value)) }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        guard case .duration = value else { throw definition.wrongKind(value, path) }
        guard let nanoseconds = value.whole else {
            throw path.refusal(.badValue, "a duration is a 64-bit count of nanoseconds; this one is not")
        }
        return try definition.validateWhole(nanoseconds, path, policy)
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write a time such as 250ms, 1.5s or 1h30m" + definition.rangeRemedy
    }

    static func isSet(_ value: TweakValue) -> Bool { value != .duration(.zero) }
}
