// Draws the details of the selected tweak.

import Tweaks
import TweaksSystem

extension EditorScreen {
    /// Details of the selected row, in exactly `rows` lines.
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

    /// Details in few lines: help, facts, layers.
    private func short(_ tweak: EditorTweak, _ columns: Int, _ rows: Int) -> [StyledLine] {
        let info = tweak.info.joined(separator: ", ")
        guard rows > 1 else {
            return [StyledLine([tweak.help, info].compactMap(\.self).joined(separator: " · "), .faint)]
        }
        var lines = (tweak.help ?? "").wrapped(to: columns).filter { !$0.isEmpty }.map { StyledLine($0) }
        if lines.count > max(rows - 2, 1) { lines = Array(lines.prefix(max(rows - 2, 1))) }
        lines += info.wrapped(to: columns).prefix(2).map { StyledLine($0, .faint) }
        return lines + layerLines(tweak, columns, isShort: true)
    }

    /// Details in a column on the right.
    private func tall(_ tweak: EditorTweak, _ columns: Int) -> [StyledLine] {
        var lines = tweak.path.wrapped(to: columns).map { StyledLine($0, .strong) } + [StyledLine()]
        lines += (tweak.help ?? "").wrapped(to: columns).filter { !$0.isEmpty }.map { StyledLine($0) }
        if tweak.help != nil { lines.append(StyledLine()) }
        lines += scale(tweak, columns)
        lines += swatch(tweak, columns)
        lines += tweak.info.flatMap { $0.wrapped(to: columns) }.map { StyledLine($0, .faint) }
        if tweak.kind == .choice {
            lines.append(StyledLine())
            for choice in tweak.choices {
                let isNow = tweak.shown == .choice(choice)
                var line = StyledLine((isNow ? glyphs.marked : " ") + " " + choice, isNow ? .word : .faint)
                if let label = tweak.label(of: choice) { line.add("  " + label, .faint) }
                lines.append(line)
            }
        }
        let layers = layerLines(tweak, columns, isShort: false)
        return layers.isEmpty ? lines : lines + [StyledLine(), StyledLine("layers", .faint)] + layers
    }

    /// A bar with the position of the value between its bounds.
    private func scale(_ tweak: EditorTweak, _ columns: Int) -> [StyledLine] {
        guard let fraction = tweak.fraction, let lower = tweak.lower?.text, let upper = tweak.upper?.text else {
            return []
        }
        var line = StyledLine(lower + " ", .faint)
        addBar(fraction, max(columns - TextWidth.of(lower + upper) - 2, 4), to: &line)
        line.add(" " + upper, .faint)
        return [line, StyledLine()]
    }

    private func swatch(_ tweak: EditorTweak, _ columns: Int) -> [StyledLine] {
        guard let color = tweak.color, palette.hasSwatches else { return [] }
        let lines = (0..<3).map { row in
            var line = StyledLine()
            line.addSwatch(color, min(columns, 24), row: row)
            return line
        }
        return lines + [StyledLine()]
    }

    private func layerLines(_ tweak: EditorTweak, _ columns: Int, isShort: Bool) -> [StyledLine] {
        let layers = model.layers
        guard layers.path == tweak.path else { return [] }
        var lines = layers.lines.enumerated().map { position, text -> (text: String, role: Role) in
            if position != layers.current { return (Self.squeezed(aged(text)), .faint) }
            return (Self.squeezed(aged(counted(text, tweak))), .plain)
        }
        // The current layer first, because not all may fit.
        if isShort, let current = layers.current { lines.insert(lines.remove(at: current), at: 0) }
        return lines.flatMap { text, role in
            (isShort ? [text.fitted(to: columns)] : text.wrapped(to: columns)).map { StyledLine($0, role) }
        }
    }

    /// The line with the remaining time of now: the layers were read a while ago.
    private func counted(_ text: String, _ tweak: EditorTweak) -> String {
        guard model.layers.hasTimeLeft, let left = model.secondsLeft(of: tweak), let comma = text.ranges(of: ", ").last
        else { return text }
        let end = text[comma.upperBound...].split(separator: " ").map { word in
            DurationText.parse(String(word)) == nil ? String(word) : DurationText.print(left * 1_000_000_000)
        }
        return text[..<comma.upperBound] + end.joined(separator: " ")
    }

    /// The line without its column padding.
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
            addBar(Double(channel.1) / 255, max(min(columns - 8, 34), 8), to: &line)
            return line
        }
        var head = StyledLine()
        if palette.hasSwatches { head.addSwatch(color, 8) }
        head.add((palette.hasSwatches ? "  " : "") + tweak.shownText, .strong)
        if let opacity = tweak.suffix { head.add(" " + opacity, .faint) }
        lines.insert(
            contentsOf: isTall ? [StyledLine(tweak.path, .strong), StyledLine(), head, StyledLine()] : [head], at: 0)
        return lines
    }

    private func channelsInOneLine(_ tweak: EditorTweak, _ selected: Int) -> StyledLine {
        var line = StyledLine()
        if let color = tweak.color {
            if palette.hasSwatches { line.addSwatch(color, 4) }
            for (number, channel) in zip(["R", "G", "B", "A"], color.channels).enumerated() {
                line.add(" ")
                line.background = number == selected ? .selected : .none
                line.add("\(number == selected ? ">" : " ")\(channel.0) \(channel.1)", .strong)
                line.background = .none
            }
        }
        return line
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

    /// The facts about a tweak, one by one.
    var info: [String] {
        var info = [summary]
        if let defaultValue, !isReadOnly { info.append("default \(Quoting.sanitized(defaultValue.text))") }
        return info + flags
    }
}
