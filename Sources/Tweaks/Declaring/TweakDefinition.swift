// Defines what values a tweak may have: kind, range, step, choices, texts and flags.

/// The immutable definition of a tweak. All values, from any source, are validated against it.
package struct TweakDefinition: Sendable {
    package let kind: TweakKind
    package let limits: TweakLimits
    package let scale: TweakScale
    /// For kind `choice`: the names and labels, in order.
    package let choices: [TweakChoice<String>]
    /// For kind `list`: the minimum number of values.
    package let minLength: Int?
    /// For kind `string`: the maximum number of characters; for kind `list`, of values.
    package let maxLength: Int?
    /// For kind `string`: returns the reason why a text is invalid, or nil.
    package let validate: (@Sendable (String) -> String?)?
    /// For kind `string`: the format that texts must have; nil if they may have any.
    package let format: TextFormat?
    package let policy: TweakPolicy
    package let unit: String?
    package let help: String?
    package let flags: TweakFlags
    /// The definition of a list's elements, of an optional's value, or of a point's two numbers; else empty.
    package let components: [TweakDefinition]

    package init(
        kind: TweakKind, limits: TweakLimits = .none, scale: TweakScale = .linear,
        choices: [TweakChoice<String>] = [], minLength: Int? = nil, maxLength: Int? = nil,
        validate: (@Sendable (String) -> String?)? = nil, format: TextFormat? = nil, policy: TweakPolicy = .reject,
        unit: String? = nil, help: String? = nil, flags: TweakFlags = [], components: [TweakDefinition] = []
    ) {
        self.kind = kind
        self.limits = limits
        self.scale = scale
        self.choices = choices
        self.minLength = minLength
        self.maxLength = maxLength
        self.validate = validate
        self.format = format
        self.policy = policy
        self.unit = unit
        self.help = help
        self.flags = flags
        self.components = components
    }

    /// Whether two declarations of one path agree in everything that can be compared.
    package func agrees(with other: TweakDefinition) -> Bool {
        kind == other.kind && limits == other.limits && scale == other.scale && choices == other.choices
            && minLength == other.minLength && maxLength == other.maxLength && policy == other.policy
            && format?.format.name == other.format?.format.name && unit == other.unit && help == other.help
            && flags == other.flags && components.count == other.components.count
            && zip(components, other.components).allSatisfy { $0.agrees(with: $1) }
    }

    /// The format of the value's text, or of the texts in a list or an optional.
    package var shownFormat: TweakFormat? { (components.count == 1 ? components[0].format : format)?.format }

    /// The definition of a list's elements or an optional's value.
    package var component: TweakDefinition? { components.count == 1 ? components[0] : nil }

    /// The range as text: `10...100`, `0...`, `...5`, of a point `0...320,0...200`; nil without one.
    package var rangeText: String? {
        if !components.isEmpty {
            let texts = components.map { $0.rangeText ?? "..." }
            return texts.allSatisfy { $0 == "..." } ? nil : texts.joined(separator: ",")
        }
        guard let (lower, upper) = bounds, lower != nil || upper != nil else { return nil }
        return "\(lower?.text ?? "")...\(upper?.text ?? "")"
    }

    /// The bounds as values of this kind; for a list or an optional, those of its values.
    package var bounds: (lower: TweakValue?, upper: TweakValue?)? {
        if let component { return component.bounds }
        if components.count == 2 {
            let (x, y) = (components[0].bounds, components[1].bounds)
            return (Self.point(x?.lower, y?.lower), Self.point(x?.upper, y?.upper))
        }
        return switch limits {
        case .none: nil
        case .whole(let lower, let upper, _, _): (lower.flatMap(whole), upper.flatMap(whole))
        case .real(let lower, let upper, _, _): (lower.map(TweakValue.number), upper.map(TweakValue.number))
        }
    }

    /// A point of two numbers; nil if one is missing.
    private static func point(_ x: TweakValue?, _ y: TweakValue?) -> TweakValue? {
        guard case .number(let x)? = x, case .number(let y)? = y else { return nil }
        return .point(TweakPoint(x: x, y: y))
    }

    /// The step as a value of this kind; for a point, the step of both numbers.
    package var step: TweakValue? {
        if let first = components.first { return first.step }
        return switch limits {
        case .none: nil
        case .whole(_, _, let step, _): step.flatMap(whole)
        case .real(_, _, let step, _): step.map(TweakValue.number)
        }
    }

    /// The value that steps are counted from.
    var origin: TweakValue? {
        switch limits {
        case .none: nil
        case .whole(let lower, _, _, let standard): (lower ?? standard).flatMap(whole)
        case .real(let lower, _, _, let standard): (lower ?? standard).map(TweakValue.number)
        }
    }

    /// An int, or a duration in nanoseconds; nil beyond 64 bits.
    func whole(_ value: Int128) -> TweakValue? {
        kind == .duration ? Int64(exactly: value).map { .duration(.nanoseconds($0)) } : TweakValue(whole: value)
    }

    /// A value's text for an error; a secret's value is not shown.
    package func shown(_ value: TweakValue) -> String {
        flags.contains(.secret) ? "the value" : kind == .string ? Quoting.excerpt(value.choiceName) : value.text
    }
}

