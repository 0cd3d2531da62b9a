// Finds what a cell of the screen shows, for clicks.

import Tweaks

extension EditorScreen {
    /// What a click on a cell points at, and the columns of the bar there; nil where nothing can be clicked.
    func target(row: Int, column: Int) -> (target: MouseTarget, bar: Range<Int>?)? {
        let frame = frame
        guard !layout.isTooSmall, frame.lines.indices.contains(row) else { return nil }
        let bar = frame.lines[row].bars.first { $0.contains(column) }
        switch model.mode {
        case .browsing, .searching, .coloring:
            // Messages may cover the last lines.
            guard row > 0, row < layout.rows - 1 - max(longRemark.count, 1) else { return nil }
            if row <= layout.listRows, column < layout.listColumns { return listTarget(row - 1).map { ($0, bar) } }
            return detailTarget(row, frame).map { ($0, bar) }
        case .presets(let list):
            // The title is the first line.
            let position = presetTop(list) + row - 2
            return row >= 2 && row < layout.rows - 2 && list.presets.indices.contains(position)
                ? (.preset(position), nil) : nil
        case .typing, .asking, .reading: return nil
        }
    }

    private func listTarget(_ line: Int) -> MouseTarget? {
        let position = visibleRows.lowerBound + line
        return visibleRows.contains(position) ? .row(position) : nil
    }

    /// In the details only bars can be clicked: those of the channels from red to alpha, or the scale.
    private func detailTarget(_ row: Int, _ frame: Frame) -> MouseTarget? {
        let start = layout.isWide ? layout.listColumns : 0
        func hasBar(_ row: Int) -> Bool { frame.lines[row].bars.contains { $0.lowerBound >= start } }
        guard hasBar(row) else { return nil }
        guard case .coloring = model.mode else { return .scale }
        let first = layout.isWide ? 1 : layout.listRows + 1
        return .channel((first..<row).count { hasBar($0) })
    }
}
