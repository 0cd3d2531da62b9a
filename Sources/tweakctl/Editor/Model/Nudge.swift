// What an arrow key makes of a value: one step up or down, ten, or a tenth.

import Tweaks

/// How far a key goes.
enum Pace {
    case fine, normal, coarse

    fileprivate var factor: Double {
        switch self {
        case .fine: 0.1
        case .normal: 1
        case .coarse: 10
        }
    }
}

/// Moves values by steps.
enum Nudge {
    /// The value one step away; nil where the kind has no steps. At a bound it stays there.
    static func moved(_ tweak: EditorTweak, _ direction: Int, _ pace: Pace) -> TweakValue? {
        switch tweak.shown {
        case .bool?: .bool(direction > 0)
        case .choice(let name)?: choice(tweak, name, direction, wraps: false)
        case .int?, .unsigned?: whole(tweak, direction, pace).flatMap { TweakValue(whole: $0) }
        case .duration?:
            whole(tweak, direction, pace).flatMap { Int64(exactly: $0) }.map { .duration(.nanoseconds($0)) }
        case .number(let value)?: .number(real(value, tweak, direction, pace))
        default: nil
        }
    }

    /// Flips, or goes on to the next choice and from the last to the first.
    static func flipped(_ tweak: EditorTweak) -> TweakValue? {
        switch tweak.shown {
        case .bool(let value)?: .bool(!value)
        case .choice(let name)?: choice(tweak, name, 1, wraps: true)
        default: nil
        }
    }

    private static func choice(_ tweak: EditorTweak, _ name: String, _ direction: Int, wraps: Bool) -> TweakValue? {
        let count = tweak.choices.count
        guard count > 0 else { return nil }
        let position = (tweak.choices.firstIndex(of: name) ?? (direction > 0 ? -1 : count)) + direction
        let wanted = wraps ? (position + count) % count : min(max(position, 0), count - 1)
        return .choice(tweak.choices[wanted])
    }

    // MARK: The step

    /// The step of a key press: the declared one, or a round hundredth of the range. Ints go by one.
    static func step(_ tweak: EditorTweak, _ pace: Pace) -> Double {
        if let declared = tweak.step?.magnitude, declared > 0 {
            return pace == .coarse ? declared * 10 : declared
        }
        if tweak.kind == .int { return pace == .coarse ? 10 : 1 }
        let least = tweak.kind == .duration ? 1.0 : 0
        return max(least, natural(tweak) * pace.factor)
    }

    private static func natural(_ tweak: EditorTweak) -> Double {
        if let lower = tweak.lower?.magnitude, let upper = tweak.upper?.magnitude, upper > lower {
            return round((upper - lower) / 100)
        }
        let size = abs(tweak.shown?.magnitude ?? 0)
        if size == 0 { return tweak.kind == .duration ? 10_000_000 : 0.1 }
        return round(size / 50)
    }

    /// 1, 2 or 5 and zeros, not larger than the number.
    static func round(_ number: Double) -> Double {
        guard number.isFinite, number > 0 else { return 1 }
        var (power, places) = (1.0, 0)
        while power * 10 <= number * (1 + 1e-9), places < 308 { (power, places) = (power * 10, places + 1) }
        var (divisor, downwards) = (1.0, 0)
        while 1 / divisor > number * (1 + 1e-9), downwards < 307 {
            (divisor, downwards) = (divisor * 10, downwards + 1)
        }
        // A division by a power of ten is the nearest double; a product of tenths is not.
        let unit = downwards > 0 ? 1 / divisor : power
        let digit = number * (1 + 1e-9) / unit
        let factor = digit >= 5 ? 5.0 : digit >= 2 ? 2 : 1
        return downwards > 0 ? factor / divisor : factor * power
    }

    // MARK: Moving

    private static func whole(_ tweak: EditorTweak, _ direction: Int, _ pace: Pace) -> Int128? {
        guard let value = tweak.shown?.whole else { return nil }
        let step = Int128(exactly: max(1, self.step(tweak, pace)).rounded()) ?? 1
        let sum = value + step * Int128(direction)
        let (lower, upper) = (tweak.lower?.whole ?? Int128(Int64.min), tweak.upper?.whole ?? Int128(Int64.max))
        return lower <= upper ? min(max(sum, lower), upper) : sum
    }

    private static func real(_ value: Double, _ tweak: EditorTweak, _ direction: Int, _ pace: Pace) -> Double {
        let step = step(tweak, pace)
        let lower = tweak.lower?.magnitude ?? -.greatestFiniteMagnitude
        let upper = tweak.upper?.magnitude ?? .greatestFiniteMagnitude
        var sum = value + step * Double(direction)
        if let declared = tweak.step?.magnitude, declared > 0 {
            // Steps are counted from the lower bound; the next one lies in the direction of the key.
            let base = tweak.lower?.magnitude ?? 0
            sum = tidy(base + ((sum - base) / declared).rounded() * declared, declared)
        } else {
            sum = tidy(sum, round(min(step, natural(tweak)) / 10))
        }
        guard sum.isFinite, lower <= upper else { return value }
        return min(max(sum, lower), upper)
    }

    /// Without the dust of binary fractions: 0.3 and not 0.30000000000000004.
    private static func tidy(_ number: Double, _ unit: Double) -> Double {
        var scale = 1.0
        while scale < 1e15, abs(unit * scale - (unit * scale).rounded()) > 1e-9 * unit * scale { scale *= 10 }
        let scaled = number * scale
        return scaled.magnitude < 0x1p53 ? scaled.rounded() / scale : number
    }
}