extension TweakDefinition {
    func checkTexts(_ path: TweakPath) throws(TweakError) {
        let texts = [unit, help] + choices.flatMap { [$0.name, $0.label] }
        for case let text? in texts where !Quoting.isSafe(text) {
            throw path.refusal(
                .usage,
                "\(Quoting.excerpt(text)) contains control, invisible or bidirectional characters; "
                    + "remove them from names, units, choices and help")
        }
        if Set(choices.map(\.name)).count < choices.count {
            throw path.refusal(.usage, "two choices have the same name")
        }
    }
}

/// The range and step of an int (as it is), a duration (in nanoseconds) or a number.
///
/// Steps count from the lower bound, or from the default without one. Upper bound and default need not be on a step.
package enum TweakLimits: Equatable, Sendable {
    case none
    case whole(lower: Int128?, upper: Int128?, step: Int128?, default: Int128?)
    case real(lower: Double?, upper: Double?, step: Double?, default: Double?)

    /// The result of a check against the limits.
    package enum CheckResult<Number: Equatable & Sendable>: Equatable, Sendable {
        case fits
        case outside(nearest: Number)
        case offStep(nearest: Number)
    }
}

/// Checks 64-bit integers, signed or unsigned; no difference of two of them overflows 128 bits.
package func checkLimits(
    _ value: Int128, lower: Int128?, upper: Int128?, step: Int128?, default standard: Int128?
) -> TweakLimits.CheckResult<Int128> {
    if let lower, value < lower { return .outside(nearest: lower) }
    if let upper, value > upper { return .outside(nearest: upper) }
    guard let step, value != upper, value != standard else { return .fits }
    let distance = value - (lower ?? standard ?? 0)
    let rest = ((distance % step) + step) % step
    if rest == 0 { return .fits }
    let below = value - rest
    let above = min(below + step, upper ?? .max)
    // Without bounds the values are those of 64 signed bits, and steps beyond them are excluded.
    if below < lower ?? Int128(Int64.min) { return .offStep(nearest: above) }
    if above > upper ?? Int128(Int64.max) { return .offStep(nearest: below) }
    return .offStep(nearest: rest < above - value ? below : above)
}

/// Checks real numbers. A value is on a step if it is within a few rounding errors: 0.1 × 3 is on a step of 0.1.
package func checkLimits(
    _ value: Double, lower: Double?, upper: Double?, step: Double?, default standard: Double?
) -> TweakLimits.CheckResult<Double> {
    if let lower, value < lower { return .outside(nearest: lower) }
    if let upper, value > upper { return .outside(nearest: upper) }
    guard let step, value != upper, value != standard else { return .fits }
    let origin = lower ?? standard ?? 0
    // Two divisions if the difference overflows.
    let steps = (value - origin).isFinite ? (value - origin) / step : value / step - origin / step
    let tolerance = max(1e-9, steps.magnitude * 0x1p-50)
    // More steps than a double can count: every value is on one.
    if !steps.isFinite || (steps - steps.rounded()).magnitude <= tolerance { return .fits }
    let low = max(Decimals.multiple(steps.rounded(.down), of: step, from: origin), lower ?? -.infinity)
    let high = min(Decimals.multiple(steps.rounded(.up), of: step, from: origin), upper ?? .infinity)
    if !low.isFinite || !high.isFinite { return .offStep(nearest: low.isFinite ? low : high) }
    return .offStep(nearest: value - low < high - value ? low : high)
}
