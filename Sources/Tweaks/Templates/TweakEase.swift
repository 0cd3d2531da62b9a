// Defines an easing template as in CSS: a cubic Bézier curve from (0, 0) to (1, 1).

/// An easing curve between two states: CSS's `cubic-bezier(x1, y1, x2, y2)`.
///
/// ```swift
/// static let ease = TweakGroup("Card", "Flip", "Ease", TweakEase.inOut)
/// let angle = 180 * ease.value.progress(at: elapsed / duration)
/// ```
///
/// The definition is that of W3C, “CSS Easing Functions Level 1”, section “Cubic Bézier Easing Functions”.
public struct TweakEase: TweakTemplate {
    /// Time of the first control point, 0…1.
    public var x1: Double
    /// Progress at the first control point.
    public var y1: Double
    /// Time of the second control point, 0…1.
    public var x2: Double
    /// Progress at the second control point.
    public var y2: Double

    /// A curve from its control points.
    public init(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        (self.x1, self.y1, self.x2, self.y2) = (x1, y1, x2, y2)
    }

    /// CSS's `ease`: fast at first, slow at the end.
    public static var standard: TweakEase { TweakEase(0.25, 0.1, 0.25, 1) }
    /// CSS's `linear`.
    public static var linear: TweakEase { TweakEase(0, 0, 1, 1) }
    /// CSS's `ease-in`: slow at first.
    public static var `in`: TweakEase { TweakEase(0.42, 0, 1, 1) }
    /// CSS's `ease-out`: slow at the end.
    public static var out: TweakEase { TweakEase(0, 0, 0.58, 1) }
    /// CSS's `ease-in-out`: slow at both ends.
    public static var inOut: TweakEase { TweakEase(0.42, 0, 0.58, 1) }

    /// X1, y1, x2, y2.
    public static let parts: [TweakPart<TweakEase>] = [
        TweakPart("x1", \.x1, in: 0...1, help: "Time of the curve's first control point"),
        TweakPart("y1", \.y1, in: -5...5, help: "Progress at the first control point; below 0 moves back first"),
        TweakPart("x2", \.x2, in: 0...1, help: "Time of the curve's second control point"),
        TweakPart("y2", \.y2, in: -5...5, help: "Progress at the second control point; above 1 overshoots"),
    ]

    /// The progress after a fraction of the time; 0 before the start, 1 after the end.
    public func progress(at time: Double) -> Double {
        guard time > 0 else { return 0 }
        guard time < 1 else { return 1 }
        return Self.curve(y1, y2, parameter(at: time))
    }

    /// The curve parameter at a time. x is monotonic, so there is exactly one.
    private func parameter(at time: Double) -> Double {
        var (low, high, middle) = (0.0, 1.0, time)
        // 60 bisections reach the precision of a double from any start.
        for _ in 0..<60 {
            let distance = Self.curve(x1, x2, middle) - time
            if distance > 0 { high = middle } else { low = middle }
            let slope = Self.slope(x1, x2, middle)
            let better = middle - distance / slope
            // Newton's step if it stays between the bounds, else bisection.
            let next = better > low && better < high ? better : (low + high) / 2
            if (next - middle).magnitude < 1e-14 { return next }
            middle = next
        }
        return middle
    }

    /// One coordinate of the curve with control points `a` and `b`.
    private static func curve(_ a: Double, _ b: Double, _ s: Double) -> Double {
        ((1 - 3 * b + 3 * a) * s + (3 * b - 6 * a)) * s * s + 3 * a * s
    }

    private static func slope(_ a: Double, _ b: Double, _ s: Double) -> Double {
        (3 * (1 - 3 * b + 3 * a) * s + 2 * (3 * b - 6 * a)) * s + 3 * a
    }
}
