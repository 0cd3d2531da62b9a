// Edits a line inside the editor: a value, a duration, arguments, or a name.

import Tweaks
import TweaksWire

/// An open prompt: its fields, its purpose, and its state.
struct Prompt: Equatable {
    enum Purpose: Equatable {
        case value, temporary, arguments, preset
    }

    let purpose: Purpose
    /// The path of the tweak; empty for a preset.
    let path: String
    private let token: String
    private let kind: TweakKind
    /// The kind of an optional's value.
    private let component: TweakKind?
    let isSecret: Bool
    /// One field, two for a point; for a temporary value the duration follows.
    private var fields: [LineEditor]
    private let asksForDuration: Bool
    /// The index of the focused field.
    private var focus = 0
    /// Whether typing replaces the whole text, as in a field that just got the focus.
    private(set) var replacesOnTyping = false
    /// Names of existing presets.
    var existingNames: Set<String> = []
    /// The reason of a refusal.
    var problem: String?
    /// Whether the answer is outstanding.
    var isSent = false

    init(_ purpose: Purpose, _ tweak: EditorTweak) {
        self.purpose = purpose
        path = tweak.path
        token = tweak.token
        kind = tweak.kind
        isSecret = tweak.isSecret
        component = tweak.kind == .optional ? tweak.component : nil
        fields = purpose == .arguments ? [LineEditor()] : Self.drafts(tweak)
        asksForDuration = purpose == .temporary
        if asksForDuration { fields.append(LineEditor(text: Self.defaultDuration)) }
        replacesOnTyping = fields.count > 1
    }

    private static let defaultDuration = "10m"

    /// A prompt for the name of a preset.
    init(presetNamed name: String = "", among existingNames: [String]) {
        (purpose, path, token, kind, isSecret) = (.preset, "", "", .string, false)
        (fields, asksForDuration, component) = ([LineEditor(text: name)], false, nil)
        (replacesOnTyping, self.existingNames) = (!name.isEmpty, Set(existingNames))
    }

    // MARK: Fields

    /// The first field.
    var editor: LineEditor {
        get { fields[0] }
        set { fields[0] = newValue }
    }

    /// The fields with their labels, for the screen.
    var shownFields: [ShownField] {
        fields.indices.map { index in
            ShownField(
                label: index == 0 ? "" : isDuration(index) ? " for " : " , ",
                editor: isSecret ? masked(fields[index]) : fields[index],
                hasKeys: index == focus, replacesOnTyping: index == focus && replacesOnTyping,
                isDuration: isDuration(index))
        }
    }

    struct ShownField: Equatable {
        let label: String
        let editor: LineEditor
        let hasKeys: Bool
        let replacesOnTyping: Bool
        let isDuration: Bool
    }

    /// The name of the field that Tab focuses; nil if there is only one field.
    var nextField: String? {
        if fields.count == 1 { return nil }
        let next = (focus + 1) % fields.count
        if isDuration(next) { return "duration" }
        return fields.count - (asksForDuration ? 1 : 0) > 1 ? ["x", "y"][next] : "the value"
    }

    var isDurationFocused: Bool { isDuration(focus) }

    private func isDuration(_ index: Int) -> Bool { asksForDuration && index == fields.count - 1 }

    /// A copy with a dot for each character, for secrets.
    private func masked(_ editor: LineEditor) -> LineEditor {
        var masked = LineEditor(text: String(repeating: "•", count: editor.text.count))
        for _ in 0..<(editor.characters.count - editor.cursor) { _ = masked.handle(.left) }
        return masked
    }

    // MARK: Keys

    /// Handles a key in the focused field.
    mutating func handle(_ key: Key) {
        let before = fields
        if (key == .character(" ") || key == .character(",") && kind == .point), isAtEndOfValue {
            changeField()
        } else {
            let isTyped = if case .character = key { true } else { key == .backspace || key == .delete }
            if replacesOnTyping, isTyped { fields[focus] = LineEditor() }
            _ = fields[focus].handle(key)
            replacesOnTyping = false
        }
        if before != fields { problem = nil }
    }

    /// Whether a space ends the value: for kinds without spaces, so that `5 for 1m` can be typed at once.
    private var isAtEndOfValue: Bool {
        focus < fields.count - 1 && ![.string, .color, .choice, .curve, .list, .optional].contains(kind)
    }

    /// Focuses the next field, or the first after the last.
    mutating func changeField(by step: Int = 1) {
        if fields.count == 1 { return }
        focus = (focus + step + fields.count) % fields.count
        replacesOnTyping = true
    }

    /// The initial texts of the fields, without quotes.
    private static func drafts(_ tweak: EditorTweak) -> [LineEditor] {
        if tweak.kind == .point, !tweak.isSecret {
            let numbers: [Double]? = if case .point(let point)? = tweak.shown { [point.x, point.y] } else { nil }
            return (numbers.map { $0.map(TweakValue.shortest) } ?? ["", ""]).map { LineEditor(text: $0) }
        }
        return [LineEditor(text: tweak.shown?.choiceName ?? "")]
    }

