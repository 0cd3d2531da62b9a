// Which Swift types can be one value of a tweak.

/// A type of which a tweak can hold one value, a list, or an optional one.
///
/// Bool, the integers, Double, Float, String, Duration, ``TweakColor`` and ``TweakPoint`` conform. An enumeration joins by name alone:
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
public protocol TweakConvertible: TweakStorable {
    /// The value of this type for a value without type; nil when there is no exact one.
    init?(_ value: TweakValue)
    /// This value without its type.
    var erased: TweakValue { get }
}

extension TweakConvertible {
    /// The value that the initializer makes.
    public static func tweakTyped(_ value: TweakValue) -> Self? { Self(value) }
    /// What `erased` is.
    public var tweakErased: TweakValue { erased }
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
