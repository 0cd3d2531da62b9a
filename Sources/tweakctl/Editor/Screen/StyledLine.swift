// Builds a line of the screen from spans of text with roles, and fits it to a width.

import Tweaks
import TweaksSystem

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
