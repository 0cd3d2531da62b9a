// The one table of the editor's keys: it decides what they do, and feeds the footer, the help and the manual.

/// What a key asks for.
enum Deed: Equatable {
    case up, down, pageUp, pageDown, first, last, nextCollection, previousCollection
    case move(Int, Pace)
    case flip, enter, fold
    case search, onlyModified
    case undo, redo, reset, resetCollection
    case color, temporary, keep
    case presets, history, explain, help
    case save, swap, difference, delete
    case redraw, suspend, back, quit
}

/// One line of the table.
struct KeyBinding {
    let keys: [Key]
    /// As help shows them.
    let shown: String
    let deeds: [Deed]
    let summary: String
    /// For the footer: in a word, and how important; nil where it has no place there.
    let label: String?
    let rank: Int

    init(_ keys: [Key], _ shown: String, _ deeds: [Deed], _ summary: String, _ label: String? = nil, rank: Int = 9) {
        (self.keys, self.shown, self.deeds, self.summary) = (keys, shown, deeds, summary)
        (self.label, self.rank) = (label, rank)
    }

    fileprivate func deed(_ key: Key) -> Deed? {
        guard let position = keys.firstIndex(of: key) else { return nil }
        return deeds[position % deeds.count]
    }
}

/// The keys, by where they work.
enum KeyTable {
    /// Among the tweaks.
    static let browsing = moving + changing + looking

    private static let moving = [
        KeyBinding([.up, .down, "k", "j"], "↑ ↓ k j", [.up, .down], "go up and down"),
        KeyBinding(
            [.pageUp, .pageDown, .control("b"), .control("f")], "PgUp PgDn", [.pageUp, .pageDown], "go by a screen"),
        KeyBinding([.home, .end, "g", "G"], "Home End g G", [.first, .last], "go to the first, to the last"),
        KeyBinding(
            [.tab, .shiftTab], "Tab Shift-Tab", [.nextCollection, .previousCollection], "go to the next collection"),
    ]

    private static let changing = [
        KeyBinding(
            [.left, .right], "← →", [.move(-1, .normal), .move(1, .normal)],
            "change the value by its step; fold a group", "change", rank: 1),
        KeyBinding(
            [.shiftLeft, .shiftRight], "Shift-← Shift-→", [.move(-1, .coarse), .move(1, .coarse)],
            "the same by ten steps"),
        KeyBinding(
            [.wordLeft, .wordRight, "<", ">"], "Alt-← Alt-→", [.move(-1, .fine), .move(1, .fine)],
            "the same by a tenth of a step, where none is declared"),
        KeyBinding(
            [" "], "Space", [.flip], "flip, take the next choice, fold; an action with arguments", "flip", rank: 2),
        KeyBinding([.enter], "Enter", [.enter], "type a value; run an action; fold a group", "type", rank: 2),
        KeyBinding(["c"], "c", [.color], "adjust a colour by its channels", "channels", rank: 2),
        KeyBinding(["u"], "u", [.undo], "undo the last change, whoever made it", "undo", rank: 5),
        KeyBinding(["U", .control("r")], "U Ctrl-R", [.redo], "redo what was undone"),
        KeyBinding(
            ["r", .backspace, .delete], "r", [.reset], "reset the tweak: what lies beneath shows", "reset", rank: 6),
        KeyBinding(["R"], "R", [.resetCollection], "reset the whole collection, after a question"),
        KeyBinding(["t"], "t", [.temporary], "set for a while: it reverts by itself", "for a while", rank: 8),
        KeyBinding(["K"], "K", [.keep], "keep a value that was set for a while"),
    ]

    private static let looking = [
        KeyBinding(["/", .control("s")], "/", [.search], "search as you type; Escape ends it", "search", rank: 4),
        KeyBinding(["m"], "m", [.onlyModified], "show only what differs from its default", "modified", rank: 8),
        KeyBinding(["p"], "p", [.presets], "presets: load, save, swap, compare, delete", "presets", rank: 7),
        KeyBinding(["h"], "h", [.history], "history: the last changes, who made them, when", "history", rank: 9),
        KeyBinding(["e"], "e", [.explain], "explain: every layer of the tweak, who set it, when", "explain", rank: 9),
        KeyBinding(["?", .control("g")], "?", [.help], "this help", "help", rank: 3),
        KeyBinding([.control("l")], "Ctrl-L", [.redraw], "draw the screen again"),
        KeyBinding([.control("z")], "Ctrl-Z", [.suspend], "suspend; fg comes back"),
        KeyBinding([.escape], "Escape", [.back], "leave a search, a page, a value being typed"),
        KeyBinding(["q", .control("c")], "q Ctrl-C", [.quit], "quit", "quit", rank: 3),
    ]

    /// While a colour is adjusted.
    static let coloring = [
        KeyBinding(
            [.up, .down, "k", "j", .shiftTab, .tab], "↑ ↓", [.up, .down], "choose a channel", "channel", rank: 1),
        KeyBinding(
            [.left, .right], "← →", [.move(-1, .normal), .move(1, .normal)], "change it by 1", "by 1", rank: 1),
        KeyBinding(
            [.shiftLeft, .shiftRight], "Shift-← Shift-→", [.move(-1, .coarse), .move(1, .coarse)],
            "change it by 16", "by 16", rank: 3),
        KeyBinding([.home, .end], "Home End", [.first, .last], "to 0, to 255", "0, 255", rank: 4),
        KeyBinding(["u"], "u", [.undo], "undo", "undo", rank: 5),
        KeyBinding([.enter, .escape, "q", "c"], "Enter", [.back], "done", "done", rank: 2),
    ]

    /// On the page of presets.
    static let presets = [
        KeyBinding([.up, .down, "k", "j"], "↑ ↓", [.up, .down], "choose a preset"),
        KeyBinding([.enter, "l"], "Enter", [.enter], "load it", "load", rank: 1),
        KeyBinding(["s"], "s", [.save], "save the values of now under a name", "save as", rank: 2),
        KeyBinding(["w"], "w", [.swap], "swap with it; once more goes back", "swap", rank: 4),
        KeyBinding(["d"], "d", [.difference], "compare with the values of now", "compare", rank: 5),
        KeyBinding(["D", .delete], "D", [.delete], "delete it, after a question", "delete", rank: 6),
        KeyBinding([.escape, "q", "p"], "Escape", [.back], "back", "back", rank: 3),
    ]

    /// On pages to read.
    static let reading = [
        KeyBinding([.up, .down, "k", "j"], "↑ ↓", [.up, .down], "go up and down", "scroll", rank: 2),
        KeyBinding(
            [.pageUp, .pageDown, "b", " "], "PgUp PgDn", [.pageUp, .pageDown], "go by a screen", "page", rank: 3),
        KeyBinding([.home, .end, "g", "G"], "Home End", [.first, .last], "go to the first, to the last"),
        KeyBinding([.escape, .enter, "q", "?", "e", "h"], "Escape", [.back], "back", "back", rank: 1),
    ]

    /// What the help and the manual show.
    static let sections: [(title: String, bindings: [KeyBinding])] = [
        ("Moving", moving), ("Changing", changing), ("Looking", looking), ("A colour by its channels", coloring),
        ("Presets", presets),
    ]

    /// What a key does there.
    static func deed(_ key: Key, in table: [KeyBinding]) -> Deed? {
        for binding in table {
            if let deed = binding.deed(key) { return deed }
        }
        return nil
    }
}

extension Key: ExpressibleByUnicodeScalarLiteral {
    /// A letter stands for its own key.
    init(unicodeScalarLiteral letter: Unicode.Scalar) { self = .character(Character(letter)) }
}
