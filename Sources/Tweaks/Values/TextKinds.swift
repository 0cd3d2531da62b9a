// Parses, prints and validates Booleans, strings, choices and colors; actions have no values.

enum BoolKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        switch text.lowercased() {
        case "true", "on", "yes", "1": .bool(true)
        case "false", "off", "no", "0": .bool(false)
        default: nil
        }
    }

    static func text(_ value: TweakValue) -> String { value == .bool(true) ? "true" : "false" }

    static func json(_ value: TweakValue) -> JSON { .bool(value == .bool(true)) }

    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        if case .bool(let value) = json { .bool(value) } else { nil }
    }

    static func remedy(_ definition: TweakDefinition) -> String { "write true or false" }

    static func names(_ definition: TweakDefinition) -> [String] { ["true", "false"] }
}

enum StringKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? { .string(text) }

    static func text(_ value: TweakValue) -> String { Quoting.json(value.choiceName) }

    static func append(_ value: TweakValue, to bytes: inout [UInt8]) {
        if case .string(let text) = value { Quoting.appendJSON(text, to: &bytes) }
    }

    static func json(_ value: TweakValue) -> JSON { .string(value.choiceName) }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        guard case .string(var text) = value else { throw definition.wrongKind(value, path) }
        if let format = definition.format { text = try format.canonical(text, definition, path) }
        if let maxLength = definition.maxLength { try checkLength(text, maxLength, path) }
        if let reason = definition.validate?(text) {
            // The program's own text, unless it reveals a secret.
            let revealsSecret =
                definition.flags.contains(.secret) && (text.isEmpty || !reason.occurrences(of: text).isEmpty)
            throw path.refusal(.badValue, revealsSecret ? "the value is refused" : Quoting.sanitized(reason))
        }
        return ValidatedValue(.string(text))
    }

    /// The longest emoji have 35 bytes; without a limit, one character with many accents could be of any size.
    private static let bytesOfCharacter = 64

    private static func checkLength(_ text: String, _ maxLength: Int, _ path: TweakPath) throws(TweakError) {
        let bytes = text.utf8.count
        if bytes <= maxLength { return }
        let (most, isLarge) = maxLength.multipliedReportingOverflow(by: bytesOfCharacter)
        if !isLarge, bytes > most, text.count <= maxLength {
            throw path.refusal(
                .outOfRange,
                "\(bytes) bytes are too many; at most \(most), \(bytesOfCharacter) for each of \(maxLength) characters")
        }
        if text.count > maxLength {
            throw path.refusal(.outOfRange, "\(text.count) characters are too many; at most \(maxLength)")
        }
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        definition.format?.remedy ?? "write text in quotes"
    }

    static func isSet(_ value: TweakValue) -> Bool { value != .string("") }
}

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

enum ColorKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        TweakColor(text).map(TweakValue.color)
    }

    static func text(_ value: TweakValue) -> String {
        if case .color(let color) = value { color.description } else { "" }
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write #RRGGBB, #RRGGBBAA, rgb(r,g,b), hsl(h,s%,l%), hwb(h w% b%), oklch(l c h) or a CSS color name"
    }

    static func hint(at text: String) -> String? { TweakColor.name(near: text).map { "did you mean \($0)?" } }
}

enum ActionKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? { nil }

    static func text(_ value: TweakValue) -> String { "(action)" }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue { throw noValue(path) }

    static func remedy(_ definition: TweakDefinition) -> String { "use run" }

    static func noValue(_ path: TweakPath) -> TweakError {
        TweakError(.badValue, "\(path.token) is an action and has no value; use: run \(path.token)", path: path)
    }
}
