// Two numbers that belong together, and the range of each.

/// A place or a distance in the plane: two doubles.
///
/// ```swift
/// static let offset = Tweak("Label", "Text", "Offset", TweakPoint(x: 12, y: 40), in: .init(x: 0...320, y: 0...200))
/// ```
/// It is written `12,40`, and in JSON `[12,40]`.
public struct TweakPoint: Hashable, Sendable {
    /// The first number.
    public var x: Double
    /// The second number.
    public var y: Double

    /// 0,0
    public static var zero: TweakPoint { TweakPoint(x: 0, y: 0) }

    /// A point from its two numbers.
    @inlinable
    public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
}

/// The points that a tweak accepts: a range for each number, bounds included.
///
/// ```swift
/// TweakPointRange(x: 0...320, y: 0...)
/// ```
public struct TweakPointRange: Equatable, Sendable {
    /// What `x` may be.
    public let x: TweakRange<Double>
    /// What `y` may be.
    public let y: TweakRange<Double>

    /// Ranges such as `0...10`, `0...` or `...10`.
    public init(x: some TweakBounds<Double>, y: some TweakBounds<Double>) {
        self.x = TweakRange(lowerBound: x.tweakLowerBound, upperBound: x.tweakUpperBound)
        self.y = TweakRange(lowerBound: y.tweakLowerBound, upperBound: y.tweakUpperBound)
    }

    /// Whether both numbers lie inside.
    public func contains(_ point: TweakPoint) -> Bool { x.contains(point.x) && y.contains(point.y) }
}
