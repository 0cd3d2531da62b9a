// Declares the conversion between a Swift type and a single tweak value.

/// A type of which a tweak can hold a value, a list or an optional.
///
/// Bool, the integers, Double, Float, String, Duration, ``TweakColor`` and ``TweakPoint`` conform. An enumeration only
/// declares the conformance:
///
/// ```swift
/// enum Alignment: String, CaseIterable, TweakConvertible { case left, center, right }
/// enum Level: Int, CaseIterable, TweakConvertible { case low = 10, high = 20 }
/// extension TheirEnum: @retroactive TweakConvertible {}
/// ```
///
/// The choices are the raw values of a String enumeration, and the case names of an integer one. A type with another
/// raw value, or without `CaseIterable`, is stored as its raw value. Any other type implements its conversion:
///
/// ```swift
/// struct Tag: TweakConvertible {
///     var name: String
///     init?(_ value: TweakValue) { if case .string(let name) = value { self.name = name } else { return nil } }
///     var erased: TweakValue { .string(name) }
/// }
/// ```
public protocol TweakConvertible: TweakStorable {
    /// The value of this type for an untyped value; nil when there is no exact conversion.
    init?(_ value: TweakValue)
    /// This value as an untyped value.
    var erased: TweakValue { get }
}

extension TweakConvertible {
    /// The value that the initializer makes.
    public static func tweakTyped(_ value: TweakValue) -> Self? { Self(value) }
    /// The same as `erased`.
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
