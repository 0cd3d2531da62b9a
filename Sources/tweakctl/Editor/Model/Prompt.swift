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
    /// Why it was refused.
    var problem: String?
    /// Whether the answer is awaited.
    var isSent = false

    init(_ purpose: Purpose, _ tweak: EditorTweak) {
        (self.purpose, path, token, kind, isSecret) = (purpose, tweak.path, tweak.token, tweak.kind, tweak.isSecret)
        switch purpose {
        case .value: editor = LineEditor(text: Self.draft(tweak))
        case .temporary:
            // The value is what people change first.
            editor = LineEditor(text: (tweak.shown?.text ?? "") + Self.usualTime)
            for _ in Self.usualTime { _ = editor.handle(.left) }
        case .arguments, .preset: editor = LineEditor()
        }
    }

    private static let usualTime = " for 10m"

    /// For the name of a preset.
    init(presetNamed name: String = "") {
        (purpose, path, token, kind, isSecret) = (.preset, "", "", .string, false)
        editor = LineEditor(text: name)
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
        case .temporary: return "set \(token) \(text.trimmedAtEnd)"
        case .arguments: return text.trimmedAtEnd.isEmpty ? "run \(token)" : "run \(token) \(text.trimmedAtEnd)"
        case .preset: return "save \(CommandText.token(text.trimmedAtEnd))"
        }
    }

    /// Why it cannot even be sent; nil where it can.
    fileprivate var fault: String? {
        guard purpose == .temporary else { return nil }
        let tokens = CommandText.tokens(editor.text)
        return tokens.count == 3 && tokens[1].text == "for" ? nil : "write VALUE for DURATION; a text in quotes"
    }

    /// What the screen shows of it: of a secret only how long it is.
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
        case .enter where isPasting, .tab where isPasting: _ = prompt.editor.handle(" ")
        case .escape, .control("c"): return leave(prompt)
        case .enter: return submit(prompt)
        case .tab: return complete(prompt)
        default:
            let before = prompt.editor.text
            _ = prompt.editor.handle(key)
            if prompt.editor.text != before { prompt.problem = nil }
        }
        mode = .typing(prompt)
    }

    private mutating func leave(_ prompt: Prompt) {
        mode = .browsing
        if prompt.purpose == .preset { send("presets", .presets) }
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
        take(answer)
        switch prompt.purpose {
        case .arguments: show(answer, of: prompt.path)
        case .preset:
            report(answer, "saved")
            send("presets", .presets)
        case .temporary: report(answer, "set for a while")
        case .value: remark(answer)
        }
        selectionChanged()
    }
}
