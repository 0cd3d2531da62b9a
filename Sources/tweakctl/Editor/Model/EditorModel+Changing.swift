// Keys that change values, and how few requests they make.

import Tweaks

extension EditorModel {
    /// Does it, if it is a change.
    mutating func change(_ deed: Deed) -> Bool {
        switch deed {
        case .move(let direction, let pace): move(direction, pace)
        case .flip: flip()
        case .enter: enter()
        case .color: beginColor()
        case .undo: send("undo", .deed("undo", insisting: "undo force"))
        case .redo: send("redo", .deed("redo", insisting: "redo force"))
        case .reset: reset()
        case .resetCollection: askToReset()
        case .temporary: beginTemporary()
        case .keep: if let tweak = selectedTweak { send("keep \(tweak.token)", .deed("kept")) }
        default: return false
        }
        return true
    }

    private mutating func move(_ direction: Int, _ pace: Pace) {
        guard let position = selectedPosition else { return fold(direction < 0) }
        let tweak = tweaks[position]
        if tweak.color != nil, canChange(tweak) { return beginColor() }
        guard canChange(tweak) else { return }
        if let value = Nudge.moved(tweak, direction, pace) {
            ask(for: value, of: position)
        } else {
            say(tweak.kind == .action ? "an action has no value; Enter runs it" : "Enter types a value")
        }
    }

    private mutating func flip() {
        guard let position = selectedPosition else { return fold() }
        let tweak = tweaks[position]
        if tweak.kind == .action { return begin(Prompt(.arguments, tweak)) }
        guard canChange(tweak) else { return }
        if let value = Nudge.flipped(tweak) {
            ask(for: value, of: position)
        } else if tweak.color != nil {
            beginColor()
        } else {
            say("Space flips; ← → change this, and Enter types a value")
        }
    }

    private mutating func enter() {
        guard let tweak = selectedTweak else { return fold() }
        if tweak.kind == .action {
            if send("run \(tweak.token)", .run(tweak.path)) { say("running \(tweak.path)…") }
        } else if canChange(tweak) {
            begin(Prompt(.value, tweak))
        }
    }

    private mutating func beginTemporary() {
        guard let tweak = selectedTweak, canChange(tweak), tweak.kind != .action else { return }
        if tweak.isSecret { return say("a secret cannot be set for a while from here") }
        begin(Prompt(.temporary, tweak))
    }

    mutating func begin(_ prompt: Prompt) { mode = .typing(prompt) }

    /// Says why not, where it cannot be.
    private mutating func canChange(_ tweak: EditorTweak) -> Bool {
        if tweak.isReadOnly { say("\(tweak.parts[2]) is a figure: the program says what it is") }
        return !tweak.isReadOnly
    }

    // MARK: Back

    private mutating func reset() {
        guard let tweak = selectedTweak else { return askToReset() }
        if tweak.kind != .action, canChange(tweak) { send("reset \(tweak.token)", .deed("reset")) }
    }

    private mutating func askToReset() {
        guard rows.indices.contains(cursor) else { return }
        let group = selectedTweak?.collection ?? identity(of: rows[cursor])
        let modified = counts(of: group).modified
        if modified == 0 { return say("nothing in \(group) is modified") }
        let what = modified == 1 ? "1 modified tweak" : "\(modified) modified tweaks"
        mode = .asking(Question(text: "reset \(group), \(what)?", deed: .reset(group)))
    }

    // MARK: Asking for values

    /// Shows a value as if it were there, and asks for it; while an answer is awaited only the newest one is kept.
    mutating func ask(for value: TweakValue, of position: Int) {
        let tweak = tweaks[position]
        if value == tweak.shown { return }
        if underWay.keys.contains(tweak.path) {
            tweaks[position].wanted = value
            underWay.updateValue(value, forKey: tweak.path)
        } else if send("set \(tweak.token) \(value.text)", .change(tweak.path)) {
            tweaks[position].wanted = value
            underWay.updateValue(nil, forKey: tweak.path)
        }
    }

    /// The answer is there: the newest value is next, if there is one.
    mutating func settle(_ path: String, _ answer: Answer) {
        let next = underWay.removeValue(forKey: path) ?? nil
        guard let position = positions[path] else { return }
        if answer.isRefusal {
            tweaks[position].wanted = nil
            return say(answer.complaint, .bad)
        }
        take(answer, isPlain: true)
        if let next, next != tweaks[position].value, link == .live {
            underWay.updateValue(nil, forKey: path)
            want(.send(["set \(tweaks[position].token) \(next.text)"], .change(path), answer: 0))
        } else {
            tweaks[position].wanted = nil
            selectionChanged()
        }
    }
}
