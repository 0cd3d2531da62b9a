// The one place where text becomes a value of a tweak: files are read exactly, people also with units and sums.

/// Where text comes from, and so how freely it is read.
package enum TextSource: Sendable {
    /// A person at a prompt or a page: `40*2`, `50 px` in the tweak's own unit, `2` in a duration's, a choice's label.
    case person
    /// A file, a preset, an import: only what `export` could have written, so that it means the same in each version.
    case file
}

extension TweakNode {
    /// Reads text, without the quotes of the wire, as a value of this tweak's kind; it is not judged yet.
    /// - Throws: ``TweakError`` with code `bad-value` that says how such a value is written.
    package func read(_ text: String, from source: TextSource) throws(TweakError) -> TweakValue {
        try definition.read(text, from: source, default: defaultValue, for: path)
    }

    /// Reads JSON as a value of this tweak's kind, as answers have it; it is not judged yet.
    package func read(_ json: JSON) throws(TweakError) -> TweakValue {
        if let value = TweakValue(json, as: definition.kind, of: definition.component?.kind) { return value }
        throw definition.unreadable(json.text, nil, path)
    }
}

extension TweakDefinition {
    /// The same for what has a definition and is no tweak, such as an argument of an action.
    func read(
        _ text: String, from source: TextSource, default standard: TweakValue?, for path: TweakPath
    ) throws(TweakError) -> TweakValue {
        if kind == .action { throw ActionKind.noValue(path) }
        // Plain values first: nearly all are.
        if let value = TweakValue(parsing: text, as: kind, of: component?.kind) {
            return source == .person ? choice(labeled: value) ?? value : value
        }
        if source == .person,
            let value = try kind.rules.readFreely(
                text, FreeReading(definition: self, standard: standard, path: path))
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
            .badValue, "\(path.token): \(shown)\(meaning ?? "") is no \(wanted.rawValue); \(remedy)\(guess ?? "")",
            path: path)
    }

    /// The text without the declared unit behind it: `50` for `50 px/s²`.
    func withoutUnit(_ text: String) -> String {
        guard let unit, text.hasSuffix(unit) else { return text }
        var rest = text.dropLast(unit.count)
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
