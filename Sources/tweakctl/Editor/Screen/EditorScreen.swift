// Draws the editor's model as a frame: divides the screen, and draws pages and the footer.

import Tweaks
import TweaksSystem

/// Draws a model. Pure: the same model always gives the same frame.
struct EditorScreen {
    let model: EditorModel
    let palette: Palette
    let layout: EditorLayout
    let glyphs: Glyphs

    init(_ model: EditorModel, _ palette: Palette) {
        self.model = model
        self.palette = palette
        layout = EditorLayout(model.size)
        glyphs = Glyphs(hasBlocks: palette.hasBlocks)
    }

    /// The whole screen.
    var frame: Frame {
        if layout.isTooSmall { return tooSmall }
        var lines = [header]
        var cursor: Frame.Cursor?
        switch model.mode {
        case .reading(let page): lines += pageLines(page)
        case .asking(let question) where !question.lines.isEmpty:
            lines += pageLines(Page(title: "not done", lines: question.lines))
        case .presets(let list): lines += presetLines(list)
        // Prompts and questions about presets appear below the list of presets.
        case .typing(let prompt) where prompt.purpose == .preset: lines += presetLines(model.presets)
        case .asking(let question) where question.isAboutPresets: lines += presetLines(model.presets)
        default:
            lines += middle
            cursor = valueCursor
        }
        let status = status
        // A long message covers the last lines above it.
        let long = longRemark.dropFirst()
        lines.removeLast(long.count)
        lines += long.isEmpty ? [status.line] : longRemark
        lines.append(footer)
        if let column = status.cursor { cursor = .init(row: layout.rows - 2, column: column) }
        return Frame(lines: lines.map { $0.fitted(to: layout.columns) }, columns: layout.columns, cursor: cursor)
    }

    private var tooSmall: Frame {
        let minimum = EditorLayout.minimum
        let text =
            "tweakctl needs \(minimum.columns) × \(minimum.rows); this is \(layout.columns) × \(layout.rows). q quits."
        let lines = text.wrapped(to: max(layout.columns, 2)).map { StyledLine($0) }
        let all = lines + [StyledLine](repeating: StyledLine(), count: max(0, layout.rows - lines.count))
        return Frame(
            lines: all.prefix(max(layout.rows, 1)).map { $0.fitted(to: layout.columns) }, columns: layout.columns)
    }

    /// List and details.
    private var middle: [StyledLine] {
        let list = listLines
        if layout.isWide {
            let details = details(columns: layout.sideColumns - 1, rows: layout.listRows, isTall: true)
            return zip(list, details).map { left, right in
                var line = left.fitted(to: layout.listColumns)
                // That of the selected row ends with the list.
                line.background = .none
                line.add(glyphs.divider, .faint)
                line.add(" ")
                line.add(right)
                return line
            }
        }
        if layout.lowerRows == 0 { return list }
        return list + [rule]
            + details(columns: layout.columns - 2, rows: layout.lowerRows - 1, isTall: false).map { line in
                var indented = StyledLine(" ")
                indented.add(line)
                return indented
            }
    }

    /// A line with its time as an age, which advances.
    func aged(_ text: String) -> String { Age.inWords(text, now: model.wallTime) }

    /// The rule between list and details, with the path.
    private var rule: StyledLine {
        var line = StyledLine(String(repeating: glyphs.line, count: 2) + " ", .faint)
        if let tweak = model.selectedTweak {
            line.add(tweak.path.fitted(to: layout.columns - 8), .strong)
            line.add(" ")
        } else if model.rows.indices.contains(model.cursor) {
            line.add(model.identity(of: model.rows[model.cursor]).fitted(to: layout.columns - 8), .strong)
            line.add(" ")
        }
        line.add(String(repeating: glyphs.line, count: max(0, layout.columns - line.width)), .faint)
        return line
    }
}

/// The layout of a screen.
struct EditorLayout: Equatable {
    let columns: Int
    let rows: Int

    init(_ size: ScreenSize) { (columns, rows) = (size.columns, size.rows) }

