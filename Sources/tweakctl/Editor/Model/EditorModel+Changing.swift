// Changes values: carries out commands, merges repeated ones into few requests, and adjusts colors.

import Tweaks

extension EditorModel {
    /// Carries out a command that changes values; false for other commands.
    mutating func change(_ command: EditorCommand) -> Bool {
        switch command {
        case .move(let direction, let stepSize): move(direction, stepSize)
        case .flip: flip()
        case .enter: enter()
        case .color: beginColor()
        case .undo: step(.undo)
        case .redo: step(.redo)
        case .reset: reset()
        case .resetCollection: askToReset()
        case .temporary: beginTemporary()
        case .keep: if let tweak = selectedTweak { send("keep \(tweak.token)", .command("kept")) }
        default: return false
        }
        return true
    }

    private mutating func move(_ direction: Int, _ stepSize: StepSize) {
        guard let position = selectedPosition else { return fold(direction < 0) }
        let tweak = tweaks[position]
        if tweak.color != nil, canChange(tweak) { return beginColor() }
        guard canChange(tweak) else { return }
        if let value = ValueStepper.stepped(tweak, direction, stepSize) {
            ask(for: value, of: position)
        } else {
            let isAction = tweak.kind == .action
            showNotice(isAction ? "an action has no value; Enter runs it" : "this value has no steps; Enter types one")
        }
    }

    private mutating func flip() {
        guard let position = selectedPosition else { return fold() }
        let tweak = tweaks[position]
        if tweak.kind == .action { return begin(Prompt(.arguments, tweak)) }
        guard canChange(tweak) else { return }
        if let value = ValueStepper.flipped(tweak) {
            ask(for: value, of: position)
        } else if tweak.color != nil {
            beginColor()
        } else {
            showNotice("← → change this value, and Enter types one")
        }
    }

    private mutating func enter() {
        guard let tweak = selectedTweak else { return fold() }
        if tweak.kind == .action {
            if send("run \(tweak.token)", .run(tweak.path)) { showNotice("running \(tweak.path)…") }
        } else if canChange(tweak) {
            begin(Prompt(.value, tweak))
        }
    }

    private mutating func beginTemporary() {
        guard let tweak = selectedTweak, canChange(tweak), tweak.kind != .action else { return }
        if tweak.isSecret { return showNotice("the editor cannot set a secret temporarily") }
        begin(Prompt(.temporary, tweak))
    }

    mutating func begin(_ prompt: Prompt) { mode = .typing(prompt) }

    /// Whether a tweak can be changed; shows a notice if not.
    mutating func canChange(_ tweak: EditorTweak) -> Bool {
        if tweak.isReadOnly { showNotice("\(tweak.parts[2]) is read-only: the program sets it") }
        return !tweak.isReadOnly
    }

    // MARK: Reset

    private mutating func reset() {
        guard let tweak = selectedTweak else { return askToReset() }
        if tweak.kind != .action, canChange(tweak) { send("reset \(tweak.token)", .command("reset")) }
    }

    private mutating func askToReset() {
        guard rows.indices.contains(cursor) else { return }
        let group = selectedTweak?.collection ?? identity(of: rows[cursor])
        let modified = counts(of: group).modified
        if modified == 0 { return showNotice("nothing in \(group) is modified") }
        let what = modified == 1 ? "1 modified tweak" : "\(modified) modified tweaks"
        mode = .asking(Question(text: "reset \(group), \(what)?", action: .reset(group)))
    }

    // MARK: Requests

    /// Shows a value at once, and sends it; while a request is in flight only the newest value is kept.
    mutating func ask(for value: TweakValue, of position: Int) {
        let tweak = tweaks[position]
        if value == tweak.shown { return }
        if inFlight.keys.contains(tweak.path) {
            tweaks[position].requested = value
            inFlight.updateValue(value, forKey: tweak.path)
        } else if send("set \(tweak.token) \(value.text)", .change(tweak.path)) {
            tweaks[position].requested = value
            inFlight.updateValue(nil, forKey: tweak.path)
        }
    }

    /// Handles the answer to a change, and sends the newest value if there is one.
    mutating func finishChange(_ path: String, _ answer: Answer) {
        defer { endDrag() }
        let next = inFlight.removeValue(forKey: path) ?? nil
        guard let position = positions[path] else { return }
        if answer.isRefusal {
            tweaks[position].requested = nil
            return showNotice(answer.complaint, .bad)
        }
        apply(answer, isPlain: true)
        if let next, next != tweaks[position].value, link == .live {
            inFlight.updateValue(nil, forKey: path)
            emit(.send(["set \(tweaks[position].token) \(next.text)"], .change(path), answer: 0))
        } else {
            tweaks[position].requested = nil
            selectionChanged()
        }
    }
}

extension EditorModel {
    /// Starts adjusting the selected color.
    mutating func beginColor() {
        guard let tweak = selectedTweak, !tweak.isReadOnly else { return }
        if tweak.color == nil { return showNotice("\(tweak.parts[2]) is not a color") }
        mode = .coloring(tweak.path, channel: 0)
    }

    /// Handles a command while a color is adjusted.
    mutating func color(_ path: String, _ channel: Int, _ command: EditorCommand?) {
        guard let position = positions[path], let color = tweaks[position].color else {
            mode = .browsing
            return
        }
        let value = color.channels[channel]
        var wanted = value
        switch command {
        case .up?: mode = .coloring(path, channel: (channel + 3) % 4)
        case .down?: mode = .coloring(path, channel: (channel + 1) % 4)
        case .move(let direction, let stepSize)?: wanted += direction * (stepSize == .coarse ? 16 : 1)
        case .first?: wanted = 0
        case .last?: wanted = 255
        case .undo?: step(.undo)
        case .back?: mode = .browsing
        default: break
        }
        wanted = min(max(wanted, 0), 255)
        if wanted != value { ask(for: .color(color.with(channel, wanted)), of: position) }
    }
}

extension TweakColor {
    /// Red, green, blue, alpha.
    var channels: [Int] { [red8, green8, blue8, alpha8].map { Int($0) } }

    /// The color with another value of one channel.
    func with(_ channel: Int, _ value: Int) -> TweakColor {
        var all = channels.map { UInt8(clamping: $0) }
        all[channel] = UInt8(clamping: value)
        return TweakColor(red8: all[0], green8: all[1], blue8: all[2], alpha8: all[3])
    }

    /// The opaque color that it is on a gray.
    func over(gray: Int) -> TweakColor {
        let alpha = Int(alpha8)
        let mixed = [red8, green8, blue8].map { UInt8((Int($0) * alpha + gray * (255 - alpha)) / 255) }
        return TweakColor(red8: mixed[0], green8: mixed[1], blue8: mixed[2])
    }
}