    /// The label of the prompt; nil if none is needed.
    var label: String? {
        switch purpose {
        case .value, .temporary: nil
        case .arguments: "arguments"
        case .preset: "save as"
        }
    }

    /// Whether the text is sent quoted. `none` of an optional is a keyword.
    private var isText: Bool { kind == .string || component == .string && valueText != TweakValue.notSet.text }

    /// The request line. A change such as `*=2` is calculated from the value.
    func line(changing value: TweakValue?) -> String {
        let text = value?.calculation(changing: valueText) ?? valueText
        switch purpose {
        case .value where isText: return "set \(token) \(Quoting.json(text))"
        case .value: return "set \(token) \(CommandText.token(text.trimmedAtEnd))"
        case .temporary where isText: return "set \(token) \(Quoting.json(text)) for \(durationText)"
        case .temporary: return "set \(token) \(CommandText.token(text.trimmedAtEnd)) for \(durationText)"
        case .arguments: return text.trimmedAtEnd.isEmpty ? "run \(token)" : "run \(token) \(text.trimmedAtEnd)"
        case .preset: return "save \(CommandText.token(text.trimmedAtEnd))"
        }
    }

    private var valueText: String {
        fields.prefix(fields.count - (asksForDuration ? 1 : 0)).map(\.text).joined(separator: ",")
    }

    /// The duration, without a leading `for`.
    private var durationText: String {
        let words = (asksForDuration ? fields[fields.count - 1].text : "").split(separator: " ")
        return words.drop { $0 == "for" }.joined(separator: " ")
    }

    /// The error that prevents sending; nil if there is none.
    fileprivate var validationError: String? {
        guard purpose == .temporary else { return nil }
        if case .duration(let time)? = TweakValue(parsing: durationText, as: .duration), time > .zero { return nil }
        return "\(Quoting.excerpt(durationText)) is not a duration; write one like 30s, 10m or 1h30m"
    }
}

extension EditorModel {
    /// Handles a key while a prompt is open.
    mutating func type(_ prompt: Prompt, _ key: Key) {
        var prompt = prompt
        switch key {
        // A pasted line break must not send anything.
        case .enter where isPasting, .tab where isPasting: prompt.handle(" ")
        case .escape, .control("c"): return closePrompt(prompt)
        case .enter: return submit(prompt)
        case .tab where prompt.nextField == nil: return complete(prompt)
        case .tab: prompt.changeField()
        case .shiftTab: prompt.changeField(by: -1)
        default: prompt.handle(key)
        }
        mode = .typing(prompt)
    }

    private mutating func closePrompt(_ prompt: Prompt) {
        mode = prompt.purpose == .preset ? .presets(presets) : .browsing
    }

    /// Sends the line. The prompt stays open until the server has accepted it.
    private mutating func submit(_ prompt: Prompt) {
        var prompt = prompt
        if prompt.isSent { return }
        if prompt.purpose == .preset, prompt.editor.text.isEmpty { return closePrompt(prompt) }
        prompt.problem = prompt.validationError
        if prompt.problem == nil {
            let value = positions[prompt.path].flatMap { tweaks[$0].shown }
            prompt.isSent = send(prompt.line(changing: value), .typed)
            if !prompt.isSent { prompt.problem = "not connected" }
        }
        mode = .typing(prompt)
    }

    /// Completes a choice, or takes the next one.
    private mutating func complete(_ prompt: Prompt) {
        guard prompt.purpose == .value, let position = positions[prompt.path] else { return }
        let choices = tweaks[position].kind == .bool ? ["true", "false"] : tweaks[position].choices
        guard !choices.isEmpty else { return }
        var prompt = prompt
        let typed = prompt.editor.text
        let fitting = choices.filter { $0.hasPrefix(typed) && $0 != typed }
        let next = choices.firstIndex(of: typed).map { choices[($0 + 1) % choices.count] }
        prompt.editor = LineEditor(text: fitting.first ?? next ?? choices[0])
        mode = .typing(prompt)
    }

    /// Handles the answer to a prompt.
    mutating func finishTyped(_ answer: Answer) {
        guard case .typing(var prompt) = mode, prompt.isSent else {
            return answer.isRefusal ? showNotice(answer.complaint, .bad) : apply(answer)
        }
        prompt.isSent = false
        if answer.isRefusal {
            prompt.problem = answer.reason
            mode = .typing(prompt)
            return
        }
        mode = .browsing
        switch prompt.purpose {
        case .arguments: show(answer, of: prompt.path)
        case .preset:
            mode = .presets(presets)
            presets.preferredName = prompt.editor.text.trimmedAtEnd
            report(answer, "saved")
            send("presets", .presets)
        case .temporary: report(answer, "set temporarily")
        case .value:
            apply(answer, isPlain: true)
            showRemark(of: answer)
        }
        selectionChanged()
    }
}
