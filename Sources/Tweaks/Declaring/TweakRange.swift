// Defines the public attributes of a declaration: ranges, choices, flags and the policy.

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
/// One protocol instead of three overloads keeps type checking fast. `0..<10` is a compiler error with the remedy, since
/// a range includes its bounds.
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

/// Does not compile as the range of a tweak, which includes its bounds.
@available(*, unavailable, message: "the range of a tweak includes its bounds: write 1...16 instead of 1..<17")
extension Range: TweakBounds {
    /// Never used.
    public var tweakLowerBound: Bound? { nil }
    /// Never used.
    public var tweakUpperBound: Bound? { nil }
}

/// Does not compile as the range of a tweak, which includes its bounds.
@available(*, unavailable, message: "the range of a tweak includes its bounds: write ...16 instead of ..<17")
extension PartialRangeUpTo: TweakBounds {
    /// Never used.
    public var tweakLowerBound: Bound? { nil }
    /// Never used.
    public var tweakUpperBound: Bound? { nil }
}

/// A value that a tweak may have, with its name on the wire and an optional display label.
public struct TweakChoice<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The name on the wire and in files.
    public let name: String
    /// The label shown in place of the name.
    public let label: String?

    /// A choice.
    public init(_ value: Value, name: String, label: String? = nil) {
        self.value = value
        self.name = name
        self.label = label
    }
}

extension TweakChoice: Equatable where Value: Equatable {}

/// Flags of a tweak, which change how it is shown or who may set it.
public struct TweakFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Flags from their bits.
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value is never printed, logged or sent; clients only see whether it is set.
    @inlinable public static var secret: TweakFlags { TweakFlags(rawValue: 1) }
    /// A figure: the program publishes it, and clients cannot set it.
    @inlinable public static var readOnly: TweakFlags { TweakFlags(rawValue: 2) }
    /// A change takes effect at the next start of the program; shown next to the value.
    @inlinable public static var needsRestart: TweakFlags { TweakFlags(rawValue: 4) }

    /// A figure that the port of the metrics shows, without a token: see `TweakDaemon.Metrics`. It has no effect on a
    /// tweak that can be set, nor on a secret.
    @inlinable public static var exported: TweakFlags { TweakFlags(rawValue: 8) }

    /// The words that listings show, in a fixed order.
    package var words: [String] {
        [
            (TweakFlags.readOnly, "read-only"), (.exported, "exported"), (.needsRestart, "needs-restart"),
            (.secret, "secret"),
        ]
        .filter { contains($0.0) }.map(\.1)
    }
}

/// The treatment of a client's value that violates the tweak's range or step.
public enum TweakPolicy: String, Hashable, Sendable {
    /// It is rejected and nothing changes.
    case reject
    /// Outside the range it becomes the nearest bound; off-step it is rejected.
    case clamp
    /// It becomes the nearest value that is in range and on step.
    case snap
}
