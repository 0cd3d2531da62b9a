// Declares how a kind of value is parsed, printed and validated, and reads the values of a tweak by these rules.

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
    /// What an invalid text was probably meant to be, for the end of an error text.
    static func hint(at text: String) -> String?
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
    package static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        if value.kind != definition.kind { throw definition.wrongKind(value, path) }
        return ValidatedValue(value)
    }
    package static func isSet(_ value: TweakValue) -> Bool { true }
    package static func names(_ definition: TweakDefinition) -> [String] { [] }
    package static func hint(at text: String) -> String? { nil }
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

/// A valid value, and how it was adjusted.
package struct ValidatedValue: Sendable {
    package let value: TweakValue
    package let adjustment: TweakAdjustment

    init(_ value: TweakValue, _ adjustment: TweakAdjustment = .none) {
        self.value = value
        self.adjustment = adjustment
    }
}

/// How a tweak's policy (clamp or snap) changed a value.
public enum TweakAdjustment: Hashable, Sendable {
    /// The value was accepted unchanged.
    case none
    /// The value lay outside the range.
    indirect case clamped(from: TweakValue)
    /// The value was not on a step.
    indirect case snapped(from: TweakValue)
}

extension TweakDefinition {
    /// Validates a value: the kind first, then range, step, choices, length and the program's own check.
    /// - Parameter policy: Overrides the declared policy, as the `value` property does to clamp.
    package func validate(
        _ value: TweakValue, for path: TweakPath, policy: TweakPolicy? = nil
    ) throws(TweakError) -> ValidatedValue {
        try kind.rules.validate(value, by: self, for: path, policy ?? self.policy)
    }

    /// How to write a value of this kind, for errors.
    var remedy: String { kind.rules.remedy(self) }

    /// `, in 10...100`
    var rangeRemedy: String { rangeText.map { ", in \($0)" } ?? "" }

    /// The error for a value of another kind.
    func wrongKind(_ value: TweakValue, _ path: TweakPath) -> TweakError {
        TweakError(.badValue, "\(path.token) is \(kind.phrase), not \(value.kind.phrase); \(remedy)", path: path)
    }

    // MARK: Range and step

    func outside(
        _ value: TweakValue, nearest: TweakValue, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        if policy != .reject { return ValidatedValue(nearest, .clamped(from: value)) }
        throw path.refusal(.outOfRange, "\(shown(value)) is outside \(rangeText ?? "")")
    }

    private func offStep(
        _ value: TweakValue, nearest: TweakValue, _ path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        if policy == .snap { return ValidatedValue(nearest, .snapped(from: value)) }
        let (step, origin) = (step?.text ?? "", origin?.text ?? "")
        throw path.refusal(
            .outOfRange, "\(value.text) is not on a step of \(step) from \(origin); the nearest is \(nearest.text)")
    }

    /// Validates an int, or a duration's nanoseconds.
    func validateWhole(_ whole: Int128, _ path: TweakPath, _ policy: TweakPolicy) throws(TweakError) -> ValidatedValue {
        // Without an upper bound a value has 64 signed bits: types beyond those declare one.
        guard let value = self.whole(whole), whole <= Int64.max || bounds?.upper != nil else {
            let shown = flags.contains(.secret) ? "the value" : "\(whole)"
            throw path.refusal(.badValue, "\(shown) does not fit in 64 signed bits; \(remedy)")
        }
        guard case .whole(let lower, let upper, let step, let standard) = limits else { return ValidatedValue(value) }
        switch checkLimits(whole, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return ValidatedValue(value)
        case .outside(let nearest): return try outside(value, nearest: self.whole(nearest) ?? value, path, policy)
        case .offStep(let nearest): return try offStep(value, nearest: self.whole(nearest) ?? value, path, policy)
        }
    }

    /// Validates a number.
    func validateReal(_ value: Double, _ path: TweakPath, _ policy: TweakPolicy) throws(TweakError) -> ValidatedValue {
        guard value.isFinite else { throw path.refusal(.badValue, "\(value) is not a finite number; \(remedy)") }
        guard case .real(let lower, let upper, let step, let standard) = limits else {
            return ValidatedValue(.number(value))
        }
        switch checkLimits(value, lower: lower, upper: upper, step: step, default: standard) {
        case .fits: return ValidatedValue(.number(value))
        case .outside(let nearest): return try outside(.number(value), nearest: .number(nearest), path, policy)
        case .offStep(let nearest): return try offStep(.number(value), nearest: .number(nearest), path, policy)
        }
    }
}

