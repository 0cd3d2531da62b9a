// Renders frames as escape sequences, only the lines that changed since the last frame.

import TweaksSystem

/// A whole screen.
struct Frame: Equatable {
    var lines: [StyledLine]
    var columns: Int
    /// The position of the cursor; nil while it is hidden.
    var cursor: Cursor?

    struct Cursor: Equatable {
        var row: Int
        var column: Int
    }

    /// The text without styles.
    var text: String { lines.map { $0.text.trimmedAtEnd }.joined(separator: "\n") }
}

/// Renders frames and remembers what the terminal shows.
struct FrameRenderer {
    let palette: Palette
    private var shown: Frame?

    init(palette: Palette) { self.palette = palette }

    /// Forgets the screen's content, so that the next frame is drawn completely.
    mutating func forget() { shown = nil }

    /// The bytes that turn the screen into a frame; empty if nothing changed.
    mutating func bytes(for frame: Frame) -> [UInt8] {
        let old = shown?.columns == frame.columns && shown?.lines.count == frame.lines.count ? shown : nil
        if old == frame { return [] }
        var text = old == nil ? "\u{1B}[0m\u{1B}[2J" : ""
        let changed = frame.lines.indices.filter { old?.lines[$0] != frame.lines[$0] }
        // Hidden while lines are drawn, because it would visibly jump.
        if !changed.isEmpty, old?.cursor != nil { text += "\u{1B}[?25l" }
        for row in changed { text += "\u{1B}[\(row + 1);1H" + drawn(frame.lines[row], frame.columns) }
        if let cursor = frame.cursor {
            text += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h"
        } else if old?.cursor != nil, changed.isEmpty {
            text += "\u{1B}[?25l"
        }
        shown = frame
        return Array(text.utf8)
    }

    /// Draws a whole line: a partial update could leave half of a wide character.
    private func drawn(_ line: StyledLine, _ columns: Int) -> String {
        // Erasing the rest of the line replaces trailing spaces.
        var spans = line.spans[...]
        while let last = spans.last, last.isBlank { spans.removeLast() }
        var (result, shownCode, width) = ("", "0", 0)
        for (position, span) in zip(spans.indices, spans) {
            let code = palette.code(span)
            if code != shownCode { result += "\u{1B}[\(code)m" }
            shownCode = code
            let isLast = position == spans.endIndex - 1
            let text = isLast && span.canBeTrimmed ? span.text.trimmedAtEnd : span.text
            result += palette.hasBlocks ? text : Self.plain(text)
            width += TextWidth.of(text)
        }
        if shownCode != "0" { result += "\u{1B}[0m" }
        // In the last column erasing would remove the last character.
        return width < columns ? result + "\u{1B}[K" : result
    }

    /// Replaces the editor's own characters by ASCII of the same width.
    private static func plain(_ text: String) -> String {
        String(text.map { ascii[$0] ?? $0 })
    }

    private static let ascii: [Character: Character] = [
        "…": ".", "←": "<", "→": ">", "↑": "^", "↓": "v", "×": "x", "•": "*",
    ]
}
