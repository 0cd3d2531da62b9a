// What covers the list for a while: pages to read, and questions.

import Tweaks
import TweaksTerminal

/// Lines to read.
struct Page: Equatable {
    let title: String
    let lines: [String]
    var top = 0
    var isHelp = false
    /// Whether the page of presets lies behind it.
    var isOverPresets = false

    /// The lines no wider than that; what goes on in a next line stands behind the column of keys, or a little inward.
    func wrapped(to columns: Int) -> [String] {
        let width = isHelp ? Self.keyWidth + 4 : 4
        let indent = String(repeating: " ", count: columns > 2 * width + 2 ? width : 2)
        return lines.flatMap { line -> [String] in
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

    /// The key table; a title stands at the left edge.
    static var help: [String] {
        KeyTable.sections.enumerated().flatMap { number, section in
            (number == 0 ? [] : [""]) + [section.title]
                + section.bindings.map { "  \(TextWidth.padded($0.shown, to: keyWidth))  \($0.summary)" }
        }
    }
}

/// Something to be confirmed.
struct Question: Equatable {
    enum Deed: Equatable {
        case reset(String), delete(String), insist(String)
    }

    let text: String
    let deed: Deed
    /// What there is to know before.
    var lines: [String] = []

    var isAboutPresets: Bool { if case .delete = deed { true } else { false } }
}

extension EditorModel {
    // MARK: Pages

    /// A key while a page is read.
    mutating func read(_ page: Page, _ key: Key) {
        var page = page
        let height = EditorLayout(size).pageRows
        let last = max(page.wrapped(to: size.columns - 2).count - height, 0)
        switch KeyTable.deed(key, in: KeyTable.reading) {
        case .up?: page.top -= 1
        case .down?: page.top += 1
        case .pageUp?: page.top -= height - 1
        case .pageDown?: page.top += height - 1
        case .first?: page.top = 0
        case .last?: page.top = last
        case .back?:
            mode = page.isOverPresets ? .presets(presets) : .browsing
            return
        default: if key == .control("c") { want(.quit) }
        }
        page.top = min(max(page.top, 0), last)
        mode = .reading(page)
    }

    /// Lines of an answer: one is a remark, more are a page.
    mutating func show(_ answer: Answer, of title: String) {
        let lines = answer.body.map { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : $0 }
        if lines.count > 1 {
            mode = .reading(Page(title: title, lines: lines))
        } else {
            say("\(title): \(lines.first ?? "done")", .good)
        }
    }

    // MARK: Questions

    /// Only y is yes.
    mutating func answer(_ question: Question, _ key: Key) {
        mode = .browsing
        let isYes = key == "y" || key == "Y"
        switch question.deed {
        case .reset(let group): if isYes { send("reset \(Self.token(group))", .deed("reset")) }
        case .delete(let name):
            mode = .presets(presets)
            if isYes { send("delete \(CommandText.token(name))", .deed("deleted")) }
            if isYes { send("presets", .presets) }
        case .insist(let line): if isYes { send(line, .deed(line)) }
        }
        if !isYes { say("nothing was done") }
    }

    private static func token(_ path: String) -> String { Quoting.needsQuotes(path) ? Quoting.json(path) : path }
}
