// What is known about the selected tweak, and pages that cover the list.

import Tweaks

extension EditorScreen {
    /// Exactly so many lines about what is selected.
    func details(columns: Int, rows: Int, isTall: Bool) -> [StyledLine] {
        var lines: [StyledLine]
        if case .coloring(let path, let channel) = model.mode, let position = model.positions[path] {
            lines = channels(model.tweaks[position], channel, columns, rows: rows, isTall: isTall)
        } else if let tweak = model.selectedTweak {
            lines = isTall ? tall(tweak, columns) : short(tweak, columns, rows)
        } else {
            lines = group
        }
        while lines.count < rows { lines.append(StyledLine()) }
        return lines.prefix(rows).map { line in
            let line = line.fitted(to: columns)
            return model.link == .live ? line : line.painted(.faint)
        }
    }

    private var group: [StyledLine] {
        guard model.rows.indices.contains(model.cursor) else { return [] }
        let counts = model.counts(of: model.identity(of: model.rows[model.cursor]))
        return [StyledLine("\(counts.all) tweak\(counts.all == 1 ? "" : "s"), \(counts.modified) modified", .faint)]
    }

    /// Few lines: help, facts, layers.
    private func short(_ tweak: EditorTweak, _ columns: Int, _ rows: Int) -> [StyledLine] {
        let facts = tweak.facts.joined(separator: ", ")
        guard rows > 1 else {
            return [StyledLine([tweak.help, facts].compactMap(\.self).joined(separator: " · "), .faint)]
        }
        var lines = (tweak.help ?? "").wrapped(to: columns).filter { !$0.isEmpty }.map { StyledLine($0) }
        if lines.count > max(rows - 2, 1) { lines = Array(lines.prefix(max(rows - 2, 1))) }
        lines += facts.wrapped(to: columns).prefix(2).map { StyledLine($0, .faint) }
        return lines + layerLines(tweak, columns, isShort: true)
    }

    /// A column of its own.
    private func tall(_ tweak: EditorTweak, _ columns: Int) -> [StyledLine] {
        var lines = tweak.path.wrapped(to: columns).map { StyledLine($0, .strong) } + [StyledLine()]
        lines += (tweak.help ?? "").wrapped(to: columns).filter { !$0.isEmpty }.map { StyledLine($0) }
        if tweak.help != nil { lines.append(StyledLine()) }
        lines += scale(tweak, columns)
        lines += swatch(tweak, columns)
        lines += tweak.facts.flatMap { $0.wrapped(to: columns) }.map { StyledLine($0, .faint) }
        if tweak.kind == .choice {
            lines.append(StyledLine())
            for choice in tweak.choices {
                let isNow = tweak.shown == .choice(choice)
                lines.append(
                    StyledLine((isNow ? glyphs.marked : " ") + " " + Quoting.sanitized(choice), isNow ? .word : .faint))
            }
        }
        let layers = layerLines(tweak, columns, isShort: false)
        return layers.isEmpty ? lines : lines + [StyledLine(), StyledLine("layers", .faint)] + layers
    }

    /// Where the value lies between its bounds.
    private func scale(_ tweak: EditorTweak, _ columns: Int) -> [StyledLine] {
        guard let fraction = tweak.fraction, let lower = tweak.lower?.text, let upper = tweak.upper?.text else {
            return []
        }
        var line = StyledLine(lower + " ", .faint)
        line.add(bar(fraction, max(columns - TextWidth.of(lower + upper) - 2, 4)))
        line.add(" " + upper, .faint)
        return [line, StyledLine()]
    }

    private func swatch(_ tweak: EditorTweak, _ columns: Int) -> [StyledLine] {
        guard let color = tweak.color, palette.hasSwatches else { return [] }
        var line = StyledLine()
        line.add(String(repeating: " ", count: min(columns, 24)), swatch: color)
        return [line, line, line, StyledLine()]
    }

    private func layerLines(_ tweak: EditorTweak, _ columns: Int, isShort: Bool) -> [StyledLine] {
        guard model.layers.path == tweak.path else { return [] }
        return model.layers.lines.flatMap { text -> [StyledLine] in
            let role: Role = text.hasPrefix("→") ? .plain : .faint
            let text = Self.squeezed(text)
            return isShort
                ? [StyledLine(text.fitted(to: columns), role)] : text.wrapped(to: columns).map { StyledLine($0, role) }
        }
    }

