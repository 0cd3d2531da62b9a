// Formats reply lines for reading: columns, color swatches, bars, marks.

import Tweaks
import TweaksSystem

/// Formats the replies and events of a server.
struct ReplyFormatter {
    let style: Style
    /// The current time, in milliseconds since 1970.
    var now: @Sendable () -> Int64 = { Expiry.now }

    /// The column widths of a block; wider cells are not aligned.
    private struct Columns {
        var path = 0
        var value = 0
        /// Whether any line of the block has a mark or a bar.
        var hasMarks = false
        var hasBars = false
    }

    /// Formats the body of one reply.
    func lines(_ body: [String]) -> [String] {
        guard style.isHumanReadable else { return body }
        let rows = body.map(TweakRow.init)
        var columns = Columns()
        for row in rows {
            guard let row else { continue }
            let (path, value) = (TextWidth.of(row.path), TextWidth.of(row.value) + (row.color == nil ? 0 : swatchWidth))
            if path <= 48 { columns.path = max(columns.path, path) }
            if value <= 24 { columns.value = max(columns.value, value) }
            columns.hasMarks = columns.hasMarks || row.isModified
            columns.hasBars = columns.hasBars || row.fraction != nil
        }
        return zip(body, rows).map { line, row in row.map { self.line($0, columns) } ?? text(line) }
    }

    /// Formats one event.
    func event(_ line: String) -> String {
        guard style.isHumanReadable else { return line }
        guard let row = TweakRow(line) else { return style.paint(line, .faint) }
        return style.paint("rev \(row.revision ?? "?")", .faint) + "  " + self.line(row, Columns())
    }

    /// The reason of a refusal: `error CODE words` as `CODE: words`, for standard error.
    static func refusal(_ status: String) -> String {
        let words = status.split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[0] == "error" else { return status }
        return "\(words[1]): \(words[2])"
    }

    // MARK: Rows

    private func line(_ row: TweakRow, _ columns: Columns) -> String {
        var result = ""
        if columns.hasMarks {
            result += row.isModified ? style.paint(style.hasBlocks ? "●" : "*", .marked) + " " : "  "
        }
        result += path(row.path)
        result += String(repeating: " ", count: max(0, columns.path - TextWidth.of(row.path)))
        result += style.paint(" = ", .faint) + value(row)
        if row.note.isEmpty { return result }
        let width = TextWidth.of(row.value) + (row.color == nil ? 0 : swatchWidth)
        result += String(repeating: " ", count: max(0, columns.value - width)) + "  "
        if columns.hasBars { result += bar(row.fraction) + "  " }
        return result + style.paint("# " + row.note, .faint)
    }

    /// The path with category and collection fainter than the name.
    private func path(_ path: String) -> String {
        guard style.hasColors, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        let split = path.utf8.index(after: slash)
        return style.paint(String(path[..<split]), .faint) + style.paint(String(path[split...]), .name)
    }

    private func value(_ row: TweakRow) -> String {
        if let color = row.color { return swatch(color) + row.value }
        let role: Style.Role
        switch row.value.first {
        case "\"": role = .text
        case let first? where first == "-" || first.isNumber: role = .number
        case "(": role = .faint
        default: role = .word
        }
        return style.paint(row.value, role)
    }

    private var swatchWidth: Int { style.hasColors ? 3 : 0 }

    /// The color on a black background, as far as it is transparent.
    private func swatch(_ color: TweakColor) -> String {
        guard style.hasColors else { return "" }
        let parts = [color.red8, color.green8, color.blue8].map { String(Int($0) * Int(color.alpha8) / 255) }
        return "\u{1B}[48;2;\(parts.joined(separator: ";"))m  \u{1B}[0m "
    }

    /// Eight cells; in ASCII where there are no block characters.
    private func bar(_ fraction: Double?) -> String {
        guard let fraction else { return String(repeating: " ", count: 8) }
        let filled = Int((fraction * 8).rounded())
        let (full, empty) = style.hasBlocks ? ("█", "░") : ("#", "-")
        return style.paint(String(repeating: full, count: filled), .number)
            + style.paint(String(repeating: empty, count: 8 - filled), .faint)
    }

    // MARK: Other lines

    /// Highlights the winning layer of `explain`, and shows ages in place of timestamps, which are harder to read.
    private func text(_ line: String) -> String {
        let line = Age.inWords(line, now: now())
        return line.hasPrefix("  → ") ? style.paint(line, .name) : line
    }
}
