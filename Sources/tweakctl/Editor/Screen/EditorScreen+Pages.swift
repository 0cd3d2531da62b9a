// Draws text pages and the preset page.

import Tweaks
import TweaksSystem

extension EditorScreen {
    /// A page, with its title and the range of visible lines.
    func pageLines(_ page: Page) -> [StyledLine] {
        let height = layout.pageRows
        let all = page.wrapped(to: layout.columns - 2)
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
        if list.presets.isEmpty {
            lines.append(
                StyledLine("  " + (list.isKnown ? "no presets yet; s saves the current values" : glyphs.dash), .faint))
        }
        while lines.count < height + 1 { lines.append(StyledLine()) }
        return lines
    }
}
