// What covers the list for a while: pages to read, questions, presets.

import Tweaks

/// Lines to read.
struct Page: Equatable {
    let title: String
    let lines: [String]
    var top = 0
    var isHelp = false

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
}

/// The presets of the server.
struct PresetList: Equatable {
    struct Preset: Equatable {
        let name: String
        let about: String
    }

    let presets: [Preset]
    var cursor = 0

    /// From rows as `  NAME  12 tweaks, saved … by …`.
    init(_ body: [String]) {
        presets = body.compactMap { line in
            guard let name = line.split(separator: " ", maxSplits: 1).first, line.hasPrefix("  ") else { return nil }
            let about = line.dropFirst(2 + name.count).drop { $0 == " " }
            return Preset(name: String(name), about: String(about))
        }
    }

    var selected: Preset? { presets.indices.contains(cursor) ? presets[cursor] : nil }
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
            mode = .browsing
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
            if isYes { send("delete \(CommandText.token(name))", .deed("deleted")) }
            send("presets", .presets)
        case .insist(let line): if isYes { send(line, .deed(line)) }
        }
        if !isYes { say("nothing was done") }
    }

    private static func token(_ path: String) -> String { Quoting.needsQuotes(path) ? Quoting.json(path) : path }

    // MARK: Presets

    /// A key on the page of presets.
    mutating func choose(_ list: PresetList, _ key: Key) {
        var list = list
        let deed = KeyTable.deed(key, in: KeyTable.presets)
        switch deed {
        case .up?: list.cursor = max(list.cursor - 1, 0)
        case .down?: list.cursor = max(min(list.cursor + 1, list.presets.count - 1), 0)
        case .save?: return begin(Prompt(presetNamed: list.selected?.name ?? ""))
        case .back?:
            mode = .browsing
            return
        default:
            if key == .control("c") { return want(.quit) }
            if let deed, let preset = list.selected { return use(preset.name, deed) }
        }
        mode = .presets(list)
    }

    private mutating func use(_ name: String, _ deed: Deed) {
        let token = CommandText.token(name)
        switch deed {
        case .enter:
            mode = .browsing
            send("load \(token)", .deed("loaded \(name)", insisting: "load \(token) partly"))
        case .swap:
            mode = .browsing
            send("swap \(token)", .deed("swapped with \(name)", insisting: "swap \(token) force"))
        case .difference: send("diff \(token)", .page("compared with \(name)"))
        case .delete: mode = .asking(Question(text: "delete the preset \(name)?", deed: .delete(name)))
        default: break
        }
    }

    // MARK: Colours

    /// Begins to adjust the colour that is selected.
    mutating func beginColor() {
        guard let tweak = selectedTweak, !tweak.isReadOnly else { return }
        if tweak.color == nil { return say("\(tweak.parts[2]) is no colour") }
        mode = .coloring(tweak.path, channel: 0)
    }

    /// A key while a colour is adjusted.
    mutating func color(_ path: String, _ channel: Int, _ deed: Deed?) {
        guard let position = positions[path], let color = tweaks[position].color else {
            mode = .browsing
            return
        }
        let value = color.channels[channel]
        var wanted = value
        switch deed {
        case .up?: mode = .coloring(path, channel: (channel + 3) % 4)
        case .down?: mode = .coloring(path, channel: (channel + 1) % 4)
        case .move(let direction, let pace)?: wanted += direction * (pace == .coarse ? 16 : 1)
        case .first?: wanted = 0
        case .last?: wanted = 255
        case .undo?: send("undo", .deed("undo", insisting: "undo force"))
        case .back?: mode = .browsing
        default: break
        }
        wanted = min(max(wanted, 0), 255)
        if wanted != value { ask(for: .color(color.with(channel, wanted)), of: position) }
    }
}

extension TweakColor {
    /// Red, green, blue, alpha.
    var channels: [Int] { [red, green, blue, alpha].map { Int($0) } }

    /// The colour with another value of one channel.
    func with(_ channel: Int, _ value: Int) -> TweakColor {
        var all = channels.map { UInt8(clamping: $0) }
        all[channel] = UInt8(clamping: value)
        return TweakColor(red: all[0], green: all[1], blue: all[2], alpha: all[3])
    }
}
