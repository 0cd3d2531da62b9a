// Judges every value, wherever it comes from, and defines what became of it.

/// A value that passed, and what was asked for where that was something else.
package struct Judged: Sendable {
    package let value: TweakValue
    package let adjustment: TweakAdjustment

    init(_ value: TweakValue, _ adjustment: TweakAdjustment = .none) {
        (self.value, self.adjustment) = (value, adjustment)
    }
}

/// What a tweak declared to clamp or snap made of a value.
public enum TweakAdjustment: Hashable, Sendable {
    /// The value was taken as it is.
    case none
    /// The value lay outside the range.
    indirect case clamped(from: TweakValue)
    /// The value was not on a step.
    indirect case snapped(from: TweakValue)
}

extension TweakDefinition {
    /// Judges a value: the kind must match, then range, step, list, length and the program's own check.
    /// - Parameter policy: Overrides the declared policy, as the `value` property does to clamp.
    package func judge(
        _ value: TweakValue, for path: TweakPath, policy: TweakPolicy? = nil
    ) throws(TweakError) -> Judged {
        try kind.rules.judge(value, by: self, for: path, policy ?? self.policy)
    }

    /// How a value of this kind is written.
    var remedy: String { kind.rules.remedy(self) }

    /// `, in 10...100`
    var rangeRemedy: String { rangeText.map { ", in \($0)" } ?? "" }

    /// Refuses a value of another kind.
    func wrongKind(_ value: TweakValue, _ path: TweakPath) -> TweakError {
        TweakError(.badValue, "\(path.token) is \(kind.phrase), not \(value.kind.phrase); \(remedy)", path: path)
    }

    // MARK: Range and step

    func outside(
        _ value: TweakValue, nearest: TweakValue, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> Judged {
        if policy != .reject { return Judged(nearest, .clamped(from: value)) }
        throw path.refusal(.outOfRange, "\(shown(value)) is outside \(rangeText ?? "")")
    }

    private func offStep(
        _ value: TweakValue, nearest: TweakValue, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> Judged {
        if policy == .snap { return Judged(nearest, .snapped(from: value)) }
        let (step, origin) = (step?.text ?? "", origin?.text ?? "")
        throw path.refusal(
            .outOfRange, "\(value.text) is not on a step of \(step) from \(origin); the nearest is \(nearest.text)")
    }

    /// Judges an int, or a duration's nanoseconds.
    func judgeWhole(_ whole: Int128, _ path: TweakPath, _ policy: TweakPolicy) throws(TweakError) -> Judged {
        // Without an upper bound a value is one of 64 signed bits: no other type leaves it out.
        guard let value = self.whole(whole), whole <= Int64.max || bounds?.upper != nil else {
            let shown = flags.contains(.secret) ? "the value" : "\(whole)"
            throw path.refusal(.badValue, "\(shown) is beyond 64 signed bits; \(remedy)")
        }
        guard case .whole(let lower, let upper, let step, let standard) = limits else { return Judged(value) }
        switch Tweaks.judge(whole, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return Judged(value)
        case .outside(let nearest): return try outside(value, nearest: self.whole(nearest) ?? value, path, policy)
        case .offStep(let nearest): return try offStep(value, nearest: self.whole(nearest) ?? value, path, policy)
        }
    }

    /// Judges a number.
    func judgeReal(_ value: Double, _ path: TweakPath, _ policy: TweakPolicy) throws(TweakError) -> Judged {
        guard value.isFinite else { throw path.refusal(.badValue, "\(value) is no finite number; \(remedy)") }
        guard case .real(let lower, let upper, let step, let standard) = limits else { return Judged(.number(value)) }
        switch Tweaks.judge(value, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return Judged(.number(value))
        case .outside(let nearest): return try outside(.number(value), nearest: .number(nearest), path, policy)
        case .offStep(let nearest): return try offStep(.number(value), nearest: .number(nearest), path, policy)
        }
    }
}

extension TweakPath {
    /// An error about the tweak of this path.
    func refusal(_ code: TweakError.Code, _ reason: String) -> TweakError {
        TweakError(code, "\(token): \(reason)", path: self)
    }
}

extension TweakAdjustment {
    /// What became of a value whose parts were judged one by one.
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
