// Defines what each kind of value says about itself.

/// How values of one kind are read, printed and judged.
///
/// A new kind is a type that conforms, in a file of its own, and a line in ``TweakKind/rules``. Each function is called with
/// values of this kind alone, except ``judge(_:by:for:_:)``, which takes what was sent.
package protocol KindRules {
    /// Reads what ``text(_:)`` prints, and other exact spellings of it; nil where the text is none. Strings and choices are
    /// taken as they are: quotes are read by the tokenizer.
    /// - Parameter component: What lists and optionals hold.
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue?
    /// Reads what only people write, such as units and sums; nil where it is nothing of the kind.
    static func readFreely(_ text: String, _ reading: FreeReading) throws(TweakError) -> TweakValue?
    /// The text that the protocol, `export` and config files have; it reads back as the same value.
    static func text(_ value: TweakValue) -> String
    /// Appends the same as UTF-8.
    static func append(_ value: TweakValue, to bytes: inout [UInt8])
    /// The value in answers and files. Where it has no exact form, which no tweak takes, it is null.
    static func json(_ value: TweakValue) -> JSON
    /// Reads that; nil where it is of another kind.
    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue?
    /// Refuses a value that the tweak does not take, or says what becomes of it.
    static func judge(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> Judged
    /// Says how such a value is written, behind an error.
    static func remedy(_ definition: TweakDefinition) -> String
    /// Whether a secret of this value counts as set.
    static func isSet(_ value: TweakValue) -> Bool
    /// The names of all values where there are only a few: completion offers them.
    static func names(_ definition: TweakDefinition) -> [String]
    /// What a text that is no value was probably meant to be.
    static func guess(at text: String) -> String?
}

extension KindRules {
    package static func readFreely(_ text: String, _ reading: FreeReading) throws(TweakError) -> TweakValue? { nil }
    package static func append(_ value: TweakValue, to bytes: inout [UInt8]) { bytes.append(text(value)) }
    package static func json(_ value: TweakValue) -> JSON { .string(text(value)) }
    package static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        json.string.flatMap { parse($0, of: component) }
    }
    package static func isSet(_ value: TweakValue) -> Bool { true }
    package static func names(_ definition: TweakDefinition) -> [String] { [] }
    package static func guess(at text: String) -> String? { nil }
}

/// What the text of a person is read for.
package struct FreeReading {
    let definition: TweakDefinition
    /// The default: a number alone is a duration in its unit.
    let standard: TweakValue?
    let path: TweakPath
}

extension TweakValue {
    /// A value of the given kind from its text, or nil when the text is none; see ``KindRules/parse(_:of:)``.
    /// - Parameters:
    ///   - text: What was written, without surrounding quotes.
    ///   - kind: The kind to read; `.action` has no values.
    ///   - component: What a list or an optional holds.
    package init?(parsing text: String, as kind: TweakKind, of component: TweakKind? = nil) {
        guard let value = kind.rules.parse(text, of: component) else { return nil }
        self = value
    }

    /// A value of the given kind from JSON; nil where it is of another kind.
    package init?(_ json: JSON, as kind: TweakKind, of component: TweakKind? = nil) {
        guard let value = kind.rules.value(json, of: component) else { return nil }
        self = value
    }

    /// Numbers and truth values as JSON's own, lists and points as arrays, everything else as the text of the protocol
    /// without quotes.
    package var json: JSON { kind.rules.json(self) }

    /// What a list or an optional of such values has to say about their kind, in files; nil for other values.
    package var componentKind: TweakKind? {
        if case .list(let values) = self { values.first?.kind } else { nil }
    }
}

extension TweakValue: CustomStringConvertible {
    /// The value as the protocol, `export` and config files write it; it reads back as the same value.
    public var text: String { kind.rules.text(self) }

    /// The same as ``text``.
    public var description: String { text }

    /// Appends the same as UTF-8: texts are long, and need not become another text first.
    package func append(to bytes: inout [UInt8]) { kind.rules.append(self, to: &bytes) }
}
