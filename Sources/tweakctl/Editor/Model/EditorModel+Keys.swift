// Defines the key bindings, and handles keys in the tweak list and in the search.

import Tweaks

extension EditorModel {
    /// Handles a key press.
    mutating func press(_ key: Key) {
        switch key {
        case .pasteBegin: isPasting = true
        case .pasteEnd: isPasting = false
        case .control("l"): emit(.redraw)
        case .control("z") where !isPasting: suspend()
        default:
            notice = nil
            route(key)
        }
    }

    private mutating func route(_ key: Key) {
        switch mode {
        case .searching(let editor): search(editor, key)
        case .typing(let prompt): type(prompt, key)
        // Pasted text must not be interpreted as commands.
        case _ where isPasting: break
        case .browsing: browse(KeyTable.command(for: key, in: KeyTable.browsing))
        case .coloring(let path, let channel): color(path, channel, KeyTable.command(for: key, in: KeyTable.coloring))
        case .asking(let question): answer(question, key)
        case .reading(let page): read(page, key)
        case .presets(let list): choose(list, key)
        }
    }

    private mutating func browse(_ command: EditorCommand?) {
        guard let command else { return }
        if walk(command) || change(command) { return }
        switch command {
        case .search:
            mode = .searching(LineEditor(text: search))
        case .onlyModified:
            showsOnlyModified.toggle()
            arrange()
        // Shows the cached list at once: the next key is meant for that page, however slow the connection is.
        case .presets: if send("presets", .presets) { mode = .presets(presets) }
        case .history: sendForText("history 200", .page("history"))
        case .explain:
            if let tweak = selectedTweak { sendForText("explain \(tweak.token)", .page("explain \(tweak.path)")) }
        case .help: mode = .reading(Page(title: "keys", lines: Page.help, isHelp: true))
        case .back: endSearch()
        case .quit: emit(.quit)
        default: break
        }
    }

    private mutating func walk(_ command: EditorCommand) -> Bool {
        let page = max(EditorLayout(size).listRows - 1, 1)
        switch command {
        case .up: go(to: cursor - 1)
        case .down: go(to: cursor + 1)
        case .pageUp: go(to: cursor - page)
        case .pageDown: go(to: cursor + page)
        case .first: go(to: 0)
        case .last: go(to: rows.count - 1)
        case .nextCollection: goToCollection(1)
        case .previousCollection: goToCollection(-1)
        default: return false
        }
        return true
    }

    // MARK: Search

    private mutating func search(_ editor: LineEditor, _ key: Key) {
        var editor = editor
        switch key {
        case .escape, .control("c"): return endSearch()
        case .enter where !isPasting:
            mode = .browsing
            return
        case .up: return go(to: cursor - 1)
        case .down: return go(to: cursor + 1)
        case .pageUp, .pageDown, .tab, .shiftTab:
            _ = KeyTable.command(for: key, in: KeyTable.browsing).map { walk($0) }
            return
        default: _ = editor.handle(isPasting && key == .enter ? " " : key)
        }
        mode = .searching(editor)
        guard editor.text != search else { return }
        search = editor.text
        // The best match is first.
        cursor = 0
        top = 0
        arrange(selecting: nil)
    }

    /// Shows all rows again and keeps the selection.
    private mutating func endSearch() {
        mode = .browsing
        if !isFiltered { return }
        let selected = selectedTweak
        if search.isEmpty { showsOnlyModified = false }
        search = ""
        // Unfolds the groups of the selected tweak, so that it is visible.
        if let selected { folded.subtract([selected.parts[0], selected.collection]) }
        arrange(selecting: selected?.path)
    }
}

/// A command that a key triggers.
enum EditorCommand: Equatable {
    case up, down, pageUp, pageDown, first, last, nextCollection, previousCollection
    case move(Int, StepSize)
    case flip, enter, fold
    case search, onlyModified
    case undo, redo, reset, resetCollection
    case color, temporary, keep
    case presets, history, explain, help
    case save, swap, difference, delete
    case redraw, suspend, back, quit
}

