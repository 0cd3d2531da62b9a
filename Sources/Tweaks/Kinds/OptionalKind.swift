// Reads, prints and judges what may be not set: `none`, in JSON null, or a value of the component's kind.

/// An optional tweak holds values of its component's kind as they are; the only value of its own is ``TweakValue/notSet``.
enum OptionalKind: KindRules {
    static let none = "none"

    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        text == none ? .notSet : component.flatMap { $0.rules.parse(text, of: nil) }
    }

    static func readFreely(_ text: String, _ reading: FreeReading) throws(TweakError) -> TweakValue? {
        // Where it is none of these either, the error says that none is one.
        try? reading.definition.component?.read(text, from: .person, default: reading.standard, for: reading.path)
    }

    static func text(_ value: TweakValue) -> String { none }

    static func json(_ value: TweakValue) -> JSON { .null }

    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        json == .null ? .notSet : component.flatMap { $0.rules.value(json, of: nil) }
    }

    static func judge(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> Judged {
        if value == .notSet { return Judged(.notSet) }
        guard let component = definition.component else { throw definition.wrongKind(value, path) }
        if value == .string(none) {
            throw path.refusal(.badValue, "“none” stands for no value; a text of an optional cannot be that")
        }
        return try component.judge(value, for: path, policy: policy)
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
    /// What it wraps.
    public typealias TweakComponent = Wrapped
    /// The wrapped value, where there is one.
    public var tweakComponents: [Wrapped] { self.map { [$0] } ?? [] }
}
