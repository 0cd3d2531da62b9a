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

/// The colors and characters of one terminal.
struct Palette: Equatable {
    /// The color depth.
    enum Depth: Equatable {
        case none, sixteen, indexed, full
    }

    var depth: Depth
    /// Whether characters beyond ASCII are available.
    var hasBlocks: Bool

    /// The depth according to `NO_COLOR`, `COLORTERM` and `TERM`.
    static func depth(term: String, colorTerm: String, noColor: String?) -> Depth {
        if noColor != nil || term == "dumb" || term.hasPrefix("vt1") || term.hasPrefix("vt2") { return .none }
        if ["truecolor", "24bit"].contains(colorTerm) || term.hasSuffix("-direct") { return .full }
        return term.contains("256color") ? .indexed : .sixteen
    }

    /// The palette of this process's terminal.
    static var own: Palette {
        let depth = depth(
            term: System.variable("TERM") ?? "dumb", colorTerm: System.variable("COLORTERM") ?? "",
            noColor: System.variable("NO_COLOR"))
        return Palette(depth: depth, hasBlocks: Style.of(1).hasBlocks)
    }

    // MARK: Sequences

    /// The SGR parameters of a span.
    func code(_ span: Span) -> String {
        var parts = ["0", background(span.background), role(span.role, on: span.background)]
        if let swatch = span.swatch { parts.append(self.swatch(swatch)) }
        return parts.filter { !$0.isEmpty }.joined(separator: ";")
    }

    private func background(_ background: Background) -> String {
        switch (background, depth) {
        case (.none, _): ""
        case (_, .none): "7"
        case (.selected, .sixteen): "97;44"
        case (.selected, _): "38;5;231;48;5;24"
        case (.title, .sixteen): "30;47"
        case (.title, _): "38;5;252;48;5;236"
        }
    }

    private func role(_ role: Role, on background: Background) -> String {
        if depth == .none { return Self.plainRole(role) }
        // Text on a background has its own color; only a few roles differ from it.
        switch background {
        case .none: return openRole(role)
        case .selected: return selectedRole(role)
        case .title: return titleRole(role)
        }
    }

    private static func plainRole(_ role: Role) -> String {
        switch role {
        case .strong, .marked, .recent, .error, .key: "1"
        case .match, .field: "4"
        case .chosen: "1;4"
        default: ""
        }
    }

    private func openRole(_ role: Role) -> String {
        let isRich = depth != .sixteen
        return switch role {
        case .plain: ""
        case .faint: isRich ? "38;5;244" : "90"
        case .strong: "1"
        case .number: isRich ? "38;5;37" : "36"
        case .text: isRich ? "38;5;71" : "32"
        case .word: isRich ? "38;5;134" : "35"
        case .marked: isRich ? "1;38;5;208" : "1;33"
        case .recent: isRich ? "1;38;5;33" : "1;34"
        case .error: isRich ? "1;38;5;160" : "1;31"
        case .good: isRich ? "38;5;71" : "32"
        case .key: isRich ? "1;38;5;33" : "1;36"
        case .match: "1;4"
        case .field: isRich ? "38;5;231;48;5;239" : "37;100"
        case .chosen: isRich ? "38;5;16;48;5;117" : "30;46"
        }
    }

    private func selectedRole(_ role: Role) -> String {
        let isRich = depth != .sixteen
        return switch role {
        case .strong, .match: "1"
        case .faint: isRich ? "38;5;152" : "37"
        case .marked: isRich ? "1;38;5;221" : "1;93"
        case .recent: isRich ? "1;38;5;123" : "1;96"
        case .error: isRich ? "1;38;5;217" : "1;93"
        case .field: isRich ? "38;5;16;48;5;255" : "30;47"
        case .chosen: isRich ? "38;5;16;48;5;117" : "30;46"
        default: ""
        }
    }

    private func titleRole(_ role: Role) -> String {
        let isRich = depth != .sixteen
        return switch role {
        case .strong: isRich ? "1;38;5;231" : "1"
        case .faint: isRich ? "38;5;246" : ""
        case .marked: isRich ? "38;5;215" : ""
        case .good: isRich ? "38;5;114" : "32"
        case .error: isRich ? "1;38;5;231;48;5;124" : "1;97;41"
        default: ""
        }
    }

    // MARK: Colors

    /// Whether color swatches can be shown.
    var hasSwatches: Bool { depth != .none }

    /// The color on black, as exact as the terminal allows.
    private func swatch(_ color: TweakColor) -> String {
        let parts = color.channels.prefix(3).map { $0 * Int(color.alpha8) / 255 }
        switch depth {
        case .none: return ""
        case .full: return "48;2;" + parts.map { String($0) }.joined(separator: ";")
        case .indexed: return "48;5;\(Self.indexed(parts))"
        case .sixteen: return String(Self.basic(parts))
        }
    }

    /// The nearest color of the 6 × 6 × 6 cube, or the nearest gray.
    private static func indexed(_ parts: [Int]) -> Int {
        if Set(parts).count == 1 {
            return parts[0] < 4 ? 16 : parts[0] > 246 ? 231 : 232 + min((parts[0] - 3) / 10, 23)
        }
        let levels = parts.map { $0 < 48 ? 0 : min(($0 - 35) / 40, 5) }
        return 16 + 36 * levels[0] + 6 * levels[1] + levels[2]
    }

    /// The nearest of the eight basic colors and their bright variants.
    private static func basic(_ parts: [Int]) -> Int {
        let most = parts.max() ?? 0
        if most < 48 { return 40 }
        let bits = parts.enumerated().reduce(0) { $0 + ($1.element * 2 > most ? 1 << $1.offset : 0) }
        return (most > 192 ? 100 : 40) + bits
    }
}

/// The characters for marks, lines and bars.
struct Glyphs {
    let hasBlocks: Bool

    var marked: String { hasBlocks ? "●" : "*" }
    var open: String { hasBlocks ? "▾" : "-" }
    var folded: String { hasBlocks ? "▸" : "+" }
    var pointer: String { hasBlocks ? "▌" : ">" }
    var back: String { hasBlocks ? "←" : "<-" }
    var line: String { hasBlocks ? "─" : "-" }
    var divider: String { hasBlocks ? "│" : "|" }
    var full: String { hasBlocks ? "█" : "#" }
    var empty: String { hasBlocks ? "░" : "-" }
    var live: String { hasBlocks ? "●" : "*" }
    var dash: String { hasBlocks ? "…" : ".." }
    var timer: String { hasBlocks ? "⧗" : "for" }
    var waiting: String { hasBlocks ? "⋯" : "~" }
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

    /// Adds another line; spans without a background get that of this line.
    mutating func add(_ line: StyledLine) {
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
