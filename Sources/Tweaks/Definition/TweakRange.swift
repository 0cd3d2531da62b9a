// Defines the ranges of tweaks: closed, or unbounded on one side.

/// The range that a tweak accepts, bounds included; a nil bound means unbounded on that side.
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

/// A range expression that is allowed after `in:` – `0...10`, `0...` or `...10`.
///
/// One protocol instead of three overloads keeps type checking fast, and gives `0..<10` a clear compiler error.
public protocol TweakBounds<Bound> {
    /// The type of the bounds.
    associatedtype Bound: Comparable
    /// The smallest value, if any.
    var tweakLowerBound: Bound? { get }
    /// The largest value, if any.
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
