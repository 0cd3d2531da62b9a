// A line that is typed inside the editor: a value, a time, arguments, a name.

import Tweaks
import TweaksWire

/// What is typed, what for, and what became of it.
struct Prompt: Equatable {
    enum Purpose: Equatable {
        case value, temporary, arguments, preset
    }

    let purpose: Purpose
    /// Empty for what is not about one tweak.
    let path: String
    private let token: String
    private let kind: TweakKind
    /// Of an optional, what it holds.
    private let component: TweakKind?
    let isSecret: Bool
    /// What is typed: one field, of a point two, and how long behind them where that is asked.
    private var fields: [LineEditor]
    private let asksForTime: Bool
    /// The field that has the keys.
    private var focus = 0
    /// Whether the next letter replaces the whole text, as in a field that was just entered.
    private(set) var isChosen = false
    /// Names that there are already.
    var taken: Set<String> = []
    /// Why it was refused.
    var problem: String?
    /// Whether the answer is awaited.
    var isSent = false

    init(_ purpose: Purpose, _ tweak: EditorTweak) {
        (self.purpose, path, token, kind, isSecret) = (purpose, tweak.path, tweak.token, tweak.kind, tweak.isSecret)
        component = tweak.kind == .optional ? tweak.component : nil
        fields = purpose == .arguments ? [LineEditor()] : Self.drafts(tweak)
        asksForTime = purpose == .temporary
        if asksForTime { fields.append(LineEditor(text: Self.usualTime)) }
        isChosen = fields.count > 1
    }

    private static let usualTime = "10m"

    /// For the name of a preset.
    init(presetNamed name: String = "", among taken: [String]) {
        (purpose, path, token, kind, isSecret) = (.preset, "", "", .string, false)
        (fields, asksForTime, component) = ([LineEditor(text: name)], false, nil)
        (isChosen, self.taken) = (!name.isEmpty, Set(taken))
    }

    // MARK: Fields

    /// The first field.
    var editor: LineEditor {
        get { fields[0] }
        set { fields[0] = newValue }
    }

    /// What stands before each field, and what the screen shows of it in so many columns.
    var shownFields: [ShownField] {
        fields.indices.map { index in
            ShownField(
                label: index == 0 ? "" : isTime(index) ? " for " : " , ",
                editor: isSecret ? dots(fields[index]) : fields[index],
                hasKeys: index == focus, isChosen: index == focus && isChosen, isTime: isTime(index))
        }
    }

    struct ShownField: Equatable {
        let label: String
        let editor: LineEditor
        let hasKeys: Bool
        let isChosen: Bool
        let isTime: Bool
    }

    /// What Tab leads to; nil where there is one field alone.
    var nextField: String? {
        if fields.count == 1 { return nil }
        let next = (focus + 1) % fields.count
        return isTime(next) ? "how long" : fields.count - (asksForTime ? 1 : 0) > 1 ? ["x", "y"][next] : "the value"
    }

    var isAtTime: Bool { isTime(focus) }

    private func isTime(_ index: Int) -> Bool { asksForTime && index == fields.count - 1 }

    /// Of a secret only how long it is.
    private func dots(_ editor: LineEditor) -> LineEditor {
        var dots = LineEditor(text: String(repeating: "•", count: editor.text.count))
        for _ in 0..<(editor.characters.count - editor.cursor) { _ = dots.handle(.left) }
        return dots
    }

    // MARK: Keys

    /// What a key does to the field that has the keys.
    mutating func handle(_ key: Key) {
        let before = fields
        if (key == .character(" ") || key == .character(",") && kind == .point), isAtEndOfValue {
            changeField()
        } else {
            let isTyped = if case .character = key { true } else { key == .backspace || key == .delete }
            if isChosen, isTyped { fields[focus] = LineEditor() }
            _ = fields[focus].handle(key)
            isChosen = false
        }
        if before != fields { problem = nil }
    }

    /// A value without blanks ends with one: whoever types `5 for 1m` in one go gets just that.
    private var isAtEndOfValue: Bool {
        focus < fields.count - 1 && ![.string, .choice, .list, .optional].contains(kind)
    }

    /// To the next field, and from the last to the first.
    mutating func changeField(by step: Int = 1) {
        if fields.count == 1 { return }
        focus = (focus + step + fields.count) % fields.count
        isChosen = true
    }

