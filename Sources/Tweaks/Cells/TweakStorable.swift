// Which Swift types a tweak can hold.

/// A type that a tweak can hold: one value (``TweakConvertible``), or an array or optional of such.
///
/// ```swift
/// static let delays = Tweak("Retry", "Policy", "Delays", [1, 2, 5], in: 0...60, maxLength: 8)
/// static let limit = Tweak<Int?>("Server", "Requests", "Limit", nil, in: 1...10_000)
/// ```
/// Types of a program conform to ``TweakConvertible``.
public protocol TweakStorable: Equatable, Sendable {
    /// The cell that holds the current value: one behind a lock, unless the type is small enough for another.
    associatedtype TweakStorage: TweakCell = TweakLockedCell<Self> where TweakStorage.Value == Self

    /// The value of this type for a value without type; nil when there is no exact one.
    static func tweakTyped(_ value: TweakValue) -> Self?
    /// This value without its type.
    var tweakErased: TweakValue { get }
    /// The kind of the values, where it is known without one. What lists and optionals hold must say it if they may begin
    /// empty: types of the library do, and enumerations need not.
    static var tweakKind: TweakKind? { get }
    /// The closed list of values, empty where there is none.
    static var tweakChoices: [TweakChoice<Self>] { get }
    /// The smallest and largest value that this type can hold, where they are not those of `Int64`, or of a double.
    static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) { get }
    /// For types of one word: the word of a value, and the value as this type prints it. Leave it to its default.
    static func tweakWord(of value: TweakValue) -> (word: UInt64, value: TweakValue)?
    /// For types of one word: the value of a word. Leave it to its default.
    static func tweakValue(ofWord word: UInt64) -> Self?
}

extension TweakStorable {
    /// Known from a value alone.
    public static var tweakKind: TweakKind? { nil }
    /// No closed list.
    public static var tweakChoices: [TweakChoice<Self>] { [] }
    /// Not a type of one word.
    public static func tweakWord(of value: TweakValue) -> (word: UInt64, value: TweakValue)? { nil }
    /// Not a type of one word.
    public static func tweakValue(ofWord word: UInt64) -> Self? { nil }
    /// No bounds.
    public static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) { (nil, nil) }
}

/// An array or an optional of a type that a tweak can hold.
public protocol TweakContainer: TweakStorable {
    /// What it holds.
    associatedtype TweakComponent: TweakConvertible
    /// The values in it.
    var tweakComponents: [TweakComponent] { get }
}
