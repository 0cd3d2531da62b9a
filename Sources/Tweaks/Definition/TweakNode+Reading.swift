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
}

extension TweakDefinition {
    /// The same for what has a definition and is no tweak, such as an argument of an action.
    func read(
        _ text: String, from source: TextSource, default standard: TweakValue?, for path: TweakPath
    ) throws(TweakError) -> TweakValue {
        if kind == .action { throw notAValue(path) }
        // Plain values first: nearly all are.
        if let value = TweakValue(parsing: text, as: kind) {
            return source == .person ? choice(labeled: value) ?? value : value
        }
        if source == .person, let value = try readFreely(text, standard, path) { return value }
        throw unreadable(text, nil, path)
    }

    /// What people write: nil where it is none of these.
    private func readFreely(
        _ text: String, _ standard: TweakValue?, _ path: TweakPath
    ) throws(TweakError) -> TweakValue? {
        switch kind {
        case .int, .number:
            let plain = withoutUnit(text)
            if let value = TweakValue(parsing: plain, as: kind) { return value }
            guard let result = Calculation.result(of: plain) else { return nil }
            if kind == .number { return .number(result.nearest) }
            if let whole = result.whole.flatMap({ TweakValue(whole: $0) }) { return whole }
            throw unreadable(text, result, path)
        case .duration:
            guard case .duration(let standard)? = standard, let nanoseconds = standard.exactNanoseconds else {
                return nil
            }
            return DurationText.parse(text, inUnitOf: nanoseconds).map { .duration(.nanoseconds($0)) }
        case .bool, .string, .color, .choice, .action: return nil
        }
    }

    private func unreadable(_ text: String, _ result: Fraction?, _ path: TweakPath) -> TweakError {
        let isSecret = flags.contains(.secret)
        let shown = isSecret ? "the value" : Quoting.excerpt(text)
        let meaning = isSecret ? nil : result.map { " (\(TweakValue.number($0.nearest).text))" }
        return TweakError(
            .badValue,
            "\(path.token): \(shown)\(meaning ?? "") is no \(kind.rawValue); \(remedy)\(guess(at: text))",
            path: path)
    }

    /// The name of a color that was probably meant.
    private func guess(at text: String) -> String {
        guard kind == .color, !flags.contains(.secret), let name = TweakColor.name(near: text) else { return "" }
        return "; did you mean \(name)?"
    }

    /// The text without the declared unit behind it: `50` for `50 px/s²`.
    fileprivate func withoutUnit(_ text: String) -> String {
        guard let unit, text.hasSuffix(unit) else { return text }
        var rest = text.dropLast(unit.count)
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }

    /// The choice that only one label stands for, where none has that name.
    fileprivate func choice(labeled value: TweakValue) -> TweakValue? {
        guard case .choice(let text) = value, !choices.contains(where: { $0.name == text }) else { return nil }
        let labeled = choices.filter { $0.label == text }
        return labeled.count == 1 ? .choice(labeled[0].name) : nil
    }
}
