// Parses, prints and validates the names of declared choices.

enum ChoiceKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? { .choice(text) }

    static func text(_ value: TweakValue) -> String {
        let name = value.choiceName
        return Quoting.isBareWord(name) ? name : Quoting.json(name)
    }

    static func json(_ value: TweakValue) -> JSON { .string(value.choiceName) }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        let name: String
        switch value {
        case .choice(let text), .string(let text): name = text
        default: throw definition.wrongKind(value, path)
        }
        // By bytes, not by `String ==`, so that the stored name is exactly the declared one.
        guard let choice = definition.choices.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            let isSecret = definition.flags.contains(.secret)
            let shown = isSecret ? "the value" : Quoting.excerpt(name)
            let near = isSecret ? nil : Spelling.nearest(to: name, among: definition.choices.map(\.name))
            let guess = near.map { "; did you mean \(TweakValue.choice($0).text)?" } ?? ""
            throw path.refusal(.notAChoice, "\(shown) is none of \(list(definition))\(guess)")
        }
        return ValidatedValue(.choice(choice.name))
    }

    /// The choices for an error text, shortened when there are more than 12.
    private static func list(_ definition: TweakDefinition) -> String {
        let choices = definition.choices
        let names = choices.prefix(12).map { TweakValue.choice($0.name).text }.joined(separator: ", ")
        return choices.count > 12 ? names + ", … (\(choices.count) choices; see describe)" : names
    }

    static func remedy(_ definition: TweakDefinition) -> String { "write one of \(list(definition))" }

    static func names(_ definition: TweakDefinition) -> [String] { definition.choices.map(\.name) }
}

extension TweakDefinition {
    /// The choice with this label, if the label is unique and no choice has it as its name.
    func choice(labeled value: TweakValue) -> TweakValue? {
        guard case .choice(let text) = value, !choices.contains(where: { $0.name == text }) else { return nil }
        let labeled = choices.filter { $0.label == text }
        return labeled.count == 1 ? .choice(labeled[0].name) : nil
    }
}

extension TweakValue {
    /// The name of this value as a choice: its text, without quotes.
    package var choiceName: String {
        switch self {
        case .string(let text), .choice(let text): text
        default: text
        }
    }
}
