// Parses, prints and validates lists and optionals.

enum ListKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        guard let component, let items = ListText.items(text) else { return nil }
        let values = items.compactMap { component.rules.parse($0, of: nil) }
        return values.count == items.count ? .list(values) : nil
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        guard let component = context.definition.components.first,
            let items = ListText.items(text) ?? ListText.bareItems(text)
        else { return nil }
        var values: [TweakValue] = []
        for item in items {
            do throws(TweakError) {
                values.append(try component.read(item, from: .typed, default: nil, for: context.path))
            } catch {
                // One word without brackets may not be meant as a list: its error explains lists.
                if item == text { return nil }
                throw error
            }
        }
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
        case .curve?: "ease, linear"
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
    /// The element's.
    public static var tweakFormat: TweakFormat? { Element.tweakFormat }
}

extension Array: TweakContainer where Element: TweakConvertible {
    /// The element.
    public typealias TweakComponent = Element
    /// The elements.
    public var tweakComponents: [Element] { self }
}

/// The grammar of a list: `[` values `]`, separated by commas. A value is text in quotes – `"` with
/// JSON's escapes, or `'` – or the text between two commas without surrounding blanks.
package enum ListText {
    /// The values, without quotes; nil when the text is not a list.
    package static func items(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "["), end(bytes, from: 0) == bytes.count else { return nil }
        var reader = JSONReader(Array(bytes.dropLast()), at: 1)
        if reader.peek() == nil { return [] }
        var items: [String] = []
        repeat {
            guard let item = item(&reader) else { return nil }
            items.append(item)
        } while reader.consumeToken(UInt8(ascii: ","))
        return reader.peek() == nil ? items : nil
    }

    /// The values of a list that was typed without brackets, such as `1, 2, 3`; nil for other text, and for blanks.
    static func bareItems(_ text: String) -> [String]? {
        if text.utf8.first == UInt8(ascii: "[") { return nil }
        return items("[" + text + "]").flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func item(_ reader: inout JSONReader) -> String? {
        if reader.peek() == UInt8(ascii: "\"") { return try? reader.string() }
        if reader.consumeToken(UInt8(ascii: "'")) {
            let text = reader.scanBare(until: { $0 == UInt8(ascii: "'") }, nests: false)
            return reader.consumeToken(UInt8(ascii: "'")) ? String(text) : nil
        }
        let bare = reader.scanBare(until: { $0 == UInt8(ascii: ",") }).trimmedBlanks
        return bare.isEmpty ? nil : bare
    }

    /// The position after the closing bracket of the list that begins at `start`; nil when it is missing. Brackets in
    /// quotes do not count, and neither do the parentheses of `rgb(…)`.
    package static func end(_ bytes: some RandomAccessCollection<UInt8>, from start: Int) -> Int? {
        var (quote, isEscaped): (UInt8?, Bool) = (nil, false)
        for (offset, byte) in bytes.dropFirst(start).enumerated() {
            if let open = quote {
                if byte == open, !isEscaped { quote = nil }
                isEscaped = byte == UInt8(ascii: "\\") && open == UInt8(ascii: "\"") && !isEscaped
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                isEscaped = false
            } else if byte == UInt8(ascii: "]") {
                return start + offset + 1
            }
        }
        return nil
    }
}

/// An optional tweak holds values of the wrapped kind unchanged, or ``TweakValue/notSet``.
enum OptionalKind: KindRules {
    static let none = "none"

    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        text == none ? .notSet : component.flatMap { $0.rules.parse(text, of: nil) }
    }

    /// Whether a typed text is blank, in place of `none`. Texts, and choices of that name, may be empty.
    static func isEmptied(_ text: String, _ component: TweakDefinition?) -> Bool {
        guard text.utf8.allSatisfy({ $0 == UInt8(ascii: " ") }), let component else { return false }
        return component.kind != .string && !component.choices.contains { $0.name == text }
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
    /// The wrapped type's.
    public static var tweakFormat: TweakFormat? { Wrapped.tweakFormat }
}

extension Optional: TweakContainer where Wrapped: TweakConvertible {
    /// The wrapped type.
    public typealias TweakComponent = Wrapped
    /// The wrapped value, if any.
    public var tweakComponents: [Wrapped] { self.map { [$0] } ?? [] }
}