/// Keys with their commands and descriptions.
struct KeyBinding {
    let keys: [Key]
    /// The keys as the help shows them.
    let shown: String
    let commands: [EditorCommand]
    let summary: String
    /// A short label and the priority in the footer; no label where it is not shown there.
    let label: String?
    let rank: Int

    init(
        _ keys: [Key], _ shown: String, _ commands: [EditorCommand], _ summary: String, _ label: String? = nil,
        rank: Int = 9
    ) {
        self.keys = keys
        self.shown = shown
        self.commands = commands
        self.summary = summary
        self.label = label
        self.rank = rank
    }

    fileprivate func command(for key: Key) -> EditorCommand? {
        guard let position = keys.firstIndex(of: key) else { return nil }
        return commands[position % commands.count]
    }
}

/// The key bindings of each mode.
enum KeyTable {
    /// In the tweak list.
    static let browsing = moving + changing + looking

    private static let moving = [
        KeyBinding([.up, .down, "k", "j"], "↑ ↓ k j", [.up, .down], "go up and down"),
        KeyBinding(
            [.pageUp, .pageDown, .control("b"), .control("f")], "PgUp PgDn", [.pageUp, .pageDown],
            "go up and down by a page"),
        KeyBinding([.home, .end, "g", "G"], "Home End g G", [.first, .last], "go to the first or last row"),
        KeyBinding(
            [.tab, .shiftTab], "Tab Shift-Tab", [.nextCollection, .previousCollection], "next or previous collection"),
        KeyBinding([], "click, wheel", [], "select a row, fold a group; scroll"),
    ]

    private static let changing = [
        KeyBinding(
            [.left, .right], "← →", [.move(-1, .normal), .move(1, .normal)],
            "change the value by its step; fold a group", "change", rank: 1),
        KeyBinding(
            [.shiftLeft, .shiftRight], "Shift-← Shift-→", [.move(-1, .coarse), .move(1, .coarse)],
            "change the value by ten steps"),
        KeyBinding(
            [.wordLeft, .wordRight, "<", ">"], "Alt-← Alt-→", [.move(-1, .fine), .move(1, .fine)],
            "change the value by a tenth of a step, if no step is declared"),
        KeyBinding([], "click, drag", [], "on a bar: set the value there"),
        KeyBinding(
            [" "], "Space", [.flip], "flip a bool; take the next choice; fold a group; run an action with arguments",
            "flip", rank: 2),
        KeyBinding([.enter], "Enter", [.enter], "type a value; run an action; fold a group", "type", rank: 2),
        KeyBinding(["c"], "c", [.color], "adjust a color by its channels", "channels", rank: 2),
        KeyBinding(["u"], "u", [.undo], "undo your last change; asks before another user's", "undo", rank: 5),
        KeyBinding(["U", .control("r")], "U Ctrl-R", [.redo], "redo it; asks before another user's"),
        KeyBinding(
            ["r", .backspace, .delete], "r", [.reset], "reset the tweak; the next layer applies", "reset", rank: 6),
        KeyBinding(["R"], "R", [.resetCollection], "reset the whole collection; asks first"),
        KeyBinding(
            ["t"], "t", [.temporary], "set a temporary value; it reverts when its time is over", "temporary", rank: 8),
        KeyBinding(["K"], "K", [.keep], "make a temporary value permanent"),
    ]

