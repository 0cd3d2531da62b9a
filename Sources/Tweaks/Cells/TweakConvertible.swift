// Which Swift types can be the value of a tweak.

/// A type whose values a tweak can hold.
///
/// Bool, the integers, Double, Float, String, Duration and ``TweakColor`` conform. An enumeration joins by name alone:
///
/// ```swift
/// enum Alignment: String, CaseIterable, TweakConvertible { case left, center, right }
/// enum Level: Int, CaseIterable, TweakConvertible { case low = 10, high = 20 }
/// extension TheirEnum: @retroactive TweakConvertible {}
/// ```
///
/// The choices are the raw values of a String enumeration, and the cases' names of an integer one. A type with another
/// raw value, or without a list of its cases, is held as its raw value. Any other type says how it converts:
///
/// ```swift
/// struct Tag: TweakConvertible {
///     var name: String
///     init?(_ value: TweakValue) { if case .string(let name) = value { self.name = name } else { return nil } }
///     var erased: TweakValue { .string(name) }
/// }
/// ```
public protocol TweakConvertible: Equatable, Sendable {
    /// The cell that holds the current value: one behind a lock, unless the type is small enough for another.
    associatedtype TweakStorage: TweakCell = TweakLockedCell<Self> where TweakStorage.Value == Self

    /// The value of this type for a value without type; nil when there is no exact one.
    init?(_ value: TweakValue)
    /// This value without its type.
    var erased: TweakValue { get }
    /// The closed list of values, empty where there is none.
    static var tweakChoices: [TweakChoice<Self>] { get }
    /// The smallest and largest value that this type can hold, where they are not those of `Int64`, or of a double.
    static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) { get }
    /// For types of one word: the word of a value, and the value as this type prints it. Leave it to its default.
    static func tweakWord(of value: TweakValue) -> (word: UInt64, value: TweakValue)?
    /// For types of one word: the value of a word. Leave it to its default.
    static func tweakValue(ofWord word: UInt64) -> Self?
}

extension TweakConvertible {
    /// No closed list.
    public static var tweakChoices: [TweakChoice<Self>] { [] }
    /// Not a type of one word.
    public static func tweakWord(of value: TweakValue) -> (word: UInt64, value: TweakValue)? { nil }
    /// Not a type of one word.
    public static func tweakValue(ofWord word: UInt64) -> Self? { nil }
    /// No bounds.
    public static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) { (nil, nil) }
}

extension TweakConvertible where Self: TweakWord {
    /// The word of a value.
    public static func tweakWord(of value: TweakValue) -> (word: UInt64, value: TweakValue)? {
        guard let typed = Self(value) else { return nil }
        return (typed.tweakWord, typed.erased)
    }
    /// The value of a word.
    public static func tweakValue(ofWord word: UInt64) -> Self? { Self(tweakWord: word) }
}

/// A type whose tweaks can have a range and a step: the integers, Double, Float and Duration.
public protocol TweakBounded: TweakConvertible, Comparable {}
