// Makes types with raw values, mainly enumerations, usable as tweak values by a one-line conformance.

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
