// Computes the value that an arrow key sets: one step up or down, ten steps, or a tenth.

import Tweaks

/// The size of a step.
enum StepSize {
    case fine, normal, coarse

    fileprivate var factor: Double {
        switch self {
        case .fine: 0.1
        case .normal: 1
        case .coarse: 10
        }
    }
}

/// Steps values.
enum ValueStepper {
    /// The value one step away, clamped to the bounds; nil if the kind has no steps.
    static func stepped(_ tweak: EditorTweak, _ direction: Int, _ stepSize: StepSize) -> TweakValue? {
        switch tweak.shown {
        case .bool?: .bool(direction > 0)
        case .choice(let name)?: choice(tweak, name, direction, wraps: false)
        case .int?, .unsigned?: whole(tweak, direction, stepSize).flatMap { TweakValue(whole: $0) }
        case .duration?:
            whole(tweak, direction, stepSize).flatMap { Int64(exactly: $0) }.map { .duration(.nanoseconds($0)) }
        case .number(let value)?: .number(real(value, tweak, direction, stepSize))
        default: nil
        }
    }

    /// The opposite bool, or the next choice, from the last to the first.
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

    // MARK: Step size

    /// The step if none is declared: a round hundredth of the range. Ints step by 1.
    private static func step(_ tweak: EditorTweak, _ stepSize: StepSize) -> Double {
        if tweak.kind == .int { return stepSize == .coarse ? 10 : 1 }
        let least = tweak.kind == .duration ? 1.0 : 0
        return max(least, Decimals.product(natural(tweak), stepSize.factor))
    }

    private static func natural(_ tweak: EditorTweak) -> Double {
        if let lower = tweak.lower?.magnitude, let upper = tweak.upper?.magnitude, upper > lower {
            return round((upper - lower) / 100)
        }
        let size = abs(tweak.shown?.magnitude ?? 0)
        if size == 0 { return tweak.kind == .duration ? 10_000_000 : 0.1 }
        return round(size / 50)
    }

    /// The largest 1, 2 or 5 times a power of ten that is not above the number.
    static func round(_ number: Double) -> Double {
        // A double that is a rounding error below a round number counts as that number.
        guard number > 0, number.isFinite,
            let decimal = ExactDecimal(min(number * (1 + 1e-9), .greatestFiniteMagnitude)),
            let first = decimal.digits.first
        else { return 1 }
        let digit = first >= 5 ? 5 : first >= 2 ? 2 : 1
        return Double("\(digit)e\(decimal.exponent + decimal.digits.count - 1)") ?? 1
    }

    // MARK: Stepping

    private static func whole(_ tweak: EditorTweak, _ direction: Int, _ stepSize: StepSize) -> Int128? {
        guard let value = tweak.shown?.whole else { return nil }
        let wanted: Int128?
        if let range = tweak.range, tweak.isByRatio {
            let target = scaled(Double(value), tweak.scale, range, direction, stepSize, least: 1)
            let next = Int128(exactly: target.rounded()) ?? value
            wanted = next == value ? value + Int128(direction) : next
        } else if let step = tweak.step?.whole, step > 0 {
            wanted = onGrid(value, tweak, step, direction, stepSize)
        } else {
            wanted = value + (Int128(exactly: max(1, step(tweak, stepSize)).rounded()) ?? 1) * Int128(direction)
        }
        let (lower, upper) = (tweak.lower?.whole ?? Int128(Int64.min), tweak.upper?.whole ?? Int128(Int64.max))
        return wanted.map { lower <= upper ? min(max($0, lower), upper) : $0 }
    }

    private static func real(_ value: Double, _ tweak: EditorTweak, _ direction: Int, _ stepSize: StepSize) -> Double {
        let wanted: Double
        if let range = tweak.range, tweak.isByRatio {
            wanted = scaled(value, tweak.scale, range, direction, stepSize, least: 0)
        } else if let step = tweak.step?.magnitude, step > 0 {
            wanted = onGrid(value, tweak, step, direction, stepSize)
        } else {
            let step = step(tweak, stepSize)
            wanted = Decimals.sum(value, direction < 0 ? -step : step)
        }
        let lower = tweak.lower?.magnitude ?? -.greatestFiniteMagnitude
        let upper = tweak.upper?.magnitude ?? .greatestFiniteMagnitude
        guard wanted.isFinite, lower <= upper else { return value }
        return min(max(wanted, lower), upper)
    }

    // Steps count from the lower bound, or from the default where there is none, as the server counts them.

    private static func onGrid(
        _ value: Int128, _ tweak: EditorTweak, _ step: Int128, _ direction: Int, _ stepSize: StepSize
    ) -> Int128 {
        let distance = value - (tweak.lower?.whole ?? tweak.defaultValue?.whole ?? 0)
        let below = value - ((distance % step) + step) % step
        let start = direction < 0 && below != value ? below + step : below
        let next = start + step * Int128(direction) * (stepSize == .coarse ? 10 : 1)
        return stepSize != .coarse ? end(value, next, tweak.defaultValue?.whole) : next
    }

    private static func onGrid(
        _ value: Double, _ tweak: EditorTweak, _ step: Double, _ direction: Int, _ stepSize: StepSize
    ) -> Double {
        let origin = tweak.lower?.magnitude ?? tweak.defaultValue?.magnitude ?? 0
        let steps = (value - origin) / step
        // Rounding errors count as being on a step.
        let start = (steps - steps.rounded()).magnitude < 1e-9 ? steps.rounded() : steps
        let from = start.rounded(direction < 0 ? .up : .down)
        let next = Decimals.multiple(from + Double(direction * (stepSize == .coarse ? 10 : 1)), of: step, from: origin)
        return stepSize != .coarse ? end(value, next, tweak.defaultValue?.magnitude) : next
    }

    /// The end of a single step, which stops at the default: that need not be on a step.
    private static func end<Number: Comparable>(_ value: Number, _ next: Number, _ standard: Number?) -> Number {
        guard let standard, min(value, next) < standard, standard < max(value, next) else { return next }
        return standard
    }

    /// A hundredth of the scale, which is a ratio on a logarithmic one; for a fine or a coarse step, a tenth of that or
    /// ten.
    private static func scaled(
        _ value: Double, _ scale: TweakScale, _ range: ClosedRange<Double>, _ direction: Int, _ stepSize: StepSize,
        least: Double
    ) -> Double {
        let place = scale.position(of: value, in: range) + Double(direction) * stepSize.factor / 100
        if place <= 0 { return range.lowerBound }
        if place >= 1 { return range.upperBound }
        let target = scale.value(at: place, in: range)
        // As few digits as distinguish it from adjacent values.
        let unit = max(least, round((target - value).magnitude / 5))
        return Decimals.product((target / unit).rounded(), unit)
    }
}

extension EditorTweak {
    /// Whether steps are ratios: on a logarithmic scale without a declared step.
    fileprivate var isByRatio: Bool { scale == .logarithmic && step == nil }
}