    static let minimum = ScreenSize(columns: 40, rows: 8)

    var isTooSmall: Bool { columns < Self.minimum.columns || rows < Self.minimum.rows }

    /// Whether the details are on the right of the list; otherwise they are below.
    var isWide: Bool { columns >= 100 && rows >= 16 }

    /// The width of the details on the right, without the divider.
    var sideColumns: Int { isWide ? min(columns * 2 / 5, 64) : 0 }

    /// The rows of the details below, with the rule above them.
    var lowerRows: Int {
        if isWide { return 0 }
        return switch rows {
        case 34...: 10
        case 22...: 7
        case 15...: 4
        case 11...: 2
        default: 0
        }
    }

    var listColumns: Int { isWide ? columns - sideColumns - 1 : columns }

    /// The rows of the list: all but the header, the notice, and the footer.
    var listRows: Int { rows - 3 - lowerRows }

    /// The rows of a page, which covers list and details.
    var pageRows: Int { rows - 4 }
}

extension EditorScreen {
    /// A page, with its title and the range of visible lines.
    func pageLines(_ page: Page) -> [StyledLine] {
        let height = layout.pageRows
        let all = page.wrapped(to: layout.columns - 2, now: model.wallTime)
        let top = min(page.top, max(all.count - height, 0))
        let last = min(top + height, all.count)
        var lines = [pageTitle(page.title, all.count > height ? "\(top + 1)–\(last) of \(all.count)" : "")]
        lines += all[top..<last].map { pageLine($0, page) }
        if all.isEmpty { lines.append(StyledLine("  empty", .faint)) }
        while lines.count < height + 1 { lines.append(StyledLine()) }
        return lines
    }

    private func pageTitle(_ title: String, _ place: String) -> StyledLine {
        var line = StyledLine(String(repeating: glyphs.line, count: 2) + " ", .faint)
        line.add(title.fitted(to: layout.columns - place.count - 10), .strong)
        line.add(" ")
        line.add(String(repeating: glyphs.line, count: max(0, layout.columns - line.width - place.count - 4)), .faint)
        line.add(
            place.isEmpty
                ? String(repeating: glyphs.line, count: 4) : " \(place) " + String(repeating: glyphs.line, count: 2),
            .faint)
        return line
    }

    private func pageLine(_ text: String, _ page: Page) -> StyledLine {
        guard page.isHelp else { return StyledLine(" " + text, text.hasPrefix("→") ? .strong : .plain) }
        guard text.hasPrefix("  ") else { return StyledLine(" " + text, .strong) }
        // Two spaces separate keys from the summary; a continuation line has no keys.
        let words = text.dropFirst(2)
        let end = words.hasPrefix(" ") ? words.startIndex : words.firstRange(of: "  ")?.lowerBound ?? words.endIndex
        var line = StyledLine("   ")
        line.add(String(words[..<end]), .key)
        line.add(String(words[end...]))
        return line
    }

    /// The index of the first preset on the screen.
    func presetTop(_ list: PresetList) -> Int {
        max(0, min(list.cursor - layout.pageRows / 2, list.presets.count - layout.pageRows))
    }

    /// The presets, one a line.
    func presetLines(_ list: PresetList) -> [StyledLine] {
        let height = layout.pageRows
        let top = presetTop(list)
        let width = min(list.presets.map { TextWidth.of($0.name) }.max() ?? 0, layout.columns / 2)
        var lines = [pageTitle("presets", list.presets.isEmpty ? "" : "\(list.cursor + 1) of \(list.presets.count)")]
        for (position, preset) in list.presets.enumerated().dropFirst(top).prefix(height) {
            let isSelected = position == list.cursor
            var line = StyledLine(on: isSelected ? .selected : .none)
            line.add(isSelected ? glyphs.pointer + " " : "  ", .strong)
            line.addColumn(preset.name, width, .strong)
            line.add("  " + aged(preset.about), .faint)
            line.pad(to: layout.columns)
            lines.append(line)
        }
        if list.presets.isEmpty {
            lines.append(
                StyledLine("  " + (list.isKnown ? "no presets yet; s saves the current values" : glyphs.dash), .faint))
        }
        while lines.count < height + 1 { lines.append(StyledLine()) }
        return lines
    }
}

