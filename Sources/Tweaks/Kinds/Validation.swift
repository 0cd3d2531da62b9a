// Validates values against the kind, range and step of a tweak, and clamps or snaps them where declared.

/// A valid value, and how it was adjusted.
package struct ValidatedValue: Sendable {
    package let value: TweakValue
    package let adjustment: TweakAdjustment

    init(_ value: TweakValue, _ adjustment: TweakAdjustment = .none) {
        (self.value, self.adjustment) = (value, adjustment)
    }
}

/// How a tweak's policy (clamp or snap) changed a value.
public enum TweakAdjustment: Hashable, Sendable {
    /// The value was accepted unchanged.
    case none
    /// The value lay outside the range.
    indirect case clamped(from: TweakValue)
    /// The value was not on a step.
    indirect case snapped(from: TweakValue)
}

extension TweakDefinition {
    /// Validates a value: the kind first, then range, step, choices, length and the program's own check.
    /// - Parameter policy: Overrides the declared policy, as the `value` property does to clamp.
    package func validate(
        _ value: TweakValue, for path: TweakPath, policy: TweakPolicy? = nil
    ) throws(TweakError) -> ValidatedValue {
        try kind.rules.validate(value, by: self, for: path, policy ?? self.policy)
    }

    /// How to write a value of this kind, for errors.
    var remedy: String { kind.rules.remedy(self) }

    /// `, in 10...100`
    var rangeRemedy: String { rangeText.map { ", in \($0)" } ?? "" }

    /// The error for a value of another kind.
    func wrongKind(_ value: TweakValue, _ path: TweakPath) -> TweakError {
        TweakError(.badValue, "\(path.token) is \(kind.phrase), not \(value.kind.phrase); \(remedy)", path: path)
    }

    // MARK: Range and step

    func outside(
        _ value: TweakValue, nearest: TweakValue, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        if policy != .reject { return ValidatedValue(nearest, .clamped(from: value)) }
        throw path.refusal(.outOfRange, "\(shown(value)) is outside \(rangeText ?? "")")
    }

    private func offStep(
        _ value: TweakValue, nearest: TweakValue, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        if policy == .snap { return ValidatedValue(nearest, .snapped(from: value)) }
        let (step, origin) = (step?.text ?? "", origin?.text ?? "")
        throw path.refusal(
            .outOfRange, "\(value.text) is not on a step of \(step) from \(origin); the nearest is \(nearest.text)")
    }

    /// Validates an int, or a duration's nanoseconds.
    func validateWhole(_ whole: Int128, _ path: TweakPath, _ policy: TweakPolicy) throws(TweakError) -> ValidatedValue {
        // Without an upper bound a value has 64 signed bits: types beyond those declare one.
        guard let value = self.whole(whole), whole <= Int64.max || bounds?.upper != nil else {
            let shown = flags.contains(.secret) ? "the value" : "\(whole)"
            throw path.refusal(.badValue, "\(shown) does not fit in 64 signed bits; \(remedy)")
        }
        guard case .whole(let lower, let upper, let step, let standard) = limits else { return ValidatedValue(value) }
        switch checkLimits(whole, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return ValidatedValue(value)
        case .outside(let nearest): return try outside(value, nearest: self.whole(nearest) ?? value, path, policy)
        case .offStep(let nearest): return try offStep(value, nearest: self.whole(nearest) ?? value, path, policy)
        }
    }

    /// Validates a number.
    func validateReal(_ value: Double, _ path: TweakPath, _ policy: TweakPolicy) throws(TweakError) -> ValidatedValue {
        guard value.isFinite else { throw path.refusal(.badValue, "\(value) is not a finite number; \(remedy)") }
        guard case .real(let lower, let upper, let step, let standard) = limits else {
            return ValidatedValue(.number(value))
        }
        switch checkLimits(value, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return ValidatedValue(.number(value))
        case .outside(let nearest): return try outside(.number(value), nearest: .number(nearest), path, policy)
        case .offStep(let nearest): return try offStep(.number(value), nearest: .number(nearest), path, policy)
        }
    }
}

extension TweakPath {
    /// An error about the tweak with this path.
    func refusal(_ code: TweakError.Code, _ reason: String) -> TweakError {
        TweakError(code, "\(token): \(reason)", path: self)
    }
}

extension TweakAdjustment {
    /// The adjustment of a whole value whose parts were validated separately.
    init(of parts: some Sequence<TweakAdjustment>, to value: TweakValue) {
        self = .none
        for part in parts {
            switch part {
            case .none: break
            case .clamped: self = .clamped(from: value)
            case .snapped: if self == .none { self = .snapped(from: value) }
            }
        }
    }
}
