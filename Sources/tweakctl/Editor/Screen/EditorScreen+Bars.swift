// Draws the header, the notice line, and prompts.

import Tweaks
import TweaksSystem

extension EditorScreen {
    // MARK: Header

    /// The process, its counts, and the state of the connection.
    var header: StyledLine {
        var line = StyledLine(on: .title)
        line.add(" ")
        line.add(model.name.fitted(to: 20), .strong)
        let (state, role) = linkState
        let room = layout.columns - TextWidth.of(state) - 4
        let modified = model.counts(of: "").modified
        let info = [
            model.processID.isEmpty ? "" : "pid \(model.processID)",
            "\(model.tweaks.count) tweak\(model.tweaks.count == 1 ? "" : "s")",
            modified > 0 ? "\(modified) modified" : "",
            "rev \(model.revision)", model.place,
        ]
        for item in info where !item.isEmpty && line.width + 2 + TextWidth.of(item) <= room {
            line.add("  ")
            line.add(item, item.hasSuffix(" modified") ? .marked : .faint)
        }
        line.pad(to: layout.columns - TextWidth.of(state) - 2)
        line.add(" " + state + " ", role)
        return line
    }

    private var linkState: (String, Role) {
        switch model.link {
        case .live where model.isLate: ("no answer yet", .marked)
        case .live: (glyphs.live + " live", .good)
        case .connecting: ("connecting", .faint)
        case .lost: ("disconnected, retrying", .error)
        }
    }

    // MARK: Notices

    /// The line above the footer, and the cursor column if text is typed there.
    var status: (line: StyledLine, cursor: Int?) {
        switch model.mode {
        case .searching(let editor): return searchLine(editor)
        case .typing(let prompt) where prompt.purpose == .preset || !isVisible(prompt.path):
            var line = StyledLine(" ")
            let (typed, cursor) = promptLine(prompt, from: 1)
            line.add(typed)
            return (line, cursor)
        case .typing(let prompt): return (hint(prompt), nil)
        case .asking(let question):
            return (StyledLine(" " + question.text, .marked), nil)
        default: return (remark, nil)
        }
    }

    private var remark: StyledLine {
        if let notice = model.notice { return StyledLine(" " + notice.text, Self.role(notice.sort)) }
        let count = "\(model.rows.count { !$0.isHeading }) of \(model.tweaks.count)"
        if !model.search.isEmpty {
            return StyledLine(" search “\(Quoting.sanitized(model.search))”: \(count); Escape shows all", .marked)
        }
        return model.showsOnlyModified
            ? StyledLine(" only modified tweaks: \(count); m shows all", .marked) : StyledLine()
    }

    /// A message that does not fit into one line, in up to three.
    var longRemark: [StyledLine] {
        switch model.mode {
        case .searching: return []
        case .asking(let question): return Self.lines(question.text, .marked, layout.columns)
        case .typing(let prompt):
            guard let problem = prompt.problem else { return [] }
            let lines = Self.lines(problem, .error, layout.columns)
            if isVisible(prompt.path) { return lines }
            // The prompt is in the status line; a message that does not fit after it goes above.
            return TextWidth.of(problem) + 2 <= layout.columns - status.line.width ? [] : lines + [status.line]
        default: return model.notice.map { Self.lines($0.text, Self.role($0.sort), layout.columns) } ?? []
        }
    }

    private static func lines(_ text: String, _ role: Role, _ columns: Int) -> [StyledLine] {
        text.wrapped(to: columns - 2).prefix(3).map { StyledLine(" " + $0, role) }
    }

    private static func role(_ sort: EditorModel.Notice.Sort) -> Role {
        switch sort {
        case .plain: .plain
        case .good: .good
        case .bad: .error
        }
    }

    private func searchLine(_ editor: LineEditor) -> (StyledLine, Int?) {
        let count = "  \(model.rows.count) of \(model.tweaks.count) "
        var line = StyledLine(" /", .key)
        line.add(" ")
        let (text, cursor) = editor.visible(columns: layout.columns - 4 - count.count)
        let column = line.width + cursor
        line.add(text)
        line.pad(to: layout.columns - count.count)
        line.add(count, .faint)
        return (line, column)
    }

