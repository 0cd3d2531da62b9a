// Shows pages over the list: texts, questions and presets, and handles their keys.

import Tweaks
import TweaksSystem

/// A page of text.
struct Page: Equatable {
    let title: String
    let lines: [String]
    var top = 0
    var isHelp = false
    /// Whether it is the output of an action, in which a time stays as it is.
    var isOutput = false
    /// Whether it returns to the presets.
    var isOverPresets = false

    /// The lines wrapped to a width, with times as ages; continuation lines are indented, in the help to the column of
    /// summaries.
    func wrapped(to columns: Int, now: Int64) -> [String] {
        let width = isHelp ? Self.keyWidth + 4 : 4
        let indent = String(repeating: " ", count: columns > 2 * width + 2 ? width : 2)
        return lines.flatMap { line -> [String] in
            let line = isOutput ? line : Age.inWords(line, now: now)
            guard TextWidth.of(line) > columns, columns > 2 * indent.count else { return [line] }
            let lead = line.prefix { $0 == " " }
            let text = String(line.dropFirst(lead.count))
            let first = text.wrapped(to: columns - lead.count).first ?? ""
            let rest = text.dropFirst(first.count).drop { $0 == " " }
            return [lead + first] + String(rest).wrapped(to: columns - indent.count).map { indent + $0 }
        }
    }

    private static var keyWidth: Int {
        KeyTable.sections.flatMap(\.bindings).map { TextWidth.of($0.shown) }.max() ?? 0
    }

    /// The key bindings by section; titles are not indented.
    static var help: [String] {
        KeyTable.sections.enumerated().flatMap { number, section in
            (number == 0 ? [] : [""]) + [section.title]
                + section.bindings.map { "  \(TextWidth.padded($0.shown, to: keyWidth))  \($0.summary)" }
        }
    }
}

/// A question that must be confirmed.
struct Question: Equatable {
    enum Action: Equatable {
        case reset(String), delete(String), force(String)
        /// Undo or redo of another client's change, of a revision.
        case step(HistoryDirection, UInt64)
    }

    let text: String
    let action: Action
    /// Details to show with the question.
    var lines: [String] = []

    var isAboutPresets: Bool { if case .delete = action { true } else { false } }
}

extension EditorModel {
    // MARK: Pages

    /// Handles a key while a page is open.
    mutating func read(_ page: Page, _ key: Key) {
        var page = page
        let height = EditorLayout(size).pageRows
        switch KeyTable.command(for: key, in: KeyTable.reading) {
        case .up?: page.top -= 1
        case .down?: page.top += 1
        case .pageUp?: page.top -= height - 1
        case .pageDown?: page.top += height - 1
        case .first?: page.top = 0
        case .last?: page.top = .max
        case .back?:
            mode = page.isOverPresets ? .presets(presets) : .browsing
            return
        default: if key == .control("c") { emit(.quit) }
        }
        turn(page, to: page.top)
    }

    /// Shows a page from a line, or as far as it goes.
    mutating func turn(_ page: Page, to top: Int) {
        var page = page
        let lines = page.wrapped(to: size.columns - 2, now: wallTime).count
        page.top = min(max(top, 0), max(lines - EditorLayout(size).pageRows, 0))
        mode = .reading(page)
    }

    /// Shows the lines of an answer: one as a notice, more as a page.
    mutating func show(_ answer: Answer, of title: String) {
        var lines = answer.lines
        if lines.isEmpty, let output = answer["output"]?.string {
            lines = output.split(whereSeparator: \.isNewline).map { Quoting.sanitized(String($0)) }
        }
        if lines.count > 1 {
            mode = .reading(Page(title: title, lines: lines, isOutput: true))
        } else {
            showNotice("\(title): \(lines.first ?? "done")", .good)
        }
    }

    // MARK: Questions

    /// Handles the key that answers a question; only y confirms.
    mutating func answer(_ question: Question, _ key: Key) {
        mode = .browsing
        let isYes = key == "y" || key == "Y"
        switch question.action {
        case .reset(let group): if isYes { send("reset \(Self.token(group))", .command("reset")) }
        case .delete(let name):
            mode = .presets(presets)
            if isYes { send("delete \(CommandText.token(name))", .command("deleted")) }
            if isYes { send("presets", .presets) }
        case .force(let line): if isYes { send(line, .command(line)) }
        case .step(let direction, let revision): if isYes { step(direction, revision: revision) }
        }
        if !isYes { showNotice("canceled; nothing changed") }
    }

    private static func token(_ path: String) -> String { Quoting.needsQuotes(path) ? Quoting.json(path) : path }
}

/// The presets of the server.
struct PresetList: Equatable {
    struct Preset: Equatable {
        let name: String
        let about: String
    }

    private(set) var presets: [Preset] = []
    /// Whether the server has sent the list.
    private(set) var isKnown = false
    var cursor = 0
    /// The name to select when the list arrives: the preset that was used last.
    var preferredName: String?

    init() {}

    /// Reads the answer to `presets`, and keeps the selection of the old list.
    init(_ answer: Answer, after old: PresetList) {
        isKnown = true
        let names = answer["presets"]?.elements.map { $0["name"]?.string ?? "" } ?? []
        let rows = answer.rows
        presets = names.enumerated().compactMap { position, name in
            guard Quoting.isSafe(name), !name.isEmpty else { return nil }
            // Each row begins with its name.
            let about = rows.indices.contains(position) ? rows[position].dropFirst(name.count).drop { $0 == " " } : ""
            return Preset(name: name, about: String(about))
        }
        let place = presets.firstIndex { $0.name == old.preferredName ?? old.selected?.name }
        cursor = place ?? min(old.cursor, max(presets.count - 1, 0))
    }

    var selected: Preset? { presets.indices.contains(cursor) ? presets[cursor] : nil }
}

extension EditorModel {
    /// Handles a key on the preset page.
    mutating func choose(_ list: PresetList, _ key: Key) {
        var list = list
        let command = KeyTable.command(for: key, in: KeyTable.presets)
        switch command {
        case .up?: list.cursor = max(list.cursor - 1, 0)
        case .down?: list.cursor = max(min(list.cursor + 1, list.presets.count - 1), 0)
        case .save?:
            presets = list
            return begin(Prompt(presetNamed: list.selected?.name ?? "", among: list.presets.map(\.name)))
        case .back?:
            mode = .browsing
            return
        default:
            if key == .control("c") { return emit(.quit) }
            presets = list
            if let command, let preset = list.selected { return use(preset.name, command) }
        }
        mode = .presets(list)
    }

    private mutating func use(_ name: String, _ command: EditorCommand) {
        let token = CommandText.token(name)
        switch command {
        case .enter:
            mode = .browsing
            send("load \(token)", .command("loaded \(name)", forced: "load \(token) partly"))
        case .swap:
            mode = .browsing
            send("swap \(token)", .command("swapped with \(name)", forced: "swap \(token) force"))
        // Closing the page returns to the list of presets.
        case .difference: sendForText("diff \(token)", .page("compared with \(name)"))
        case .delete: mode = .asking(Question(text: "delete the preset \(name)?", action: .delete(name)))
        default: break
        }
    }
}
