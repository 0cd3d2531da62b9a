// Draws the list: categories, collections, and tweaks with their values.

import Tweaks
import TweaksSystem
import TweaksWire

/// The widths and positions of the list's columns.
struct ListColumns {
    let name: Int
    let value: Int
    let bar: Int
    /// The start column of names.
    let nameStart: Int
    var valueStart: Int { nameStart + name + 2 }
}

extension EditorScreen {
    /// The visible rows.
    var visibleRows: Range<Int> { model.visibleRows }

    var columns: ListColumns {
        let total = layout.listColumns
        let isFlat = !model.search.isEmpty
        let start = isFlat ? 4 : layout.columns < 60 ? 6 : 8
        let wanted = isFlat ? model.widths.path : model.widths.name
        let name = min(max(wanted, 4), max((total - start) / 2, 8))
        let bar = total >= 68 ? 10 : total >= 56 ? 6 : 0
        let shown = visibleRows.map { valueWidth(model.rows[$0]) }.max() ?? 0
        let room = total - start - name - 2 - (bar > 0 ? bar + 2 : 0)
        // Rounded up, so that a value with one more digit does not move the bars.
        return ListColumns(
            name: name, value: max(min((shown + 3) / 4 * 4, min(room, 28)), 6), bar: bar, nameStart: start)
    }

    private func valueWidth(_ row: EditorRow) -> Int {
        guard case .tweak(let position) = row else { return 0 }
        let tweak = model.tweaks[position]
        // A long text may use the columns of the bars.
        if tweak.kind == .string { return 0 }
        let suffix = tweak.suffix.map { TextWidth.of($0) + 1 } ?? 0
        return TextWidth.of(tweak.shownText) + suffix + (tweak.color != nil && palette.hasSwatches ? 3 : 0)
    }

    /// All lines of the list, filled up with blank ones.
    var listLines: [StyledLine] {
        let columns = columns
        var lines = visibleRows.map { position -> StyledLine in
            let isSelected = position == model.cursor
            let line = line(model.rows[position], isSelected, columns).fitted(to: layout.listColumns)
            return model.link == .live || isSelected ? line : line.painted(.faint)
        }
        if lines.isEmpty { lines = [StyledLine(), StyledLine("  " + emptyText, .faint)] }
        while lines.count < layout.listRows { lines.append(StyledLine()) }
        return lines.prefix(layout.listRows).map { $0.fitted(to: layout.listColumns) }
    }

    private var emptyText: String {
        if model.tweaks.isEmpty { return model.instance == nil ? "waiting for \(model.name)…" : "no tweaks" }
        if !model.search.isEmpty { return "no tweaks match “\(Quoting.sanitized(model.search))”" }
        return "no tweaks are modified; m shows all"
    }

    private func line(_ row: EditorRow, _ isSelected: Bool, _ columns: ListColumns) -> StyledLine {
        var line = StyledLine(on: isSelected ? .selected : .none)
        line.add(isSelected ? glyphs.pointer : " ", .strong)
        switch row {
        case .category(let name): addHeading(name, name, indent: 0, to: &line)
        case .collection(let path):
            addHeading(
                path, String(path.drop { $0 != "/" }.dropFirst()), indent: layout.columns < 60 ? 1 : 2, to: &line)
        case .tweak(let position): add(model.tweaks[position], columns, to: &line)
        }
        return line
    }

    private func addHeading(_ group: String, _ name: String, indent: Int, to line: inout StyledLine) {
        let isFolded = model.folded.contains(group)
        line.add(String(repeating: " ", count: indent) + (isFolded ? glyphs.folded : glyphs.open) + " ", .faint)
        line.add(name.fitted(to: layout.listColumns - 8), .strong)
        let counts = model.counts(of: group)
        if isFolded { line.add("  \(counts.all) tweak\(counts.all == 1 ? "" : "s")", .faint) }
        if counts.modified > 0, isFolded || indent == 0 { line.add("  \(counts.modified) modified", .marked) }
    }

