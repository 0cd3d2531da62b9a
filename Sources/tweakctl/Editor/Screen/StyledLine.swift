// A line of the screen: pieces of text, and what they are.

import Tweaks
import TweaksTerminal

/// What a piece of text is; the palette knows how that looks.
enum Role: Equatable {
    case plain, faint, strong
    case number, text, word
    case marked, news, error, good
    case key, match, field
    /// What the next key replaces.
    case chosen
}

/// What lies beneath a line, or a part of it.
enum Ground: Equatable {
    case none, selected, title
}

/// A piece of a line.
struct Span: Equatable {
    var text: String
    var role: Role
    /// Painted behind the text, as far as the terminal can.
    var swatch: TweakColor?
    var ground = Ground.none

    /// Blanks, whatever lies beneath.
    fileprivate var isGap: Bool { canHaveGaps && text.utf8.allSatisfy { $0 == 0x20 } }

    /// Whether blanks in it look like all others.
    fileprivate var canHaveGaps: Bool {
        swatch == nil && role != .field && role != .chosen && role != .match && role != .error
    }

    /// Whether blanks at its end are what erasing leaves.
    var canBeTrimmed: Bool { canHaveGaps && ground == .none }

    /// Whether nothing of it can be seen.
    var isBlank: Bool { ground == .none && isGap }
}

/// A line, built from left to right.
struct StyledLine: Equatable {
    private(set) var spans: [Span] = []
    /// How many columns are filled.
    private(set) var width = 0
    /// What lies beneath all that is added from now on.
    var ground = Ground.none

    init(_ text: String = "", _ role: Role = .plain) { add(text, role) }

    init(on ground: Ground) { self.ground = ground }

    /// The text alone.
    var text: String { spans.map(\.text).joined() }

    /// The one way to the screen: whatever a server calls things, no control character gets there.
    mutating func add(_ text: String, _ role: Role = .plain, swatch: TweakColor? = nil) {
        if text.isEmpty { return }
        let text = Quoting.sanitized(text)
        width += TextWidth.of(text)
        append(Span(text: text, role: role, swatch: swatch, ground: ground))
    }

    /// Joined to what stands before, where that looks the same; blanks look the same in nearly every role.
    private mutating func append(_ span: Span) {
        guard let last = spans.last, last.swatch == span.swatch, last.ground == span.ground,
            last.role == span.role || span.isGap && last.canHaveGaps
        else { return spans.append(span) }
        spans[spans.count - 1].text += span.text
    }

    /// Another line, on what lies beneath that one, or else beneath this one.
    mutating func add(_ line: StyledLine) {
        for var span in line.spans {
            if span.ground == .none { span.ground = ground }
            append(span)
        }
        width += line.width
    }

    /// Everything in one role, as for what is not certain any more.
    func painted(_ role: Role) -> StyledLine {
        var line = self
        for position in line.spans.indices { (line.spans[position].role, line.spans[position].swatch) = (role, nil) }
        return line
    }

    /// Blanks up to a column; one at least where something stands there already.
    mutating func pad(to column: Int) { add(String(repeating: " ", count: max(0, column - width))) }

    /// Text in a column so wide: cut with an ellipsis, or filled up.
    mutating func addColumn(_ text: String, _ width: Int, _ role: Role = .plain) {
        let start = self.width
        // Filtered before it is measured: what has no width may be replaced by what has one.
        add(Quoting.sanitized(text).fitted(to: width), role)
        pad(to: start + width)
    }

    /// The same line exactly so wide.
    func fitted(to columns: Int) -> StyledLine {
        var line = StyledLine()
        for span in spans {
            let room = columns - line.width
            if room <= 0 { break }
            line.ground = span.ground
            line.add(span.text.fitted(to: room), span.role, swatch: span.swatch)
        }
        line.ground = ground
        line.pad(to: columns)
        return line
    }
}

extension String {
    /// As much as fits, with an ellipsis where that is not all.
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

    /// Lines no wider than that, broken at blanks.
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

    /// A word that is too long for a line, in pieces.
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
