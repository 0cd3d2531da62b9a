// Checks values against range and step, for whole and for real numbers.

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

/// Arithmetic on doubles as their shortest texts have them: the nearest double to the exact decimal result.
package enum Decimals {
    /// `origin + count × step`.
    package static func multiple(_ count: Double, of step: Double, from origin: Double) -> Double {
        guard let count = ExactDecimal(count), let step = ExactDecimal(step), let origin = ExactDecimal(origin) else {
            // NaN, or infinite.
            return origin + count * step
        }
        return origin.plus(count.times(step)).nearest
    }

    /// `left + right`: 0.1 + 0.2 is 0.3.
    package static func sum(_ left: Double, _ right: Double) -> Double {
        guard let first = ExactDecimal(left), let second = ExactDecimal(right) else { return left + right }
        return first.plus(second).nearest
    }

    /// `left × right`.
    package static func product(_ left: Double, _ right: Double) -> Double { multiple(left, of: right, from: 0) }
}
