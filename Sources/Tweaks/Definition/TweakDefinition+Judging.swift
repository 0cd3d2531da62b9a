// The one place where a value is judged.

/// A value that passed, and what was asked for where that was something else.
package struct Judged: Sendable {
    package let value: TweakValue
    package let adjustment: TweakAdjustment
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
    /// Judges a value: the kind must match exactly, then range, step, list, length and the program's own check.
    /// - Parameter policy: Overrides the declared policy, as the `value` property does to clamp.
    package func judge(
        _ value: TweakValue, for path: TweakPath, policy: TweakPolicy? = nil
    ) throws(TweakError) -> Judged {
        switch (kind, value) {
        case (.bool, .bool), (.color, .color): return Judged(value: value, adjustment: .none)
        case (.int, .int(let whole)): return try judgeWhole(Int128(whole), path, policy ?? self.policy)
        case (.int, .unsigned(let whole)): return try judgeWhole(Int128(whole), path, policy ?? self.policy)
        case (.int, .number(let number)) where number.rounded() == number && number.isFinite:
            guard let whole = TweakValue(whole: Int128(max(min(number, 0x1p100), -0x1p100))) else {
                // Beyond 64 bits, and so beyond any bound there is.
                guard let bound = number < 0 ? bounds?.lower : bounds?.upper else { throw wrongKind(value, path) }
                return try outside(value, nearest: bound, path, policy ?? self.policy)
            }
            return try judge(whole, for: path, policy: policy)
        case (.number, .number(let number)): return try judgeReal(number, path, policy ?? self.policy)
        case (.number, .int(let whole)) where Double(exactly: whole) != nil:
            return try judgeReal(Double(whole), path, policy ?? self.policy)
        case (.number, .unsigned(let whole)) where Double(exactly: whole) != nil:
            return try judgeReal(Double(whole), path, policy ?? self.policy)
        case (.duration, .duration(let duration)):
            guard let nanoseconds = duration.exactNanoseconds else {
                throw TweakError(
                    .badValue, "\(path.token): a duration is a 64-bit count of nanoseconds; this one is not", path: path
                )
            }
            return try judgeWhole(Int128(nanoseconds), path, policy ?? self.policy)
        case (.string, .string(let text)): return try judgeText(text, path)
        case (.choice, .choice(let name)), (.choice, .string(let name)): return try judgeChoice(name, path)
        case (.action, _): throw notAValue(path)
        default: throw wrongKind(value, path)
        }
    }

    private func wrongKind(_ value: TweakValue, _ path: TweakPath) -> TweakError {
        TweakError(
            .badValue, "\(path.token) is \(kind.phrase), not \(value.kind.phrase); \(remedy)", path: path)
    }

    private func judgeWhole(_ whole: Int128, _ path: TweakPath, _ policy: TweakPolicy) throws(TweakError) -> Judged {
        // Without an upper bound a value is one of 64 signed bits: no other type leaves it out.
        guard let value = self.whole(whole), whole <= Int64.max || bounds?.upper != nil else {
            throw TweakError(
                .badValue,
                "\(path.token): \(flags.contains(.secret) ? "the value" : "\(whole)") is beyond 64 signed bits; \(remedy)",
                path: path)
        }
        guard case .whole(let lower, let upper, let step, let standard) = limits else {
            return Judged(value: value, adjustment: .none)
        }
        switch Tweaks.judge(whole, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return Judged(value: value, adjustment: .none)
        case .outside(let nearest): return try outside(value, nearest: self.whole(nearest) ?? value, path, policy)
        case .offStep(let nearest): return try offStep(value, nearest: self.whole(nearest) ?? value, path, policy)
        }
    }

    private func judgeReal(
        _ value: Double, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> Judged {
        guard value.isFinite else {
            throw TweakError(.badValue, "\(path.token): \(value) is no finite number; \(remedy)", path: path)
        }
        guard case .real(let lower, let upper, let step, let standard) = limits else {
            return Judged(value: .number(value), adjustment: .none)
        }
        switch Tweaks.judge(value, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return Judged(value: .number(value), adjustment: .none)
        case .outside(let nearest):
            return try outside(.number(value), nearest: .number(nearest), path, policy)
        case .offStep(let nearest):
            return try offStep(.number(value), nearest: .number(nearest), path, policy)
        }
    }

    private func outside(
        _ value: TweakValue, nearest: TweakValue, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> Judged {
        if policy != .reject { return Judged(value: nearest, adjustment: .clamped(from: value)) }
        let range = rangeText ?? ""
        throw TweakError(.outOfRange, "\(path.token): \(shown(value)) is outside \(range)", path: path)
    }

    private func offStep(
        _ value: TweakValue, nearest: TweakValue, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> Judged {
        if policy == .snap { return Judged(value: nearest, adjustment: .snapped(from: value)) }
        let step = step?.text ?? ""
        let origin = origin?.text ?? ""
        throw TweakError(
            .outOfRange,
            "\(path.token): \(value.text) is not on a step of \(step) from \(origin); the nearest is \(nearest.text)",
            path: path)
    }

    private func judgeText(_ text: String, _ path: TweakPath) throws(TweakError) -> Judged {
        if let maxLength, text.count > maxLength {
            throw TweakError(
                .outOfRange, "\(path.token): \(text.count) characters are too many; at most \(maxLength)", path: path)
        }
        if let reason = validate?(text) {
            // The program's own words, unless they give a secret away.
            let givesAway = flags.contains(.secret) && (text.isEmpty || !reason.places(of: text).isEmpty)
            let told = givesAway ? "the value is refused" : Quoting.sanitized(reason)
            throw TweakError(.badValue, "\(path.token): \(told)", path: path)
        }
        return Judged(value: .string(text), adjustment: .none)
    }

    private func judgeChoice(_ name: String, _ path: TweakPath) throws(TweakError) -> Judged {
        // By bytes, not by `String ==`, so that what is held is exactly what was declared.
        guard let choice = choices.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            let shown = flags.contains(.secret) ? "the value" : Quoting.excerpt(name)
            let near = flags.contains(.secret) ? nil : Spelling.nearest(to: name, among: choices.map(\.name))
            let guess = near.map { "; did you mean \(TweakValue.choice($0).text)?" } ?? ""
            throw TweakError(
                .notAChoice, "\(path.token): \(shown) is none of \(choiceText)\(guess)", path: path)
        }
        return Judged(value: .choice(choice.name), adjustment: .none)
    }

    /// The choices for an error, shortened where there are many.
    private var choiceText: String {
        let names = choices.prefix(12).map { TweakValue.choice($0.name).text }.joined(separator: ", ")
        return choices.count > 12 ? names + ", … (\(choices.count) choices; see describe)" : names
    }

    func notAValue(_ path: TweakPath) -> TweakError {
        TweakError(.badValue, "\(path.token) is an action and has no value; use: run \(path.token)", path: path)
    }

    /// How a value of this kind is written.
    var remedy: String {
        switch kind {
        case .bool: "write true or false"
        case .int: "write a whole number of 64 bits such as 42 or 0x2a" + range
        case .number: "write a finite number such as 72 or 1.5e3" + range
        case .string: "write text in quotes"
        case .color: "write #RRGGBB, #RRGGBBAA, rgb(r,g,b), hsl(h,s%,l%) or a CSS color name"
        case .choice: "write one of \(choiceText)"
        case .duration: "write a time such as 250ms, 1.5s or 1h30m" + range
        case .action: "use run"
        }
    }

    private var range: String { rangeText.map { ", in \($0)" } ?? "" }
}
