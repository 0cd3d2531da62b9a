// Maps a range to slider positions, by the formula that all clients share.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// The mapping of a range to a slider.
///
/// ```swift
/// static let timeout = Tweak(
///     "Upstream", "Calls", "Timeout", .seconds(10), in: .zero ... .seconds(3_600), scale: .logarithmic)
/// ```
///
/// A range over more than three powers of ten is logarithmic by itself, unless its declaration says `.linear`.
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
        let start = place(of: range.lowerBound, range)
        let end = place(of: range.upperBound, range)
        let position = (place(of: value, range) - start) / (end - start)
        // A range of the smallest or the largest numbers has ends that are infinitely far away.
        return start < end && position.isFinite ? min(max(position, 0), 1) : 0
    }

    /// The value at a slider position, not rounded to a step.
    package func value(at position: Double, in range: ClosedRange<Double>) -> Double {
        let start = place(of: range.lowerBound, range)
        let end = place(of: range.upperBound, range)
        return min(max(value(ofPlace: start + (end - start) * position, range), range.lowerBound), range.upperBound)
    }

    /// The function f.
    private func place(of value: Double, _ range: ClosedRange<Double>) -> Double {
        if self == .linear { return value }
        if range.contains(0) { return log(1 + value.magnitude / Self.linearWidth(range)) * (value < 0 ? -1 : 1) }
        // The logarithm of a value on the other side of 0, which is outside the range, is minus infinity.
        return range.upperBound < 0 ? -log(max(-value, 0)) : log(max(value, 0))
    }

    /// The inverse of f.
    private func value(ofPlace place: Double, _ range: ClosedRange<Double>) -> Double {
        if self == .linear { return place }
        if range.contains(0) { return (exp(place.magnitude) - 1) * Self.linearWidth(range) * (place < 0 ? -1 : 1) }
        return range.upperBound < 0 ? -exp(-place) : exp(place)
    }

    /// The width of the linear part around 0.
    private static func linearWidth(_ range: ClosedRange<Double>) -> Double {
        max(-range.lowerBound, range.upperBound) / 1_000
    }
}
