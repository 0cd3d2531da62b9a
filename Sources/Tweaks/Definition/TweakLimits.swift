// Range and step, as arithmetic on whole and on real numbers.

/// The range and step of an int (as it is), a duration (in nanoseconds) or a number.
///
/// Steps count from the lower bound, or from the default where there is none. Upper bound and default need not be on one.
package enum TweakLimits: Equatable, Sendable {
    case none
    case whole(lower: Int128?, upper: Int128?, step: Int128?, default: Int128?)
    case real(lower: Double?, upper: Double?, step: Double?, default: Double?)

    /// How a value relates to the limits.
    package enum Finding<Number: Equatable & Sendable>: Equatable, Sendable {
        case fits
        case outside(nearest: Number)
        case offStep(nearest: Number)
    }
}

/// Judges whole numbers of 64 bits, signed or not; no difference of two of them overflows 128 bits.
package func judge(
    _ value: Int128, lower: Int128?, upper: Int128?, step: Int128?, default standard: Int128?
) -> TweakLimits.Finding<Int128> {
    if let lower, value < lower { return .outside(nearest: lower) }
    if let upper, value > upper { return .outside(nearest: upper) }
    guard let step, value != upper, value != standard else { return .fits }
    let distance = value - (lower ?? standard ?? 0)
    let rest = ((distance % step) + step) % step
    if rest == 0 { return .fits }
    let below = value - rest
    let above = min(below + step, upper ?? .max)
    // Without bounds the values are those of 64 signed bits, and a step beyond them is none.
    if below < lower ?? Int128(Int64.min) { return .offStep(nearest: above) }
    if above > upper ?? Int128(Int64.max) { return .offStep(nearest: below) }
    return .offStep(nearest: rest < above - value ? below : above)
}

/// Judges real numbers. A value counts as on step when it is within a few roundings of it: 0.1 × 3 is on a step of 0.1.
package func judge(
    _ value: Double, lower: Double?, upper: Double?, step: Double?, default standard: Double?
) -> TweakLimits.Finding<Double> {
    if let lower, value < lower { return .outside(nearest: lower) }
    if let upper, value > upper { return .outside(nearest: upper) }
    guard let step, value != upper, value != standard else { return .fits }
    let origin = lower ?? standard ?? 0
    // Two divisions where the difference is more than a double holds.
    let steps = (value - origin).isFinite ? (value - origin) / step : value / step - origin / step
    let tolerance = max(1e-9, steps.magnitude * 0x1p-50)
    // So many steps that a double cannot count them: every value is on one.
    if !steps.isFinite || (steps - steps.rounded()).magnitude <= tolerance { return .fits }
    let low = max(Decimals.multiple(steps.rounded(.down), of: step, from: origin), lower ?? -.infinity)
    let high = min(Decimals.multiple(steps.rounded(.up), of: step, from: origin), upper ?? .infinity)
    if !low.isFinite || !high.isFinite { return .offStep(nearest: low.isFinite ? low : high) }
    return .offStep(nearest: value - low < high - value ? low : high)
}

/// Arithmetic without float dust: results are rounded to the decimals that the operands are written with.
package enum Decimals {
    /// `origin + count × step`.
    package static func multiple(_ count: Double, of step: Double, from origin: Double) -> Double {
        // In one operation: the product alone may be infinite.
        rounded(origin.addingProduct(count, step), toDecimalsOf: origin, step)
    }

    /// `left + right`: 0.1 + 0.2 is 0.3.
    package static func sum(_ left: Double, _ right: Double) -> Double {
        rounded(left + right, toDecimalsOf: left, right)
    }

    private static func rounded(_ value: Double, toDecimalsOf left: Double, _ right: Double) -> Double {
        guard let places = places(left).flatMap({ first in places(right).map { max(first, $0) } }), places <= 15 else {
            return value
        }
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = (value * scale).rounded()
        // Beyond 2^53 neighbouring doubles are whole numbers apart: there is no dust to remove.
        return scaled.magnitude < 0x1p53 ? scaled / scale : value
    }

    /// How many digits follow the point in the shortest text; nil where that is written with an exponent.
    private static func places(_ value: Double) -> Int? {
        let text = value.description.utf8
        if text.contains(UInt8(ascii: "e")) { return nil }
        guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return 0 }
        let digits = text[text.index(after: point)...]
        return digits.elementsEqual("0".utf8) ? 0 : digits.count
    }
}
