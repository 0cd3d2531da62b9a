// Defines the untyped definition of a tweak: kind, limits, choices, texts and flags.

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
    package let policy: TweakPolicy
    package let unit: String?
    package let help: String?
    package let flags: TweakFlags
    /// The definition of a list's elements, of an optional's value, or of a point's two numbers; else empty.
    package let components: [TweakDefinition]

    package init(
        kind: TweakKind, limits: TweakLimits = .none, scale: TweakScale = .linear,
        choices: [TweakChoice<String>] = [], minLength: Int? = nil, maxLength: Int? = nil,
        validate: (@Sendable (String) -> String?)? = nil, policy: TweakPolicy = .reject, unit: String? = nil,
        help: String? = nil, flags: TweakFlags = [], components: [TweakDefinition] = []
    ) {
        self.kind = kind
        self.limits = limits
        self.scale = scale
        self.choices = choices
        self.minLength = minLength
        self.maxLength = maxLength
        self.validate = validate
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
            && unit == other.unit && help == other.help
            && flags == other.flags && components.count == other.components.count
            && zip(components, other.components).allSatisfy { $0.agrees(with: $1) }
    }

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
        if !components.isEmpty { return joined(components.map(\.bounds)) }
        return switch limits {
        case .none: nil
        case .whole(let lower, let upper, _, _): (lower.flatMap(whole), upper.flatMap(whole))
        case .real(let lower, let upper, _, _): (lower.map(TweakValue.number), upper.map(TweakValue.number))
        }
    }

    private func joined(
        _ bounds: [(lower: TweakValue?, upper: TweakValue?)?]
    ) -> (lower: TweakValue?, upper: TweakValue?)? {
        guard bounds.count == 2 else { return bounds[0] }
        return (
            TweakValue(x: bounds[0]?.lower, y: bounds[1]?.lower), TweakValue(x: bounds[0]?.upper, y: bounds[1]?.upper)
        )
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
        flags.contains(.secret) ? "the value" : kind == .string ? Quoting.excerpt(rawText(value)) : value.text
    }

    private func rawText(_ value: TweakValue) -> String {
        if case .string(let text) = value { text } else { value.text }
    }
}

extension TweakValue {
    /// A point of two numbers; nil if one is missing.
    fileprivate init?(x: TweakValue?, y: TweakValue?) {
        guard case .number(let x)? = x, case .number(let y)? = y else { return nil }
        self = .point(TweakPoint(x: x, y: y))
    }
}
