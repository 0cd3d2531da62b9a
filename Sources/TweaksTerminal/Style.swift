// What a terminal can show, and the escape sequences for it.

/// How output looks.
package struct Style: Equatable, Sendable {
    /// Arranged for people; otherwise lines go out as the server sent them.
    package var isForPeople = false
    /// Colours, and other sequences for terminals.
    package var hasColors = false
    /// Block characters.
    package var hasBlocks = false

    package init(isForPeople: Bool = false, hasColors: Bool = false, hasBlocks: Bool = false) {
        (self.isForPeople, self.hasColors, self.hasBlocks) = (isForPeople, hasColors, hasBlocks)
    }

    /// Lines as they came.
    package static let plain = Style()
    /// Everything a terminal can do.
    package static let full = Style(isForPeople: true, hasColors: true, hasBlocks: true)

    /// What is proper for a descriptor. `NO_COLOR` (no-color.org) and `TERM=dumb` are obeyed.
    package static func of(_ descriptor: Int32) -> Style {
        guard System.isTerminal(descriptor) else { return .plain }
        let isDumb = System.variable("TERM").map { $0 == "dumb" } ?? true
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(System.variable).first ?? ""
        let code = locale.uppercased()
        return Style(
            isForPeople: true, hasColors: !isDumb && System.variable("NO_COLOR") == nil,
            hasBlocks: code.contains("UTF-8") || code.contains("UTF8"))
    }

    /// What text is.
    package enum Role {
        case name, faint, text, number, word, marked, error

        fileprivate var code: String {
            switch self {
            case .name: "1"
            case .faint: "2"
            case .text: "32"
            case .number: "36"
            case .word: "35"
            case .marked: "1;33"
            case .error: "1;31"
            }
        }
    }

    /// Text in the look of its role.
    package func paint(_ text: String, _ role: Role) -> String {
        hasColors && !text.isEmpty ? "\u{1B}[\(role.code)m\(text)\u{1B}[0m" : text
    }
}

/// How wide text is on a terminal.
package enum TextWidth {
    /// Columns of a text without control characters.
    package static func of(_ text: String) -> Int {
        // Nearly all text is ASCII.
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + of($1) }
    }

    /// Columns of one character: two for East Asian wide ones and emoji, none for a lone mark.
    package static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.properties.isEmojiPresentation { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default:
            let category = first.properties.generalCategory
            return category == .nonspacingMark || category == .enclosingMark || category == .format ? 0 : 1
        }
    }

    /// Text filled up with blanks.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - of(text)))
    }
}
