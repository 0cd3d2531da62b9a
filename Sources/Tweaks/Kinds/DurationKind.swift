// Reads, prints and judges spans of time.

enum DurationKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        DurationText.parse(text).map { .duration(.nanoseconds($0)) }
    }

    static func readFreely(_ text: String, _ reading: FreeReading) throws(TweakError) -> TweakValue? {
        guard case .duration(let standard)? = reading.standard, let nanoseconds = standard.exactNanoseconds else {
            return nil
        }
        return DurationText.parse(text, inUnitOf: nanoseconds).map { .duration(.nanoseconds($0)) }
    }

    static func text(_ value: TweakValue) -> String {
        guard case .duration(let duration) = value else { return "" }
        return duration.exactNanoseconds.map(DurationText.print) ?? "\(duration)"
    }

    static func json(_ value: TweakValue) -> JSON { value.whole == nil ? .null : .string(text(value)) }

    static func judge(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> Judged {
        guard case .duration = value else { throw definition.wrongKind(value, path) }
        guard let nanoseconds = value.whole else {
            throw path.refusal(.badValue, "a duration is a 64-bit count of nanoseconds; this one is not")
        }
        return try definition.judgeWhole(nanoseconds, path, policy)
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write a time such as 250ms, 1.5s or 1h30m" + definition.rangeRemedy
    }

    static func isSet(_ value: TweakValue) -> Bool { value != .duration(.zero) }
}