    /// The columns of a wide terminal are gaps here.
    private static func squeezed(_ text: String) -> String {
        let words = text.split(separator: " ").joined(separator: " ")
        return text.hasPrefix(" ") ? "  " + words : words
    }

    // MARK: Channels

    private func channels(
        _ tweak: EditorTweak, _ selected: Int, _ columns: Int, rows: Int, isTall: Bool
    ) -> [StyledLine] {
        guard let color = tweak.color else { return [] }
        let values = zip(["R", "G", "B", "A"], color.channels).enumerated()
        if rows < 5 { return [channelsInOneLine(tweak, selected)] }
        var lines = values.map { number, channel -> StyledLine in
            var line = StyledLine(on: number == selected ? .selected : .none)
            line.add((number == selected ? glyphs.pointer : " ") + channel.0 + " ", .strong)
            line.add(String(repeating: " ", count: 3 - String(channel.1).count) + "\(channel.1) ", .number)
            line.add(bar(Double(channel.1) / 255, max(min(columns - 8, 34), 8)))
            return line
        }
        var head = StyledLine()
        if palette.hasSwatches { head.add("        ", swatch: color) }
        head.add((palette.hasSwatches ? "  " : "") + tweak.shownText, .strong)
        lines.insert(
            contentsOf: isTall ? [StyledLine(tweak.path, .strong), StyledLine(), head, StyledLine()] : [head], at: 0)
        return lines
    }

    private func channelsInOneLine(_ tweak: EditorTweak, _ selected: Int) -> StyledLine {
        var line = StyledLine()
        if let color = tweak.color {
            if palette.hasSwatches { line.add("    ", swatch: color) }
            for (number, channel) in zip(["R", "G", "B", "A"], color.channels).enumerated() {
                line.add(" ")
                line.ground = number == selected ? .selected : .none
                line.add("\(number == selected ? ">" : " ")\(channel.0) \(channel.1)", .strong)
                line.ground = .none
            }
        }
        return line
    }

    // MARK: Pages

    /// A page, with its title and how far it was read.
    func pageLines(_ page: Page) -> [StyledLine] {
        let height = layout.pageRows
        let all = page.wrapped(to: layout.columns - 2)
        let top = min(page.top, max(all.count - height, 0))
        let last = min(top + height, all.count)
        var lines = [pageTitle(page.title, all.count > height ? "\(top + 1)–\(last) of \(all.count)" : "")]
        lines += all[top..<last].map { pageLine($0, page) }
        if all.isEmpty { lines.append(StyledLine("  nothing", .faint)) }
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
        // Keys stand before the first two blanks; a line without them goes on from the one above.
        let words = text.dropFirst(2)
        let end = words.hasPrefix(" ") ? words.startIndex : words.firstRange(of: "  ")?.lowerBound ?? words.endIndex
        var line = StyledLine("   ")
        line.add(String(words[..<end]), .key)
        line.add(String(words[end...]))
        return line
    }

    /// The presets, one a line.
    func presetLines(_ list: PresetList) -> [StyledLine] {
        let height = layout.pageRows
        let top = max(0, min(list.cursor - height / 2, list.presets.count - height))
        let width = min(list.presets.map { TextWidth.of($0.name) }.max() ?? 0, layout.columns / 2)
        var lines = [pageTitle("presets", list.presets.isEmpty ? "" : "\(list.cursor + 1) of \(list.presets.count)")]
        for (position, preset) in list.presets.enumerated().dropFirst(top).prefix(height) {
            let isSelected = position == list.cursor
            var line = StyledLine(on: isSelected ? .selected : .none)
            line.add(isSelected ? glyphs.pointer + " " : "  ", .strong)
            line.addColumn(preset.name, width, .strong)
            line.add("  " + preset.about, .faint)
            line.pad(to: layout.columns)
            lines.append(line)
        }
        if list.presets.isEmpty { lines.append(StyledLine("  none yet; s saves the values of now", .faint)) }
        while lines.count < height + 1 { lines.append(StyledLine()) }
        return lines
    }
}

extension EditorTweak {
    /// Kind, range, step and unit in a few words.
    var summary: String {
        var text = kind.rawValue
        if lower != nil || upper != nil { text += " \(lower?.text ?? "")…\(upper?.text ?? "")" }
        if let step { text += ", step \(step.text)" }
        return unit.map { text + ", " + $0 } ?? text
    }

    /// What there is to know, each for itself.
    var facts: [String] {
        var facts = [summary]
        if let standard, !isReadOnly { facts.append("default \(Quoting.sanitized(standard.text))") }
        return facts + flags
    }
}
