// Parses text into a tweak's value: exactly for files, leniently for typed input with units and arithmetic.

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
        if kind == .int, let whole = JSONNumber.whole(text) { return whole }
        return try read(text, from: .file)
    }

    /// Parses JSON in the format of replies as a value of this tweak's kind; does not validate it.
    package func read(_ json: JSON) throws(TweakError) -> TweakValue {
        if let value = TweakValue(json, as: definition.kind, of: definition.component?.kind) { return value }
        throw definition.unreadable(json.text, nil, path)
    }
}

extension TweakDefinition {
    /// The same for definitions without a tweak, such as an action's argument.
    func read(
        _ text: String, from source: TextSource, default standard: TweakValue?, for path: TweakPath
    ) throws(TweakError) -> TweakValue {
        if kind == .action { throw ActionKind.noValue(path) }
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
        throw unreadable(text, nil, path)
    }

    func unreadable(_ text: String, _ result: Fraction?, _ path: TweakPath) -> TweakError {
        let isSecret = flags.contains(.secret)
        let shown = isSecret ? "the value" : Quoting.excerpt(text)
        let meaning = isSecret ? nil : result.map { " (\(TweakValue.number($0.nearest).text))" }
        let guess = isSecret ? nil : kind.rules.guess(at: text).map { "; did you mean \($0)?" }
        let wanted = kind == .optional ? component?.kind ?? kind : kind
        return TweakError(
            .badValue, "\(path.token): \(shown)\(meaning ?? "") is not \(wanted.phrase); \(remedy)\(guess ?? "")",
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
