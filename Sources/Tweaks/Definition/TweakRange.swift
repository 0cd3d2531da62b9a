// Ranges of a tweak: closed, or open on one side.

/// The values a tweak accepts, bounds included; a missing bound means there is none on that side.
public struct TweakRange<Bound: Comparable & Sendable>: Equatable, Sendable {
    /// The smallest accepted value.
    public let lowerBound: Bound?
    /// The largest accepted value.
    public let upperBound: Bound?

    /// A range from its bounds.
    @inlinable
    public init(lowerBound: Bound?, upperBound: Bound?) {
        self.lowerBound = lowerBound
        self.upperBound = upperBound
    }

    /// Whether a value lies inside.
    public func contains(_ value: Bound) -> Bool {
        if let lowerBound, value < lowerBound { return false }
        if let upperBound, value > upperBound { return false }
        return true
    }
}

/// What can stand after `in:` – `0...10`, `0...` or `...10`.
///
/// One protocol instead of three overloads: it keeps type checking fast, and it refuses `0..<10` clearly.
public protocol TweakBounds<Bound> {
    /// The type of the bounds.
    associatedtype Bound: Comparable
    /// The smallest value, where there is one.
    var tweakLowerBound: Bound? { get }
    /// The largest value, where there is one.
    var tweakUpperBound: Bound? { get }
}

extension ClosedRange: TweakBounds {
    /// The smallest value.
    @inlinable public var tweakLowerBound: Bound? { lowerBound }
    /// The largest value.
    @inlinable public var tweakUpperBound: Bound? { upperBound }
}

extension PartialRangeFrom: TweakBounds {
    /// The smallest value.
    @inlinable public var tweakLowerBound: Bound? { lowerBound }
    /// There is no largest value.
    @inlinable public var tweakUpperBound: Bound? { nil }
}

extension PartialRangeThrough: TweakBounds {
    /// There is no smallest value.
    @inlinable public var tweakLowerBound: Bound? { nil }
    /// The largest value.
    @inlinable public var tweakUpperBound: Bound? { upperBound }
}