    private func add(_ tweak: EditorTweak, _ columns: ListColumns, to line: inout StyledLine) {
        line.pad(to: columns.nameStart - 2)
        line.add(tweak.isModified ? glyphs.marked + " " : "  ", .marked)
        if model.search.isEmpty {
            line.addColumn(tweak.parts[2], columns.name, tweak.isModified ? .strong : .plain)
        } else {
            addPath(tweak, columns, to: &line)
        }
        line.add("  ")
        if let prompt = prompt(for: tweak) { return line.add(promptLine(prompt, from: columns.valueStart).line) }
        addValue(tweak, columns, to: &line)
    }

    /// Adds the path, with category and collection fainter than the name, and search matches marked.
    private func addPath(_ tweak: EditorTweak, _ columns: ListColumns, to line: inout StyledLine) {
        let end = line.width + columns.name
        let text = tweak.path.fitted(to: columns.name)
        let nameStart = tweak.path.count - tweak.parts[2].count
        let marks = Self.matches(of: model.search, in: text)
        for (position, character) in text.enumerated() {
            line.add(String(character), marks.contains(position) ? .match : position < nameStart ? .faint : .plain)
        }
        line.pad(to: end)
    }

    /// The indices of characters that match a search.
    static func matches(of search: String, in text: String) -> Set<Int> {
        // One character may fold to several letters: “ß” to two.
        let letters = text.enumerated().flatMap { position, character in
            SearchText.folded(String(character)).map { (letter: $0, position: position) }
        }
        var found: Set<Int> = []
        for word in SearchText.folded(search).split(whereSeparator: \.isWhitespace) {
            guard letters.count >= word.count else { continue }
            let place = (0...(letters.count - word.count)).last { start in
                letters[start..<(start + word.count)].map(\.letter) == Array(word)
            }
            if let place { found.formUnion(letters[place..<(place + word.count)].map(\.position)) }
        }
        return found
    }

    // MARK: Values

    private func addValue(_ tweak: EditorTweak, _ columns: ListColumns, to line: inout StyledLine) {
        let end = line.width + columns.value
        if let color = tweak.color, palette.hasSwatches {
            line.addSwatch(color, 2)
            line.add(" ")
        }
        let tail = tail(tweak)
        let tailStart = layout.listColumns - 1 - tail.width
        let isLong = tweak.kind == .string
        let room = isLong ? max(tailStart - (tail.width > 0 ? 2 : 0) - line.width, 4) : end - line.width
        let suffix = tweak.suffix.map { " " + $0 } ?? ""
        let text = tweak.shownText.fitted(to: room)
        line.add(text, tweak.role)
        if TextWidth.of(text + suffix) <= room { line.add(suffix, .faint) }
        // The tail is short-lived and may cover the bar or move next to the value; the value stays.
        line.pad(to: tail.width > 0 ? min(end, tailStart - 2) : end)
        if !isLong, columns.bar > 0, tail.width == 0 || line.width + columns.bar + 4 <= tailStart {
            line.add("  ")
            addBar(tweak.fraction, columns.bar, to: &line)
        }
        if tail.width > 0 {
            line.add("  ")
            let room = max(layout.listColumns - 1 - line.width, 0)
            line.add(tail.width <= room ? tail : tail.fitted(to: room))
        }
    }

    /// Adds a bar; spaces where there is no range.
    func addBar(_ fraction: Double?, _ width: Int, to line: inout StyledLine) {
        guard let fraction else { return line.add(String(repeating: " ", count: width)) }
        var bar = StyledLine()
        let filled = Int((fraction * Double(width)).rounded())
        bar.add(String(repeating: glyphs.full, count: filled), .number)
        bar.add(String(repeating: glyphs.empty, count: width - filled), .faint)
        line.add(bar: bar)
    }

    // MARK: After the value

    /// The remaining time, and the origin of a recent change.
    private func tail(_ tweak: EditorTweak) -> StyledLine {
        var line = StyledLine()
        if let left = model.secondsLeft(of: tweak) {
            line.add("\(glyphs.timer) \(DurationText.print(left * 1_000_000_000))", .marked)
        }
        if let change = tweak.recentChange {
            line.add((line.width > 0 ? "  " : "") + "\(glyphs.back) \(change.origin)", .recent)
        }
        return line
    }
}

extension EditorTweak {
    /// The role of its value.
    var role: Role {
        switch kind {
        case .string: .text
        case .int, .number, .duration, .point, .list, .optional: .number
        case .bool, .choice, .curve: .word
        case .color: .plain
        case .action: .faint
        }
    }
}
