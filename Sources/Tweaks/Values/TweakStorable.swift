// Declares which Swift types a tweak can hold, and how they convert to an untyped value.

/// A type that a tweak can hold: a ``TweakConvertible`` value, or an array or optional of such values.
///
/// ```swift
/// static let delays = Tweak("Retry", "Policy", "Delays", [1, 2, 5], in: 0...60, maxLength: 8)
/// static let limit = Tweak<Int?>("Server", "Requests", "Limit", nil, in: 1...10_000)
/// ```
/// Types of a program conform to ``TweakConvertible``, which implements this protocol.
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
    /// The format of this type's texts; nil for other kinds than `string`, and where each text makes a value.
    static var tweakFormat: TweakFormat? { get }
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
    /// Any text.
    public static var tweakFormat: TweakFormat? { nil }
    /// Not a type of one word.
    public static func tweakWord(of value: TweakValue) -> (word: UInt64, value: TweakValue)? { nil }
    /// Not a type of one word.
    public static func tweakValue(ofWord word: UInt64) -> Self? { nil }
    /// No bounds.
    public static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) { (nil, nil) }

    // Only for their messages: a type that conforms to this protocol alone would otherwise be offered stubs.
    /// Does not compile: the type must conform to ``TweakConvertible``.
    @available(*, unavailable, message: "conform to TweakConvertible instead: an enumeration needs nothing else")
    public static func tweakTyped(_ value: TweakValue) -> Self? { nil }
    /// Does not compile: the type must conform to ``TweakConvertible``.
    @available(*, unavailable, message: "conform to TweakConvertible instead: an enumeration needs nothing else")
    public var tweakErased: TweakValue { .bool(false) }
}

/// An array or an optional of a type that a tweak can hold.
public protocol TweakContainer: TweakStorable {
    /// The element or wrapped type.
    associatedtype TweakComponent: TweakConvertible
    /// The values in it.
    var tweakComponents: [TweakComponent] { get }
}

/// A type of which a tweak can hold a value, a list or an optional.
///
/// Bool, the integers, Double, Float, String, Duration, ``TweakColor``, ``TweakPoint`` and ``TweakCurve`` conform. An
/// enumeration only declares the conformance:
///
/// ```swift
/// enum Alignment: String, CaseIterable, TweakConvertible { case left, center, right }
/// enum Level: Int, CaseIterable, TweakConvertible { case low = 10, high = 20 }
/// extension TheirEnum: @retroactive TweakConvertible {}
/// ```
///
/// The choices are the raw values of a String enumeration, and the case names of an integer one. An enumeration without
/// `CaseIterable` has no choices: the compiler warns about it, and it needs `choices:` at each declaration, which
/// otherwise stops the program. A structure with a raw value, such as `struct Port: RawRepresentable`, is stored as that
/// value. Any other type implements its conversion:
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

extension TweakConvertible where Self: RawRepresentable, RawValue: TweakConvertible {
    /// From a raw value's.
    public init?(_ value: TweakValue) {
        guard let rawValue = RawValue(value) else { return nil }
        self.init(rawValue: rawValue)
    }
    /// The raw value's.
    public static var tweakKind: TweakKind? { RawValue.tweakKind }
    /// The raw value's.
    public var erased: TweakValue { rawValue.erased }
    /// The raw value's.
    public static var tweakFormat: TweakFormat? { RawValue.tweakFormat }
    /// The raw value's.
    public static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) { RawValue.tweakTypeBounds }
}

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
    /// `.choice`.
    public static var tweakKind: TweakKind? { .choice }
    /// All cases, in the order of declaration.
    public static var tweakChoices: [TweakChoice<Self>] { allCases.map { TweakChoice($0, name: $0.rawValue) } }
}

// Only for its message. No protocol tells an enumeration from a structure; but one with a string is not
// `BitwiseCopyable`, and an enumeration is, unless it is public: that one is found when it is registered.
extension TweakConvertible where Self: RawRepresentable & BitwiseCopyable, RawValue == String {
    /// The raw value's.
    @available(
        *, deprecated,
        message: "add CaseIterable, so that its cases are the choices; without it any text could be set"
    )
    public var erased: TweakValue { rawValue.erased }
}

extension TweakConvertible where Self: RawRepresentable & BitwiseCopyable & CaseIterable, RawValue == String {
    /// The raw value, as a choice.
    public var erased: TweakValue { .choice(rawValue) }
}

extension TweakConvertible where Self: RawRepresentable & CaseIterable, RawValue: TweakInteger {
    /// An index into the cases.
    public typealias TweakStorage = TweakChoiceCell<Self>

    /// The case with this name.
    public init?(_ value: TweakValue) {
        switch value {
        case .choice(let name), .string(let name):
            guard let found = Self.allCases.first(where: { $0.tweakName == name }) else { return nil }
            self = found
        default: return nil
        }
    }
    /// The case's name, as a choice.
    ///
    /// Files store this name: after a case is renamed, stored values with the old name are quarantined. If the type is
    /// `CustomStringConvertible`, its description is the name.
    public var erased: TweakValue { .choice(tweakName) }
    /// `.choice`.
    public static var tweakKind: TweakKind? { .choice }
    /// All cases, in the order of declaration.
    public static var tweakChoices: [TweakChoice<Self>] { allCases.map { TweakChoice($0, name: $0.tweakName) } }

    /// The integer if case names are stripped from the binary: then a case prints as `Level(rawValue: 10)`.
    private var tweakName: String {
        let name = String(describing: self)
        return name.hasSuffix(")") ? String(describing: rawValue) : name
    }
}
