// Which Swift types can be the value of a tweak.

/// A type whose values a tweak can hold.
///
/// Bool, the integers, Double, Float, String, Duration and ``TweakColor`` conform. An enumeration joins by name alone:
///
/// ```swift
/// enum Alignment: String, CaseIterable, TweakConvertible { case left, center, right }
/// ```
///
/// Any other type says how it converts, and stores itself behind a lock:
///
/// ```swift
/// struct Tag: TweakConvertible {
///     typealias TweakStorage = TweakLockedCell<Tag>
///     var name: String
///     init?(_ value: TweakValue) { if case .string(let name) = value { self.name = name } else { return nil } }
///     var erased: TweakValue { .string(name) }
/// }
/// ```
public protocol TweakConvertible: Equatable, Sendable {
    /// The cell that holds the current value.
    associatedtype TweakStorage: TweakCell where TweakStorage.Value == Self

    /// The value of this type for a value without type; nil when there is no exact one.
    init?(_ value: TweakValue)
    /// This value without its type.
    var erased: TweakValue { get }
    /// The closed list of values, empty where there is none.
    static var tweakChoices: [TweakChoice<Self>] { get }
    /// The smallest and largest value that this type can hold, where `TweakValue` could hold more.
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

extension TweakConvertible where Self: RawRepresentable & CaseIterable, RawValue == String {
    /// An index into the cases.
    public typealias TweakStorage = TweakChoiceCell<Self>

    /// The case with this name.
    public init?(_ value: TweakValue) {
        switch value {
        case .choice(let name), .string(let name): self.init(rawValue: name)
        default: return nil
        }
    }

    /// The raw value, as a choice.
    public var erased: TweakValue { .choice(rawValue) }
    /// All cases, in the order of declaration.
    public static var tweakChoices: [TweakChoice<Self>] { allCases.map { TweakChoice($0, name: $0.rawValue) } }
}
