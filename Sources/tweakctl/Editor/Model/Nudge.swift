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

    /// The step of a key press where none is declared: a round hundredth of the range. Ints go by one.
    private static func step(_ tweak: EditorTweak, _ pace: Pace) -> Double {
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
        let wanted: Int128?
        if let range = tweak.range, tweak.isByRatio {
            let target = scaled(Double(value), tweak.scale, range, direction, pace, least: 1)
            let next = Int128(exactly: target.rounded()) ?? value
            wanted = next == value ? value + Int128(direction) : next
        } else if let step = tweak.step?.whole, step > 0 {
            wanted = onGrid(value, tweak, step, direction, pace)
        } else {
            wanted = value + (Int128(exactly: max(1, step(tweak, pace)).rounded()) ?? 1) * Int128(direction)
        }
        let (lower, upper) = (tweak.lower?.whole ?? Int128(Int64.min), tweak.upper?.whole ?? Int128(Int64.max))
        return wanted.map { lower <= upper ? min(max($0, lower), upper) : $0 }
    }

    private static func real(_ value: Double, _ tweak: EditorTweak, _ direction: Int, _ pace: Pace) -> Double {
        let wanted: Double
        if let range = tweak.range, tweak.isByRatio {
            wanted = scaled(value, tweak.scale, range, direction, pace, least: 0)
        } else if let step = tweak.step?.magnitude, step > 0 {
            wanted = onGrid(value, tweak, step, direction, pace)
        } else {
            let step = step(tweak, pace)
            wanted = tidy(value + step * Double(direction), round(min(step, natural(tweak)) / 10))
        }
        let lower = tweak.lower?.magnitude ?? -.greatestFiniteMagnitude
        let upper = tweak.upper?.magnitude ?? .greatestFiniteMagnitude
        guard wanted.isFinite, lower <= upper else { return value }
        return min(max(wanted, lower), upper)
    }

    // Steps count from the lower bound, or from the default where there is none, as the server counts them.

    private static func onGrid(
        _ value: Int128, _ tweak: EditorTweak, _ step: Int128, _ direction: Int, _ pace: Pace
    ) -> Int128 {
        let distance = value - (tweak.lower?.whole ?? tweak.standard?.whole ?? 0)
        let below = value - ((distance % step) + step) % step
        let start = direction < 0 && below != value ? below + step : below
        let next = start + step * Int128(direction) * (pace == .coarse ? 10 : 1)
        return pace != .coarse ? end(value, next, tweak.standard?.whole) : next
    }

    private static func onGrid(
        _ value: Double, _ tweak: EditorTweak, _ step: Double, _ direction: Int, _ pace: Pace
    ) -> Double {
        let origin = tweak.lower?.magnitude ?? tweak.standard?.magnitude ?? 0
        let steps = (value - origin) / step
        // On a step when it is within a rounding of it.
        let start = (steps - steps.rounded()).magnitude < 1e-9 ? steps.rounded() : steps
        let from = start.rounded(direction < 0 ? .up : .down)
        let next = Decimals.multiple(from + Double(direction * (pace == .coarse ? 10 : 1)), of: step, from: origin)
        return pace != .coarse ? end(value, next, tweak.standard?.magnitude) : next
    }

    /// Where a single step ends: the default need not be on a step, and is not passed.
    private static func end<Number: Comparable>(_ value: Number, _ next: Number, _ standard: Number?) -> Number {
        guard let standard, min(value, next) < standard, standard < max(value, next) else { return next }
        return standard
    }

    /// A hundredth of the way from bound to bound, on a scale on which that is a ratio; a tenth or ten of them.
    private static func scaled(
        _ value: Double, _ scale: TweakScale, _ range: ClosedRange<Double>, _ direction: Int, _ pace: Pace,
        least: Double
    ) -> Double {
        let place = scale.position(of: value, in: range) + Double(direction) * pace.factor / 100
        if place <= 0 { return range.lowerBound }
        if place >= 1 { return range.upperBound }
        let target = scale.value(at: place, in: range)
        // As few digits as tell it from its neighbours.
        let unit = max(least, round((target - value).magnitude / 5))
        return tidy((target / unit).rounded() * unit, unit)
    }

    /// Without the dust of binary fractions: 0.3 and not 0.30000000000000004.
    private static func tidy(_ number: Double, _ unit: Double) -> Double {
        var scale = 1.0
        while scale < 1e15, abs(unit * scale - (unit * scale).rounded()) > 1e-9 * unit * scale { scale *= 10 }
        let scaled = number * scale
        return scaled.magnitude < 0x1p53 ? scaled.rounded() / scale : number
    }
}

extension EditorTweak {
    /// Whether equal presses are equal ratios: a declared step is kept.
    fileprivate var isByRatio: Bool { scale == .logarithmic && step == nil }
}
