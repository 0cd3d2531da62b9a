// Parses, prints and validates optionals: `none`, in JSON null, or a value of the wrapped kind.

/// An optional tweak holds values of the wrapped kind unchanged, or ``TweakValue/notSet``.
enum OptionalKind: KindRules {
    static let none = "none"

    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        text == none ? .notSet : component.flatMap { $0.rules.parse(text, of: nil) }
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        // Errors are discarded here: the caller's error also mentions “none”.
        try? context.definition.component?.read(text, from: .typed, default: context.standard, for: context.path)
    }

    static func text(_ value: TweakValue) -> String { none }

    static func json(_ value: TweakValue) -> JSON { .null }

    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        json == .null ? .notSet : component.flatMap { $0.rules.value(json, of: nil) }
    }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        if value == .notSet { return ValidatedValue(.notSet) }
        guard let component = definition.component else { throw definition.wrongKind(value, path) }
        if value == .string(none) {
            throw path.refusal(.badValue, "“none” stands for no value; an optional text cannot be “none”")
        }
        return try component.validate(value, for: path, policy: policy)
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        (definition.components.first?.remedy ?? "") + "; or none"
    }

    static func isSet(_ value: TweakValue) -> Bool { false }

    static func names(_ definition: TweakDefinition) -> [String] {
        [none] + (definition.components.first.map { $0.kind.rules.names($0) } ?? [])
    }
}

extension Optional: TweakStorable where Wrapped: TweakConvertible {
    /// From ``TweakValue/notSet``, or a value of the wrapped type.
    public static func tweakTyped(_ value: TweakValue) -> Self? {
        value == .notSet ? .some(nil) : Wrapped(value).map { .some($0) }
    }
    /// The wrapped value, or ``TweakValue/notSet``.
    public var tweakErased: TweakValue { self?.erased ?? .notSet }
    /// `.optional`.
    public static var tweakKind: TweakKind? { .optional }
}

extension Optional: TweakContainer where Wrapped: TweakConvertible {
    /// The wrapped type.
    public typealias TweakComponent = Wrapped
    /// The wrapped value, if any.
    public var tweakComponents: [Wrapped] { self.map { [$0] } ?? [] }
}
