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
}

extension TweakConvertible {
    /// No closed list.
    public static var tweakChoices: [TweakChoice<Self>] { [] }
    /// No bounds.
    public static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) { (nil, nil) }
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
