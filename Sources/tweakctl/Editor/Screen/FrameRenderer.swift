// Renders frames of styled lines in the colors and characters that a terminal supports.

import Tweaks
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

/// The meaning of a span; the palette maps it to colors.
enum Role: Equatable {
    case plain, faint, strong
    case number, text, word
    case marked, recent, error, good
    case key, match, field
    /// Text that the next key replaces.
    case chosen
}

/// The background of a line, or of a part of it.
enum Background: Equatable {
    case none, selected, title
}

/// A piece of a line with one style.
struct Span: Equatable {
    var text: String
    var role: Role
    /// A color behind the text, if the terminal can show it.
    var swatch: TweakColor?
    var background = Background.none

    /// Whether it is only spaces, on any background.
    fileprivate var isGap: Bool { canHaveGaps && text.utf8.allSatisfy { $0 == 0x20 } }

    /// Whether its spaces look like those of other roles.
    fileprivate var canHaveGaps: Bool {
        swatch == nil && role != .field && role != .chosen && role != .match && role != .error
    }

    /// Whether erasing the line can replace its trailing spaces.
    var canBeTrimmed: Bool { canHaveGaps && background == .none }

    /// Whether it is invisible.
    var isBlank: Bool { background == .none && isGap }
}

/// A line, built from left to right.
struct StyledLine: Equatable {
    private(set) var spans: [Span] = []
    /// The width in columns.
    private(set) var width = 0
    /// The background of all text that is added from now on.
    var background = Background.none
    /// The columns of its bars, on which one can click.
    private(set) var bars: [Range<Int>] = []

    init(_ text: String = "", _ role: Role = .plain) { add(text, role) }

    init(on background: Background) { self.background = background }

    /// The text without styles.
    var text: String { spans.map(\.text).joined() }

    /// Adds text. All text passes through here, so that control characters from a server never reach the terminal.
    mutating func add(_ text: String, _ role: Role = .plain, swatch: TweakColor? = nil) {
        if text.isEmpty { return }
        let text = Quoting.sanitized(text)
        width += TextWidth.of(text)
        append(Span(text: text, role: role, swatch: swatch, background: background))
    }

    /// Appends a span, merged with the last one if both look the same; spaces look the same in nearly every role.
    private mutating func append(_ span: Span) {
        guard let last = spans.last, last.swatch == span.swatch, last.background == span.background,
            last.role == span.role || span.isGap && last.canHaveGaps
        else { return spans.append(span) }
        spans[spans.count - 1].text += span.text
    }

    /// Adds a sample of a color; where it is translucent, on the light and dark fields of a chessboard.
    /// - Parameter row: The row of the sample, for a sample of several lines.
    mutating func addSwatch(_ color: TweakColor, _ columns: Int, row: Int = 0) {
        // Two columns are about as wide as a line is high.
        let field = columns > 2 ? 2 : 1
        for column in 0..<columns {
            let isLight = (column / field + row).isMultiple(of: 2)
            add(" ", swatch: color.over(gray: isLight ? 0xCC : 0x33))
        }
    }

    /// Adds a bar.
    mutating func add(bar line: StyledLine) {
        bars.append(width..<(width + line.width))
        add(line)
    }

    /// Adds another line; spans without a background get that of this line.
    mutating func add(_ line: StyledLine) {
        bars += line.bars.map { (width + $0.lowerBound)..<(width + $0.upperBound) }
        for var span in line.spans {
            if span.background == .none { span.background = background }
            append(span)
        }
        width += line.width
    }

    /// A copy in one role, for values that may be outdated.
    func painted(_ role: Role) -> StyledLine {
        var line = self
        for position in line.spans.indices { (line.spans[position].role, line.spans[position].swatch) = (role, nil) }
        return line
    }

    /// Pads with spaces up to a column.
    mutating func pad(to column: Int) { add(String(repeating: " ", count: max(0, column - width))) }

    /// Adds text cut or padded to a width.
    mutating func addColumn(_ text: String, _ width: Int, _ role: Role = .plain) {
        let start = self.width
        // Sanitized before measuring: a character without width may be replaced by one with width.
        add(Quoting.sanitized(text).fitted(to: width), role)
        pad(to: start + width)
    }

    /// The line cut or padded to a width.
    func fitted(to columns: Int) -> StyledLine {
        var line = StyledLine()
        for span in spans {
            let room = columns - line.width
            if room <= 0 { break }
            line.background = span.background
            line.add(span.text.fitted(to: room), span.role, swatch: span.swatch)
        }
        line.background = background
        line.bars = bars.map { $0.clamped(to: 0..<columns) }
        line.pad(to: columns)
        return line
    }
}

extension String {
    /// The text cut to a width, with an ellipsis.
    func fitted(to columns: Int) -> String {
        if TextWidth.of(self) <= columns { return self }
        if hasSuffix(" ") { return trimmedAtEnd.fitted(to: columns) }
        var (result, width) = ("", 0)
        for character in self {
            width += TextWidth.of(character)
            if width > columns - 1 { break }
            result.append(character)
        }
        return columns > 0 ? result + "…" : ""
    }

    /// The text wrapped at spaces to a width.
    func wrapped(to columns: Int) -> [String] {
        var (lines, line) = ([String](), "")
        for word in split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
            let longer = line.isEmpty ? word : line + " " + word
            if TextWidth.of(longer) <= columns || line.isEmpty {
                line = longer
            } else {
                lines.append(line)
                line = word
            }
        }
        return (lines + [line]).flatMap { $0.cut(to: columns) }
    }

    /// A word that is too long for a line, split.
    private func cut(to columns: Int) -> [String] {
        guard TextWidth.of(self) > columns, columns > 1 else { return [self] }
        var (pieces, piece, width) = ([String](), "", 0)
        for character in self {
            let more = TextWidth.of(character)
            if width + more > columns { (pieces, piece, width) = (pieces + [piece], "", 0) }
            piece.append(character)
            width += more
        }
        return pieces + [piece]
    }
}
