// Draws the editor's model as a frame of styled lines.

import Tweaks
import TweaksSystem

/// Draws a model. Pure: the same model always gives the same frame.
struct EditorScreen {
    let model: EditorModel
    let palette: Palette
    let layout: EditorLayout
    let glyphs: Glyphs

    init(_ model: EditorModel, _ palette: Palette) {
        (self.model, self.palette) = (model, palette)
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