extension TweakPath {
    /// An error about the tweak with this path.
    func refusal(_ code: TweakError.Code, _ reason: String) -> TweakError {
        TweakError(code, "\(token): \(reason)", path: self)
    }
}

extension TweakAdjustment {
    /// The adjustment of a whole value whose parts were validated separately.
    init(of parts: some Sequence<TweakAdjustment>, to value: TweakValue) {
        self = .none
        for part in parts {
            switch part {
            case .none: break
            case .clamped: self = .clamped(from: value)
            case .snapped: if self == .none { self = .snapped(from: value) }
            }
        }
    }
}

/// The source of a text, which determines how leniently it is parsed.
package enum TextSource: Sendable {
    /// Typed at a prompt or in the panel: `40*2`, `50 px` in the tweak's unit, `2` in a duration's, a choice label.
    case typed
    /// A file, a preset or an import: only the output format of `export`, so that its meaning never changes.
    case file
}

extension TweakNode {
    /// Parses text, without quotes, as a value of this tweak's kind; does not validate it.
    /// - Throws: ``TweakError`` with code `bad-value` that explains how to write such a value.
    package func read(_ text: String, from source: TextSource) throws(TweakError) -> TweakValue {
        try definition.read(text, from: source, default: defaultValue, for: path)
    }

    /// The exact decimal that a typed number is; nil for other text, such as a sum.
    package func decimal(_ text: String) -> ExactDecimal? { ExactDecimal(definition.withoutUnit(text)) }

    /// Parses a JSON number, `true` or `false`, which any kind reads from its text: for an int, `5.0` is 5.
    package func read(literal text: String) throws(TweakError) -> TweakValue {
        let kind = definition.kind == .optional ? definition.component?.kind : definition.kind
        if kind == .int, let whole = IntKind.whole(text) { return whole }
        return try read(text, from: .file)
    }

    /// Parses JSON in the format of replies as a value of this tweak's kind; does not validate it.
    package func read(_ json: JSON) throws(TweakError) -> TweakValue {
        if let value = TweakValue(json, as: definition.kind, of: definition.component?.kind) { return value }
        throw definition.unreadable(json.text, path)
    }
}

extension TweakDefinition {
    /// The same for definitions without a tweak, such as an action's argument.
    func read(
        _ text: String, from source: TextSource, default standard: TweakValue?, for path: TweakPath
    ) throws(TweakError) -> TweakValue {
        if kind == .action { throw ActionKind.noValue(path) }
        if kind == .optional, source == .typed, OptionalKind.isEmptied(text, component) { return .notSet }
        // Plain values are the common case.
        if let value = TweakValue(parsing: text, as: kind, of: component?.kind) {
            return source == .typed ? choice(labeled: value) ?? value : value
        }
        if source == .typed,
            let value = try kind.rules.parseLeniently(
                text, LenientContext(definition: self, standard: standard, path: path))
        {
            return value
        }
        throw unreadable(text, path)
    }

    /// - Parameters:
    ///   - result: The number that the text means, if it is one.
    ///   - reason: What is wrong with a calculation.
    func unreadable(
        _ text: String, meaning result: Fraction? = nil, reason: String? = nil, _ path: TweakPath
    ) -> TweakError {
        let isSecret = flags.contains(.secret)
        let shown = isSecret ? "the value" : Quoting.excerpt(text)
        let meaning = isSecret ? nil : result.map { " (\(TweakValue.number($0.nearest).text))" }
        let wanted = kind == .optional ? component?.kind ?? kind : kind
        let hint = isSecret ? nil : wanted.rules.hint(at: withoutUnit(text)).map { "; \($0)" }
        return TweakError(
            .badValue,
            "\(path.token): \(shown)\(meaning ?? "") is not \(wanted.phrase); \(reason ?? remedy)\(hint ?? "")",
            path: path)
    }

    /// The text without the declared unit after it: `50` for `50 px/s²`.
    func withoutUnit(_ text: String) -> String {
        guard let unit, text.hasSuffix(unit) else { return text }
        var rest = text.dropLast(unit.count)
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
