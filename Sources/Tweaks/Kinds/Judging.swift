// Judges values, whoever sends them: the one place where that is done.

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

/// A value to be judged, with what it is judged by.
package struct Judging {
    let value: TweakValue
    let definition: TweakDefinition
    let path: TweakPath
    let policy: TweakPolicy
}

extension TweakDefinition {
    /// Judges a value: the kind must match, then range, step, list, length and the program's own check.
    /// - Parameter policy: Overrides the declared policy, as the `value` property does to clamp.
    package func judge(
        _ value: TweakValue, for path: TweakPath, policy: TweakPolicy? = nil
    ) throws(TweakError) -> Judged {
        try kind.rules.judge(Judging(value: value, definition: self, path: path, policy: policy ?? self.policy))
    }

    /// How a value of this kind is written.
    var remedy: String { kind.rules.remedy(self) }

    /// `, in 10...100`
    var rangeRemedy: String { rangeText.map { ", in \($0)" } ?? "" }
}

extension Judging {
    /// Refuses a value of another kind.
    var wrongKind: TweakError {
        let kind = definition.kind
        return TweakError(
            .badValue, "\(path.token) is \(kind.phrase), not \(value.kind.phrase); \(definition.remedy)", path: path)
    }

    func refusal(_ code: TweakError.Code, _ reason: String) -> TweakError {
        TweakError(code, "\(path.token): \(reason)", path: path)
    }

    /// The same for a part of the value, such as an element of a list.
    func component(_ value: TweakValue, _ definition: TweakDefinition) throws(TweakError) -> Judged {
        try definition.judge(value, for: path, policy: policy)
    }

    // MARK: Range and step

    func outside(_ value: TweakValue, nearest: TweakValue) throws(TweakError) -> Judged {
        if policy != .reject { return Judged(nearest, .clamped(from: value)) }
        throw refusal(.outOfRange, "\(definition.shown(value)) is outside \(definition.rangeText ?? "")")
    }

    func offStep(_ value: TweakValue, nearest: TweakValue) throws(TweakError) -> Judged {
        if policy == .snap { return Judged(nearest, .snapped(from: value)) }
        let (step, origin) = (definition.step?.text ?? "", definition.origin?.text ?? "")
        throw refusal(
            .outOfRange, "\(value.text) is not on a step of \(step) from \(origin); the nearest is \(nearest.text)")
    }

    /// Judges an int, or a duration's nanoseconds.
    func whole(_ whole: Int128) throws(TweakError) -> Judged {
        // Without an upper bound a value is one of 64 signed bits: no other type leaves it out.
        guard let value = definition.whole(whole), whole <= Int64.max || definition.bounds?.upper != nil else {
            let shown = definition.flags.contains(.secret) ? "the value" : "\(whole)"
            throw refusal(.badValue, "\(shown) is beyond 64 signed bits; \(definition.remedy)")
        }
        guard case .whole(let lower, let upper, let step, let standard) = definition.limits else {
            return Judged(value)
        }
        switch Tweaks.judge(whole, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return Judged(value)
        case .outside(let nearest): return try outside(value, nearest: definition.whole(nearest) ?? value)
        case .offStep(let nearest): return try offStep(value, nearest: definition.whole(nearest) ?? value)
        }
    }

    /// Judges a number.
    func real(_ value: Double) throws(TweakError) -> Judged {
        guard value.isFinite else { throw refusal(.badValue, "\(value) is no finite number; \(definition.remedy)") }
        guard case .real(let lower, let upper, let step, let standard) = definition.limits else {
            return Judged(.number(value))
        }
        switch Tweaks.judge(value, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return Judged(.number(value))
        case .outside(let nearest): return try outside(.number(value), nearest: .number(nearest))
        case .offStep(let nearest): return try offStep(.number(value), nearest: .number(nearest))
        }
    }
}