extension EditorScreen {
    /// The keys that apply now; only the most important ones if not all fit.
    var footer: StyledLine {
        let hints = hints
        var room = layout.columns - 1
        var kept: Set<Int> = []
        for (position, hint) in hints.enumerated().sorted(by: { ($0.1.rank, $0.0) < ($1.1.rank, $1.0) }) {
            let width = TextWidth.of(hint.key) + 1 + TextWidth.of(hint.label) + 2
            if width > room { break }
            room -= width
            kept.insert(position)
        }
        var line = StyledLine()
        for (position, hint) in hints.enumerated() where kept.contains(position) {
            line.add(" ")
            line.add(hint.key, .key)
            line.add(" " + hint.label + " ", .faint)
        }
        return line
    }

    private typealias Hint = (key: String, label: String, rank: Int)

    private var hints: [Hint] {
        switch model.mode {
        case .searching: [("Enter", "keep", 1), ("Escape", "all", 1), ("↑ ↓", "choose", 2)]
        case .typing(let prompt):
            [("Enter", verb(of: prompt), 1), ("Escape", "leave", 1)]
                + (prompt.nextField.map { [("Tab", $0, 1)] } ?? [])
                + (choices(of: prompt) ? [("Tab", "next choice", 2)] : [])
        case .asking: [("y", "yes", 1), ("any other key", "no", 1)]
        case .browsing: KeyTable.browsing.compactMap(hint)
        case .coloring: Self.hints(KeyTable.coloring)
        case .reading: Self.hints(KeyTable.reading)
        case .presets: Self.hints(KeyTable.presets)
        }
    }

    private static func hints(_ table: [KeyBinding]) -> [Hint] {
        table.compactMap { binding in binding.label.map { (binding.shown, $0, binding.rank) } }
    }

    private func verb(of prompt: Prompt) -> String {
        switch prompt.purpose {
        case .value, .temporary: "set"
        case .arguments: "run"
        case .preset: prompt.existingNames.contains(prompt.editor.text) ? "replace" : "save"
        }
    }

    private func choices(of prompt: Prompt) -> Bool {
        guard prompt.purpose == .value, let position = model.positions[prompt.path] else { return false }
        return model.tweaks[position].kind == .bool || !model.tweaks[position].choices.isEmpty
    }

    /// The hint of a binding for the selected row; nil where it does not apply.
    private func hint(_ binding: KeyBinding) -> Hint? {
        guard let label = binding.label, let command = binding.commands.first else { return nil }
        let shown = binding.shown.split(separator: " ").count > 2 ? binding.shown : String(binding.shown)
        let tweak = model.selectedTweak
        let isFixed = tweak?.isReadOnly ?? false
        switch command {
        case .move:
            guard let tweak else { return (shown, "fold", 1) }
            return isFixed || [.string, .action, .color, .point, .curve, .list].contains(tweak.kind) || tweak.isSecret
                ? nil : (shown, label, 1)
        case .flip:
            guard tweak?.kind == .bool || tweak?.kind == .choice || tweak?.kind == .action, !isFixed else { return nil }
            return (
                shown, tweak?.kind == .bool ? "flip" : tweak?.kind == .choice ? "next" : "with arguments", binding.rank
            )
        case .enter:
            return isFixed ? nil : (shown, tweak == nil ? "fold" : tweak?.kind == .action ? "run" : label, binding.rank)
        case .color: return tweak?.color != nil && !isFixed ? (shown, label, binding.rank) : nil
        case .reset: return tweak?.isModified == true ? (shown, label, binding.rank) : nil
        case .temporary, .explain:
            return tweak == nil || tweak?.kind == .action || isFixed ? nil : (shown, label, binding.rank)
        default: return (binding.shown.split(separator: " ").first.map { String($0) } ?? shown, label, binding.rank)
        }
    }
}
