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
    let isSecret: Bool
    var editor: LineEditor
    /// How long, in a field of its own; nil where that is not asked.
    private(set) var time: LineEditor?
    /// Whether the keys go there.
    private(set) var isAtTime = false
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
        editor = purpose == .arguments ? LineEditor() : LineEditor(text: Self.draft(tweak))
        if purpose == .temporary { (time, isChosen) = (LineEditor(text: Self.usualTime), true) }
    }

    private static let usualTime = "10m"

    /// For the name of a preset.
    init(presetNamed name: String = "", among taken: [String]) {
        (purpose, path, token, kind, isSecret) = (.preset, "", "", .string, false)
        (editor, isChosen, self.taken) = (LineEditor(text: name), !name.isEmpty, Set(taken))
    }

    // MARK: Keys

    /// What a key does to the field that has the keys.
    mutating func handle(_ key: Key) {
        let before = [editor, time]
        if key == .character(" "), isAtEndOfValue {
            changeField()
        } else {
            var field = isAtTime ? time ?? editor : editor
            let isTyped = if case .character = key { true } else { key == .backspace || key == .delete }
            if isChosen, isTyped { field = LineEditor() }
            _ = field.handle(key)
            if isAtTime { time = field } else { editor = field }
            isChosen = false
        }
        if before != [editor, time] { problem = nil }
    }

    /// A value without blanks ends with one: whoever types `5 for 1m` in one go gets just that.
    private var isAtEndOfValue: Bool { time != nil && !isAtTime && kind != .string && kind != .choice }

    /// From the value to the time, and back.
    mutating func changeField() {
        guard time != nil else { return }
        isAtTime.toggle()
        isChosen = true
    }

    /// What stands in the line at first: a text without its quotes.
    private static func draft(_ tweak: EditorTweak) -> String {
        switch tweak.shown {
        case .string(let text)?, .choice(let text)?: text
        case let value?: value.text
        case nil: ""
        }
    }

    /// What stands before the line; nil where it speaks for itself.
    var label: String? {
        switch purpose {
        case .value, .temporary: nil
        case .arguments: "arguments"
        case .preset: "save as"
        }
    }

    /// The command that it makes.
    var line: String {
        let text = editor.text
        switch purpose {
        // A text is what was typed, whatever it looks like.
        case .value where kind == .string: return "set \(token) \(Quoting.json(text))"
        case .value: return "set \(token) \(CommandText.token(text.trimmedAtEnd))"
        case .temporary where kind == .string: return "set \(token) \(Quoting.json(text)) for \(timeText)"
        case .temporary: return "set \(token) \(CommandText.token(text.trimmedAtEnd)) for \(timeText)"
        case .arguments: return text.trimmedAtEnd.isEmpty ? "run \(token)" : "run \(token) \(text.trimmedAtEnd)"
        case .preset: return "save \(CommandText.token(text.trimmedAtEnd))"
        }
    }

    /// The time; `for` before it is what people say.
    private var timeText: String {
        let words = (time?.text ?? "").split(separator: " ")
        return words.drop { $0 == "for" }.joined(separator: " ")
    }

    /// Why it cannot even be sent; nil where it can.
    fileprivate var fault: String? {
        guard purpose == .temporary else { return nil }
        if case .duration(let time)? = TweakValue(parsing: timeText, as: .duration), time > .zero { return nil }
        return "\(Quoting.excerpt(timeText)) is no time; write how long, as 30s, 10m or 1h30m"
    }

    /// What the screen shows of the value, in so many columns: of a secret only how long it is.
    func visible(columns: Int) -> (text: String, cursor: Int) {
        if !isSecret { return editor.visible(columns: columns) }
        var dots = LineEditor(text: String(repeating: "•", count: editor.text.count))
        for _ in 0..<(editor.characters.count - editor.cursor) { _ = dots.handle(.left) }
        return dots.visible(columns: columns)
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
        case .tab where prompt.time == nil: return complete(prompt)
        case .tab, .shiftTab: prompt.changeField()
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