    /// The reason of a refusal, or a hint about valid input.
    private func hint(_ prompt: Prompt) -> StyledLine {
        if let problem = prompt.problem { return StyledLine(" " + problem, .error) }
        if model.notice != nil { return remark }
        guard let position = model.positions[prompt.path] else { return StyledLine() }
        let tweak = model.tweaks[position]
        switch prompt.purpose {
        case .value:
            let choices = tweak.choices.map { choice in
                tweak.label(of: choice).map { "\(choice) (\($0))" } ?? choice
            }
            let list = tweak.kind == .choice ? ": " + choices.joined(separator: ", ") : ""
            return StyledLine(" \(tweak.summary)\(list)", .faint)
        case .temporary:
            return StyledLine(
                prompt.isDurationFocused
                    ? " duration: 30s, 10m, 1h30m; then the value reverts"
                    : " \(tweak.summary); reverts when the duration is over", .faint)
        case .arguments: return StyledLine(" arguments of the action; quote an argument with spaces", .faint)
        case .preset: return StyledLine()
        }
    }

    // MARK: Prompts in the list

    /// The open prompt of this tweak.
    func prompt(for tweak: EditorTweak) -> Prompt? {
        if case .typing(let prompt) = model.mode, prompt.path == tweak.path { prompt } else { nil }
    }

    private func isVisible(_ path: String) -> Bool {
        visibleRows.contains(model.cursor) && model.selectedTweak?.path == path
    }

    /// The fields of a prompt, followed by the reason of a refusal.
    func promptLine(_ prompt: Prompt, from column: Int) -> (line: StyledLine, cursor: Int) {
        let total = prompt.purpose == .preset ? layout.columns : layout.listColumns
        var line = StyledLine()
        if let label = prompt.label { line.add(label + " ", .key) }
        let room = max(total - column - line.width - 1, 4)
        var place = line.width
        let fields = prompt.shownFields
        for (index, field) in fields.enumerated() {
            line.add(field.label, .key)
            let start = addField(field, fieldWidth(index, of: fields, in: room), &line)
            if field.hasKeys { place = start }
        }
        if let problem = prompt.problem, TextWidth.of(problem) + 2 <= total - column - line.width {
            line.add("  " + problem, .error)
        } else if prompt.isSent {
            line.add(" " + glyphs.waiting, .faint)
        }
        return (line, column + place)
    }

    /// The width of a field: that of its text, limited by the room beside the others.
    private func fieldWidth(_ index: Int, of fields: [Prompt.ShownField], in room: Int) -> Int {
        let typed = fields[index].editor.width + 2
        if fields.count == 1 { return min(max(typed, 12), room) }
        let labels = fields.reduce(0) { $0 + $1.label.count }
        func small(_ field: Prompt.ShownField) -> Int {
            min(max(field.editor.width + 2, 6), max(room / (fields.count + 1), 4))
        }
        if index > 0 { return small(fields[index]) }
        let others = fields.dropFirst().reduce(0) { $0 + small($1) }
        return min(max(typed, 8), max(room - others - labels, 4))
    }

    /// Adds a field of a given width.
    /// - Returns: The column of its cursor.
    private func addField(_ field: Prompt.ShownField, _ width: Int, _ line: inout StyledLine) -> Int {
        let start = line.width
        let visible = field.editor.visible(columns: width)
        line.add(visible.text, field.replacesOnTyping ? .chosen : .field)
        line.add(String(repeating: " ", count: max(0, start + width - line.width)), .field)
        return start + visible.cursor
    }

    /// The position of the cursor while a value is typed in the list.
    var valueCursor: Frame.Cursor? {
        guard case .typing(let prompt) = model.mode, isVisible(prompt.path) else { return nil }
        let column = promptLine(prompt, from: columns.valueStart).cursor
        return .init(row: 1 + model.cursor - visibleRows.lowerBound, column: column)
    }
}
