// Maps a range to slider positions, by the formula that all clients share.

/// The mapping of a range to a slider.
///
/// ```swift
/// static let timeout = Tweak(
///     "Upstream", "Calls", "Timeout", .seconds(10), in: .zero ... .seconds(3_600), scale: .logarithmic)
/// ```
public enum TweakScale: String, Hashable, Sendable {
    /// Equal distances are equal differences.
    case linear
    /// Equal distances are equal factors: for a range over several powers of ten, which needs both bounds. It may
    /// include 0 and negative numbers; near 0, within a thousandth of the larger bound, the scale is nearly linear.
    case logarithmic
}

extension TweakScale {
    /// The slider position of a value: 0 at the lower bound, 1 at the upper one, and in between
    /// (f(v) − f(lower)) ÷ (f(upper) − f(lower)).
    ///
    /// For the logarithmic scale, f(v) = sign(v) · ln |v| if 0 is outside the range, and otherwise
    /// f(v) = sign(v) · ln(1 + |v| ÷ c) with c = max(|lower|, |upper|) ÷ 1000. Durations count as nanoseconds.
    package func position(of value: Double, in range: ClosedRange<Double>) -> Double {
        let curve = Curve(self, range)
        let (start, end) = (curve.place(of: range.lowerBound), curve.place(of: range.upperBound))
        return start < end ? min(max((curve.place(of: value) - start) / (end - start), 0), 1) : 0
    }

    /// The value at a slider position, not rounded to a step.
    package func value(at position: Double, in range: ClosedRange<Double>) -> Double {
        let curve = Curve(self, range)
        let (start, end) = (curve.place(of: range.lowerBound), curve.place(of: range.upperBound))
        let value = curve.value(at: start + (end - start) * position)
        return min(max(value, range.lowerBound), range.upperBound)
    }
}

/// The function f of a scale, and its inverse.
private struct Curve {
    private let scale: TweakScale
    /// The width of the linear part around 0; nil if 0 is outside the range.
    private let linear: Double?
    private let isNegative: Bool

    init(_ scale: TweakScale, _ range: ClosedRange<Double>) {
        self.scale = scale
        linear = range.contains(0) ? max(-range.lowerBound, range.upperBound) / 1_000 : nil
        isNegative = range.upperBound < 0
    }

    func place(of value: Double) -> Double {
        if scale == .linear { return value }
        guard let linear else { return isNegative ? -Logarithm.ln(-value) : Logarithm.ln(value) }
        return Logarithm.ln(1 + value.magnitude / linear) * (value < 0 ? -1 : 1)
    }

    func value(at place: Double) -> Double {
        if scale == .linear { return place }
        guard let linear else { return isNegative ? -Logarithm.exp(-place) : Logarithm.exp(place) }
        return (Logarithm.exp(place.magnitude) - 1) * linear * (place < 0 ? -1 : 1)
    }
}

/// Natural logarithm and exponential in double precision: the standard library has neither.
private enum Logarithm {
    private static let ln2 = 0.693_147_180_559_945_3

    /// The natural logarithm; minus infinity for values not above 0.
    static func ln(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return value > 0 ? value : -.infinity }
        let isHigh = value.significand > 1.41
        let significand = isHigh ? value.significand / 2 : value.significand
        // ln m = 2 (t + t³ ÷ 3 + t⁵ ÷ 5 + …) with t = (m − 1) ÷ (m + 1), here at most 0.18.
        let ratio = (significand - 1) / (significand + 1)
        let series = stride(from: 25, through: 1, by: -2).reduce(0.0) { $0 * ratio * ratio + 1 / Double($1) }
        return Double(value.exponent + (isHigh ? 1 : 0)) * ln2 + 2 * ratio * series
    }

    /// The exponential function.
    static func exp(_ power: Double) -> Double {
        guard power.magnitude < 745 else { return power < 0 ? 0 : .infinity }
        let halvings = (power / ln2).rounded()
        let rest = power - halvings * ln2
        let series = stride(from: 18, through: 1, by: -1).reduce(1.0) { 1 + $0 * rest / Double($1) }
        return Double(sign: .plus, exponent: Int(halvings), significand: series)
    }
}
