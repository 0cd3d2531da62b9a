// Edits one line of input: text, cursor, history and key bindings.

import Tweaks
import TweaksSystem

/// The line of a prompt. Pure: it handles keys and returns what else they request.
struct LineEditor: Equatable {
    /// What a key requests besides a change of the line.
    enum Outcome: Equatable {
        case edited
        case submit, discard, quit, complete, suspend, clearScreen
    }

    private(set) var characters: [Character] = []
    /// The index of the character after the cursor.
    private(set) var cursor = 0
    /// The text last cut by Ctrl-K, Ctrl-U or Ctrl-W; Ctrl-Y inserts it.
    private var killed: [Character] = []
    private var history: [String]
    /// The index in the history; its count means the new line.
    private var position: Int
    /// The new line, saved while an older one is displayed.
    private var draft: [Character] = []

    init(history: [String] = []) {
        self.history = history
        position = history.count
    }

    /// A line with initial text and the cursor at its end.
    init(text: String) {
        self.init()
        characters = Array(text)
        cursor = characters.count
    }

    var text: String { String(characters) }
    /// The width of the line in columns.
    var width: Int { characters.reduce(0) { $0 + TextWidth.of($1) } }
    var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Replaces the text from a character up to the cursor.
    mutating func replace(from start: Int, with text: String) {
        characters.replaceSubrange(start..<cursor, with: Array(text))
        cursor = start + text.count
    }

    mutating func handle(_ key: Key) -> Outcome {
        switch key {
        case .character(let character): insert([character])
        case .enter: return .submit
        case .tab: return .complete
        case .backspace: remove(max(0, cursor - 1)..<cursor)
        case .delete: remove(cursor..<min(cursor + 1, characters.count))
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(cursor + 1, characters.count)
        case .home: cursor = 0
        case .end: cursor = characters.count
        case .wordLeft: cursor = wordStart
        case .wordRight: cursor = wordEnd
        case .up: show(position - 1)
        case .down: show(position + 1)
        case .control(let letter): return control(letter)
        case .shiftLeft: cursor = max(0, cursor - 1)
        case .shiftRight: cursor = min(cursor + 1, characters.count)
        case .shiftTab, .pageUp, .pageDown, .escape, .pasteBegin, .pasteEnd: break
        }
        return .edited
    }

    private mutating func control(_ letter: Character) -> Outcome {
        switch letter {
        case "a": cursor = 0
        case "b": cursor = max(0, cursor - 1)
        case "c": return .discard
        case "d":
            if characters.isEmpty { return .quit }
            remove(cursor..<min(cursor + 1, characters.count))
        case "e": cursor = characters.count
        case "f": cursor = min(cursor + 1, characters.count)
        case "k": kill(cursor..<characters.count)
        case "l": return .clearScreen
        case "n": show(position + 1)
        case "p": show(position - 1)
        case "u": kill(0..<cursor)
        case "w": kill(wordStart..<cursor)
        case "y": insert(killed)
        case "z": return .suspend
        default: break
        }
        return .edited
    }

    // MARK: Changing

    private mutating func insert(_ new: [Character]) {
        characters.insert(contentsOf: new, at: cursor)
        // A combining mark joins the letter before it.
        let after = characters.count - cursor - new.count
        characters = Array(String(characters))
        cursor = max(0, characters.count - after)
    }

    private mutating func remove(_ range: Range<Int>) {
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    private mutating func kill(_ range: Range<Int>) {
        if !range.isEmpty { killed = Array(characters[range]) }
        remove(range)
    }

    private var wordStart: Int {
        var start = cursor
        while start > 0, characters[start - 1] == " " { start -= 1 }
        while start > 0, characters[start - 1] != " " { start -= 1 }
        return start
    }

    private var wordEnd: Int {
        var end = cursor
        while end < characters.count, characters[end] == " " { end += 1 }
        while end < characters.count, characters[end] != " " { end += 1 }
        return end
    }

    /// Shows a line of the history.
    private mutating func show(_ wanted: Int) {
        guard (0...history.count).contains(wanted), wanted != position else { return }
        if position == history.count { draft = characters }
        position = wanted
        characters = wanted == history.count ? draft : Array(history[wanted])
        cursor = characters.count
    }

    // MARK: Display

    /// A copy with dots in place of the text after the first characters.
    func dotted(from start: Int) -> LineEditor {
        var line = self
        for position in characters.indices.dropFirst(start) where characters[position] != " " {
            line.characters[position] = "•"
        }
        return line
    }

    /// The part that fits, and the column of the cursor in it. A long line scrolls sideways.
    func visible(columns: Int) -> (text: String, cursor: Int) {
        var first = 0
        var width = characters[..<cursor].reduce(0) { $0 + TextWidth.of($1) }
        while width >= max(columns, 1), first < cursor {
            width -= TextWidth.of(characters[first])
            first += 1
        }
        var (text, used) = ("", 0)
        for character in characters[first...] {
            used += TextWidth.of(character)
            if used >= max(columns, 1) { break }
            text.append(character)
        }
        // Pasted text and lines of the history file may have control characters.
        return (Quoting.sanitized(text), width)
    }
}
