// Finds the point of a cubic Bézier curve that belongs to a time.

/// The x coordinate of a cubic Bézier curve from (0, 0) to (1, 1), which rises with the curve's parameter.
struct BezierSolver {
    /// The control points, 0…1.
    let x1: Double
    let x2: Double

    /// The y coordinate at an x of 0…1, for control points `y1` and `y2`.
    func value(at x: Double, y1: Double, y2: Double) -> Double {
        // Both coordinates are the same polynomial.
        if x1 == y1, x2 == y2 { return x }
        let s = parameter(at: x)
        return Cubic(y1, y2).value(at: s)
    }

    /// The parameter at an x.
    // Where the curve is vertical, at its ends or in its middle, an error of x is one of many times its size in y. So x is
    // computed from the nearest of these places, where the polynomial's terms are small and do not cancel.
    private func parameter(at x: Double) -> Double {
        let start = Cubic(x1, x2)
        if x <= start.value(at: 0.25) { return start.root(of: x, in: 0...0.25) }
        let end = Cubic(1 - x2, 1 - x1)
        if 1 - x <= end.value(at: 0.25) { return 1 - end.root(of: 1 - x, in: 0...0.25) }
        let (left, right) = (1 - x1, x2)
        let middle = Cubic(
            cubic: 4 - 3 * (left + right), square: 1.5 * (left - right), linear: 0.75 * (left + right))
        return 0.5 + middle.root(of: x - 0.5 - 0.375 * (right - left), in: -0.25...0.25)
    }
}

/// A polynomial of third degree without a constant.
private struct Cubic {
    let cubic: Double
    let square: Double
    let linear: Double

    init(cubic: Double, square: Double, linear: Double) {
        self.cubic = cubic
        self.square = square
        self.linear = linear
    }

    /// A coordinate of the curve with the control points `a` and `b`.
    init(_ a: Double, _ b: Double) {
        self.init(cubic: 1 + 3 * (a - b), square: 3 * (b - 2 * a), linear: 3 * a)
    }

    func value(at s: Double) -> Double { ((cubic * s + square) * s + linear) * s }

    private func slope(at s: Double) -> Double { (3 * cubic * s + 2 * square) * s + linear }

    /// Where it has a value, between bounds within which it rises.
    func root(of wanted: Double, in bounds: ClosedRange<Double>) -> Double {
        var (low, high) = (bounds.lowerBound, bounds.upperBound)
        var middle = (low + high) / 2
        // Newton's step is at its goal after a few rounds, unless the slope is 0 there; then the rest are bisections.
        for round in 0..<60 {
            let distance = value(at: middle) - wanted
            if distance > 0 { high = middle } else { low = middle }
            let better = middle - distance / slope(at: middle)
            let next = round < 10 && better > low && better < high ? better : (low + high) / 2
            if (next - middle).magnitude < 1e-15 { return next }
            middle = next
        }
        return middle
    }
}
