// Defines points of two numbers, and a range for each of them.

/// A position or an offset in the plane: two doubles.
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

/// A type of two numbers whose tweaks are points: ``TweakPoint``, and `CGPoint` and `CGSize` with `TweaksFoundation`.
///
/// ```swift
/// extension SIMD2<Double>: @retroactive TweakPointConvertible {
///     public init(_ point: TweakPoint) { self.init(point.x, point.y) }
///     public var tweakPoint: TweakPoint { TweakPoint(x: x, y: y) }
/// }
/// ```
public protocol TweakPointConvertible: TweakConvertible {
    /// The value of this type for a point.
    init(_ point: TweakPoint)
    /// This value as a point.
    var tweakPoint: TweakPoint { get }
}

/// The points that a tweak accepts: a range for each number, bounds included.
///
/// ```swift
/// TweakPointRange(x: 0...320, y: 0...)
/// ```
public struct TweakPointRange: Equatable, Sendable {
    /// The range of `x`.
    public let x: TweakRange<Double>
    /// The range of `y`.
    public let y: TweakRange<Double>

    /// Ranges such as `0...10`, `0...` or `...10`.
    public init(x: some TweakBounds<Double>, y: some TweakBounds<Double>) {
        self.x = TweakRange(lowerBound: x.tweakLowerBound, upperBound: x.tweakUpperBound)
        self.y = TweakRange(lowerBound: y.tweakLowerBound, upperBound: y.tweakUpperBound)
    }

    /// Whether both numbers lie inside.
    public func contains(_ point: TweakPoint) -> Bool { x.contains(point.x) && y.contains(point.y) }
}