    private static let looking = [
        KeyBinding(
            ["/", .control("s")], "/", [.search], "search as you type; Escape ends the search", "search", rank: 4),
        KeyBinding(["m"], "m", [.onlyModified], "show only modified tweaks, or all", "modified", rank: 8),
        KeyBinding(["p"], "p", [.presets], "presets: load, save, swap, compare, delete", "presets", rank: 7),
        KeyBinding(["h"], "h", [.history], "history: the last changes, with origin and time", "history", rank: 9),
        KeyBinding(
            ["e"], "e", [.explain], "explain: every layer of the tweak, with origin and time", "explain", rank: 9),
        KeyBinding(["?", .control("g")], "?", [.help], "this help", "help", rank: 3),
        KeyBinding([], "Shift-drag", [], "mark text, as without the editor"),
        KeyBinding([.control("l")], "Ctrl-L", [.redraw], "draw the screen again"),
        KeyBinding([.control("z")], "Ctrl-Z", [.suspend], "suspend; fg in the shell resumes"),
        KeyBinding([.escape], "Escape", [.back], "leave a search, a page, or a prompt"),
        KeyBinding(["q", .control("c")], "q Ctrl-C", [.quit], "quit", "quit", rank: 3),
    ]

    /// While a color is adjusted.
    static let coloring = [
        KeyBinding(
            [.up, .down, "k", "j", .shiftTab, .tab], "↑ ↓", [.up, .down], "choose a channel", "channel", rank: 1),
        KeyBinding(
            [.left, .right], "← →", [.move(-1, .normal), .move(1, .normal)], "change it by 1", "by 1", rank: 1),
        KeyBinding(
            [.shiftLeft, .shiftRight], "Shift-← Shift-→", [.move(-1, .coarse), .move(1, .coarse)],
            "change it by 16", "by 16", rank: 3),
        KeyBinding([.home, .end], "Home End", [.first, .last], "set it to 0 or 255", "0, 255", rank: 4),
        KeyBinding(["u"], "u", [.undo], "undo", "undo", rank: 5),
        KeyBinding([.enter, .escape, "q", "c"], "Enter", [.back], "done", "done", rank: 2),
    ]

    /// On the page of presets.
    static let presets = [
        KeyBinding([.up, .down, "k", "j"], "↑ ↓", [.up, .down], "choose a preset"),
        KeyBinding([.enter, "l"], "Enter", [.enter], "load it", "load", rank: 1),
        KeyBinding(["s"], "s", [.save], "save the current values under a name", "save as", rank: 2),
        KeyBinding(["w"], "w", [.swap], "swap: replace all overrides with it; swap again to go back", "swap", rank: 4),
        KeyBinding(["d"], "d", [.difference], "compare with the current values", "compare", rank: 5),
        KeyBinding(["D", .delete], "D", [.delete], "delete it; asks first", "delete", rank: 6),
        KeyBinding([.escape, "q", "p"], "Escape", [.back], "back", "back", rank: 3),
    ]

    /// On text pages.
    static let reading = [
        KeyBinding([.up, .down, "k", "j"], "↑ ↓", [.up, .down], "go up and down", "scroll", rank: 2),
        KeyBinding(
            [.pageUp, .pageDown, "b", " "], "PgUp PgDn", [.pageUp, .pageDown], "go up and down by a page", "page",
            rank: 3),
        KeyBinding([.home, .end, "g", "G"], "Home End", [.first, .last], "go to the start or the end"),
        KeyBinding([.escape, .enter, "q", "?", "e", "h"], "Escape", [.back], "back", "back", rank: 1),
    ]

    /// The sections of the help and the manual.
    static let sections: [(title: String, bindings: [KeyBinding])] = [
        ("Navigation", moving), ("Changing values", changing), ("Viewing", looking), ("Color channels", coloring),
        ("Presets", presets),
    ]

    /// The command of a key in a table.
    static func command(for key: Key, in table: [KeyBinding]) -> EditorCommand? {
        for binding in table {
            if let command = binding.command(for: key) { return command }
        }
        return nil
    }
}

extension Key: ExpressibleByUnicodeScalarLiteral {
    /// A letter literal is the key of that letter.
    init(unicodeScalarLiteral letter: Unicode.Scalar) { self = .character(Character(letter)) }
}