    /// What stands in the fields at first: a text without its quotes.
    private static func drafts(_ tweak: EditorTweak) -> [LineEditor] {
        if tweak.kind == .point, !tweak.isSecret {
            let numbers: [Double]? = if case .point(let point)? = tweak.shown { [point.x, point.y] } else { nil }
            return (numbers.map { $0.map(TweakValue.shortest) } ?? ["", ""]).map { LineEditor(text: $0) }
        }
        return [LineEditor(text: tweak.shown?.choiceName ?? "")]
    }

    /// What stands before the line; nil where it speaks for itself.
    var label: String? {
        switch purpose {
        case .value, .temporary: nil
        case .arguments: "arguments"
        case .preset: "save as"
        }
    }

    /// Whether a text is sent as it was typed, whatever it looks like. `none` is no text of an optional.
    private var isText: Bool { kind == .string || component == .string && valueText != TweakValue.notSet.text }

    /// The command that it makes.
    var line: String {
        let text = valueText
        switch purpose {
        case .value where isText: return "set \(token) \(Quoting.json(text))"
        case .value: return "set \(token) \(CommandText.token(text.trimmedAtEnd))"
        case .temporary where isText: return "set \(token) \(Quoting.json(text)) for \(timeText)"
        case .temporary: return "set \(token) \(CommandText.token(text.trimmedAtEnd)) for \(timeText)"
        case .arguments: return text.trimmedAtEnd.isEmpty ? "run \(token)" : "run \(token) \(text.trimmedAtEnd)"
        case .preset: return "save \(CommandText.token(text.trimmedAtEnd))"
        }
    }

    private var valueText: String {
        fields.prefix(fields.count - (asksForTime ? 1 : 0)).map(\.text).joined(separator: ",")
    }

    /// The time; `for` before it is what people say.
    private var timeText: String {
        let words = (asksForTime ? fields[fields.count - 1].text : "").split(separator: " ")
        return words.drop { $0 == "for" }.joined(separator: " ")
    }

    /// Why it cannot even be sent; nil where it can.
    fileprivate var fault: String? {
        guard purpose == .temporary else { return nil }
        if case .duration(let time)? = TweakValue(parsing: timeText, as: .duration), time > .zero { return nil }
        return "\(Quoting.excerpt(timeText)) is no time; write how long, as 30s, 10m or 1h30m"
    }
}

extension EditorModel {
    /// A key while a line is typed.
    mutating func type(_ prompt: Prompt, _ key: Key) {
        var prompt = prompt
        switch key {
        // A pasted line end shall not send anything.
        case .enter where isPasting, .tab where isPasting: prompt.handle(" ")
        case .escape, .control("c"): return leave(prompt)
        case .enter: return submit(prompt)
        case .tab where prompt.nextField == nil: return complete(prompt)
        case .tab: prompt.changeField()
        case .shiftTab: prompt.changeField(by: -1)
        default: prompt.handle(key)
        }
        mode = .typing(prompt)
    }

    private mutating func leave(_ prompt: Prompt) {
        mode = prompt.purpose == .preset ? .presets(presets) : .browsing
    }

    /// Sends it. Nothing is lost when that fails: the line stays until the server has taken it.
    private mutating func submit(_ prompt: Prompt) {
        var prompt = prompt
        if prompt.isSent { return }
        if prompt.purpose == .preset, prompt.editor.text.isEmpty { return leave(prompt) }
        prompt.problem = prompt.fault
        if prompt.problem == nil {
            prompt.isSent = send(prompt.line, .typed)
            if !prompt.isSent { prompt.problem = "not connected" }
        }
        mode = .typing(prompt)
    }

    /// Tab in a line: the choices of a choice, one after the other.
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

    /// The server has answered what was typed.
    mutating func settleTyped(_ answer: Answer) {
        guard case .typing(var prompt) = mode, prompt.isSent else {
            return answer.isRefusal ? say(answer.complaint, .bad) : take(answer)
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
            presets.wanted = prompt.editor.text.trimmedAtEnd
            report(answer, "saved")
            send("presets", .presets)
        case .temporary: report(answer, "set for a while")
        case .value:
            take(answer, isPlain: true)
            remark(answer)
        }
        selectionChanged()
    }
}
