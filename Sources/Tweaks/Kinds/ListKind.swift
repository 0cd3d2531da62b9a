// Parses, prints and validates lists: `[1, 2, 3]`, in JSON an array.

enum ListKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        guard let component, let items = ListText.items(text) else { return nil }
        let values = items.compactMap { component.rules.parse($0, of: nil) }
        return values.count == items.count ? .list(values) : nil
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        guard let component = context.definition.components.first, let items = ListText.items(text) else { return nil }
        var values: [TweakValue] = []
        for item in items { values.append(try component.read(item, from: .typed, default: nil, for: context.path)) }
        return .list(values)
    }

    static func text(_ value: TweakValue) -> String {
        guard case .list(let values) = value else { return "" }
        return "[" + values.map(\.text).joined(separator: ", ") + "]"
    }

    static func json(_ value: TweakValue) -> JSON {
        if case .list(let values) = value { .array(values.map(\.json)) } else { .null }
    }

    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        guard case .array(let elements) = json else { return nil }
        if elements.isEmpty { return .list([]) }
        guard let component else { return nil }
        let values = elements.compactMap { component.rules.value($0, of: nil) }
        return values.count == elements.count ? .list(values) : nil
    }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        guard case .list(let values) = value, let component = definition.components.first else {
            throw definition.wrongKind(value, path)
        }
        try checkLength(values.count, definition, path)
        var validated: [ValidatedValue] = []
        for value in values { validated.append(try component.validate(value, for: path, policy: policy)) }
        return ValidatedValue(
            .list(validated.map(\.value)), TweakAdjustment(of: validated.lazy.map(\.adjustment), to: value))
    }

    /// The limit for lists that declare none.
    static let maxCount = TweakValue.maxListCount

    private static func checkLength(
        _ count: Int, _ definition: TweakDefinition, _ path: TweakPath
    ) throws(TweakError) {
        let (least, most) = (definition.minLength ?? 0, definition.maxLength ?? maxCount)
        let values = count == 1 ? "1 value is" : "\(count) values are"
        if count < least { throw path.refusal(.outOfRange, "\(values) too few; at least \(least)") }
        if count > most { throw path.refusal(.outOfRange, "\(values) too many; at most \(most)") }
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write a list such as [\(example(definition.components.first))]" + definition.rangeRemedy
    }

    private static func example(_ component: TweakDefinition?) -> String {
        switch component?.kind {
        case .bool?: "true, false"
        case .string?: "\"a\", \"b\""
        case .color?: "#FF8800, black"
        case .choice?:
            component?.choices.prefix(2).map { TweakValue.choice($0.name).text }.joined(separator: ", ") ?? ""
        case .duration?: "1s, 2s"
        default: "1, 2, 3"
        }
    }

    static func isSet(_ value: TweakValue) -> Bool { value != .list([]) }
}

extension TweakValue {
    /// The maximum number of values of any list.
    package static let maxListCount = 1_000
}

extension Array: TweakStorable where Element: TweakConvertible {
    /// From a `.list` whose values are all of the element's type.
    public static func tweakTyped(_ value: TweakValue) -> Self? {
        guard case .list(let values) = value else { return nil }
        let elements = values.compactMap { Element($0) }
        return elements.count == values.count ? elements : nil
    }
    /// `.list`.
    public var tweakErased: TweakValue { .list(map(\.erased)) }
    /// `.list`.
    public static var tweakKind: TweakKind? { .list }
}

extension Array: TweakContainer where Element: TweakConvertible {
    /// The element.
    public typealias TweakComponent = Element
    /// The elements.
    public var tweakComponents: [Element] { self }
}
