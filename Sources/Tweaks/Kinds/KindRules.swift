// Declares how a kind of value is parsed, printed and validated.

/// The parsing, printing and validation rules of one kind of value.
///
/// To add a kind, write a conforming type in its own file and list it in ``TweakKind/rules``. Each function is called
/// with values of this kind only, except ``validate(_:by:for:_:)``, which receives any value that a client sends.
package protocol KindRules {
    /// Parses the output of ``text(_:)`` and its other exact spellings; nil for other text. Strings and choices are
    /// used unchanged: the tokenizer has removed the quotes.
    /// - Parameter component: The kind that a list or an optional holds.
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue?
    /// Parses input that is valid only when typed, such as units and arithmetic; nil for other text.
    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue?
    /// The text used by the protocol, `export` and config files; parsing it gives the same value.
    static func text(_ value: TweakValue) -> String
    /// Appends the same as UTF-8.
    static func append(_ value: TweakValue, to bytes: inout [UInt8])
    /// The value in replies and files; null for values without an exact form, which no tweak accepts.
    static func json(_ value: TweakValue) -> JSON
    /// Converts from that JSON; nil for another kind.
    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue?
    /// Rejects an invalid value; returns a valid one, adjusted to range and step as the policy allows.
    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue
    /// How to write such a value, for the end of an error text.
    static func remedy(_ definition: TweakDefinition) -> String
    /// Whether a secret of this value counts as set.
    static func isSet(_ value: TweakValue) -> Bool
    /// The names of all values, if they are few; completion offers them.
    static func names(_ definition: TweakDefinition) -> [String]
    /// The most likely intended value of an invalid text.
    static func guess(at text: String) -> String?
}

extension KindRules {
    package static func parseLeniently(
        _ text: String, _ context: LenientContext
    ) throws(TweakError) -> TweakValue? { nil }
    package static func append(_ value: TweakValue, to bytes: inout [UInt8]) { bytes.append(text(value)) }
    package static func json(_ value: TweakValue) -> JSON { .string(text(value)) }
    package static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        json.string.flatMap { parse($0, of: component) }
    }
    package static func isSet(_ value: TweakValue) -> Bool { true }
    package static func names(_ definition: TweakDefinition) -> [String] { [] }
    package static func guess(at text: String) -> String? { nil }
}

/// The tweak or argument that typed text is parsed for.
package struct LenientContext {
    let definition: TweakDefinition
    /// The default: a number alone is a duration in its unit.
    let standard: TweakValue?
    let path: TweakPath
}

extension TweakValue {
    /// A value of the given kind from its text; nil for other text. See ``KindRules/parse(_:of:)``.
    /// - Parameters:
    ///   - text: The text, without surrounding quotes.
    ///   - kind: The kind to parse; `.action` has no values.
    ///   - component: The kind that a list or an optional holds.
    package init?(parsing text: String, as kind: TweakKind, of component: TweakKind? = nil) {
        guard let value = kind.rules.parse(text, of: component) else { return nil }
        self = value
    }

    /// A value of the given kind from JSON; nil for another kind.
    package init?(_ json: JSON, as kind: TweakKind, of component: TweakKind? = nil) {
        guard let value = kind.rules.value(json, of: component) else { return nil }
        self = value
    }

    /// Numbers and Booleans as JSON literals, lists and points as arrays, everything else as a string with the
    /// protocol's text without quotes.
    package var json: JSON { kind.rules.json(self) }

    /// The kind of a list's values, for files; nil for other values.
    package var componentKind: TweakKind? {
        if case .list(let values) = self { values.first?.kind } else { nil }
    }
}

extension TweakValue: CustomStringConvertible {
    /// The value as the protocol, `export` and config files write it; parsing it gives the same value.
    public var text: String { kind.rules.text(self) }

    /// The same as ``text``.
    public var description: String { text }

    /// Appends the same as UTF-8, without an intermediate string.
    package func append(to bytes: inout [UInt8]) { kind.rules.append(self, to: &bytes) }
}
