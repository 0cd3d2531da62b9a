// Edits one line of input: text, cursor, key bindings, completion, and the lines typed before.

import Tweaks
import TweaksSystem
import TweaksWire

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
    let history: [String]
    /// The index in the history; its count means the new line.
    private(set) var position: Int
    /// The new line, saved while an older one is displayed.
    private var draft: [Character] = []
    /// The search through the history, while it lasts.
    var search: HistorySearch?

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
        if search != nil, handleInSearch(key) { return .edited }
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
        case .shiftTab, .pageUp, .pageDown, .escape, .pasteBegin, .pasteEnd, .mouse: break
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
        case "r": beginSearch()
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
        let line = wanted == history.count ? draft : Array(history[wanted])
        show(line, cursor: line.count, position: wanted)
    }

    /// Shows the line of a position in the history.
    mutating func show(_ line: [Character], cursor: Int, position: Int) {
        if self.position == history.count { draft = characters }
        self.position = position
        self.cursor = cursor
        characters = line
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

/// The word before the cursor and its completions.
struct Completion: Equatable {
    /// The index of the word's first character in the line.
    let start: Int
    /// The word as typed, without an opening quote.
    let word: String
    /// The line before the word.
    private let head: String

    init(_ text: String) {
        let characters = Array(text)
        var (start, quote) = (0, Character?.none)
        for (position, character) in characters.enumerated() {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == " " {
                start = position + 1
            } else if position == start, character == "\"" || character == "'" {
                quote = character
            }
        }
        self.start = start
        head = String(characters[..<start])
        let isQuoted = start < characters.count && (characters[start] == "\"" || characters[start] == "'")
        word = String(characters[(isQuoted ? start + 1 : start)...])
    }

    /// The request for candidates.
    var request: String { "complete \(Quoting.json(head + word))" }

    /// The candidates of an answer: the rows of the body. A candidate with escaped control characters, which only a
    /// hostile server sends, is dropped.
    static func candidates(_ answer: Answer) -> [String] {
        if answer.isRefusal { return [] }
        return answer.rows.filter { Quoting.isSafe(bare($0)) }
    }

    /// The text to replace the word with: the only candidate, or the common prefix of all; nil if that adds nothing.
    func replacement(_ candidates: [String]) -> String? {
        guard let first = candidates.first else { return nil }
        if candidates.count == 1 { return first.hasSuffix("/") ? first : first + " " }
        var common = Self.bare(first)
        for candidate in candidates.dropFirst() { common = common.commonPrefix(with: Self.bare(candidate)) }
        guard common.count > word.count, common.hasPrefix(word) else { return nil }
        // With a space, it is the start of a quoted word.
        return common.contains(" ") ? "\"" + common : common
    }

    static func bare(_ candidate: String) -> String {
        candidate.hasPrefix("\"") ? CommandText.tokens(candidate).first?.text ?? candidate : candidate
    }

    /// The candidates in columns, for a screen of this width.
    static func table(_ candidates: [String], columns: Int) -> [String] {
        let width = (candidates.map(TextWidth.of).max() ?? 0) + 2
        let perLine = max(1, columns / width)
        return stride(from: 0, to: candidates.count, by: perLine).map { start in
            candidates[start..<min(start + perLine, candidates.count)]
                .map { TextWidth.padded($0, to: width) }.joined().trimmedAtEnd
        }
    }
}

extension String {
    /// The longest common prefix.
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }

    /// Without trailing spaces.
    var trimmedAtEnd: String {
        var text = self[...]
        while text.hasSuffix(" ") { text.removeLast() }
        return String(text)
    }
}

/// The input history. A file that cannot be read or written loses the history, never the session.
struct History {
    private(set) var lines: [String] = []
    private let path: String?

    /// The number of lines in the file.
    static let limit = 1_000

    /// - Parameter path: The file; nil for none.
    init(path: String?) {
        self.path = path
        guard let path, let text = Self.read(path) else { return }
        let all = text.split(separator: "\n").map { String($0) }
        lines = all.suffix(Self.limit)
        if all.count > 2 * Self.limit { rewrite(path) }
    }

    /// `tweakctl/history` in the user's state directory.
    static var standardPath: String? {
        if let state = System.variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/tweakctl/history" }
        return System.variable("HOME").map { $0 + "/.local/state/tweakctl/history" }
    }

    /// Adds a line, unless it repeats the last one.
    /// - Parameter inFile: False for a line that may hold a secret.
    mutating func add(_ line: String, inFile: Bool) {
        if line.isEmpty || line == lines.last { return }
        lines.append(line)
        if lines.count > Self.limit { lines.removeFirst() }
        guard inFile, let path else { return }
        try? PosixFileSystem().makeDirectories(Folder.split(path).directory)
        try? Self.open(path, for: .appending).write(Array((line + "\n").utf8))
    }

    // MARK: The file

    private static func read(_ path: String) -> String? {
        (try? open(path, for: .reading).head(4 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Opens the file, never through a symbolic link, and never another user's.
    private static func open(_ path: String, for purpose: FilePurpose) throws(FileProblem) -> OpenFile {
        let file = try Folder.anywhere.open(path, for: purpose, FileRules(.user))
        if file.info.mode & 0o077 != 0 { fchmod(file.descriptor, 0o600) }
        return file
    }

    /// Truncates the file to the newest lines.
    private func rewrite(_ path: String) { try? Folder.replace(path, with: lines.joined(separator: "\n") + "\n") }
}
