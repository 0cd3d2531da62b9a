// Declares which Swift types a tweak can hold: single values, arrays and optionals.

/// A type that a tweak can hold: a ``TweakConvertible`` value, or an array or optional of such values.
///
/// ```swift
/// static let delays = Tweak("Retry", "Policy", "Delays", [1, 2, 5], in: 0...60, maxLength: 8)
/// static let limit = Tweak<Int?>("Server", "Requests", "Limit", nil, in: 1...10_000)
/// ```
/// Types of a program conform to ``TweakConvertible``.
public protocol TweakStorable: Equatable, Sendable {
    /// The cell that holds the current value: behind a lock, unless the type declares an atomic one.
    associatedtype TweakStorage: TweakCell = TweakLockedCell<Self> where TweakStorage.Value == Self

    /// The value of this type for an untyped value; nil when there is no exact conversion.
    static func tweakTyped(_ value: TweakValue) -> Self?
    /// This value as an untyped value.
    var tweakErased: TweakValue { get }
    /// The kind of this type's values, if it is the same for all. Element types of lists and optionals must declare it
    /// if the default may be empty; the library's types do, and enumerations need not.
    static var tweakKind: TweakKind? { get }
    /// All possible values, if the type is a closed list; else empty.
    static var tweakChoices: [TweakChoice<Self>] { get }
    /// The smallest and largest value of this type, where they differ from those of `Int64` or a double.
    static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) { get }
    /// For one-word types: the word of a value, and the value as this type prints it. Do not implement it.
    static func tweakWord(of value: TweakValue) -> (word: UInt64, value: TweakValue)?
    /// For one-word types: the value of a word. Do not implement it.
    static func tweakValue(ofWord word: UInt64) -> Self?
}

extension TweakStorable {
    /// Derived from a value.
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
    /// The element or wrapped type.
    associatedtype TweakComponent: TweakConvertible
    /// The values in it.
    var tweakComponents: [TweakComponent] { get }
}
