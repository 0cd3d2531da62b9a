// Detects what a terminal can display and makes the escape sequences for it.

/// The capabilities that output may use.
package struct Style: Equatable, Sendable {
    /// Whether lines are formatted for reading; otherwise they are printed as the server sent them.
    package var isHumanReadable = false
    /// Whether colors and other escape sequences are used.
    package var hasColors = false
    /// Whether block characters are used.
    package var hasBlocks = false

    package init(isHumanReadable: Bool = false, hasColors: Bool = false, hasBlocks: Bool = false) {
        (self.isHumanReadable, self.hasColors, self.hasBlocks) = (isHumanReadable, hasColors, hasBlocks)
    }

    /// No formatting.
    package static let plain = Style()
    /// All capabilities.
    package static let full = Style(isHumanReadable: true, hasColors: true, hasBlocks: true)

    /// The capabilities of a descriptor. `NO_COLOR` (no-color.org) and `TERM=dumb` are respected.
    package static func of(_ descriptor: Int32) -> Style {
        guard System.isTerminal(descriptor) else { return .plain }
        let isDumb = System.variable("TERM").map { $0 == "dumb" } ?? true
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(System.variable).first ?? ""
        let code = locale.uppercased()
        return Style(
            isHumanReadable: true, hasColors: !isDumb && System.variable("NO_COLOR") == nil,
            hasBlocks: code.contains("UTF-8") || code.contains("UTF8"))
    }

    /// The meaning of a piece of text, which decides its color.
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

    /// The text with the escape sequences of its role.
    package func paint(_ text: String, _ role: Role) -> String {
        hasColors && !text.isEmpty ? "\u{1B}[\(role.code)m\(text)\u{1B}[0m" : text
    }
}

/// Measures text in terminal columns.
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

    /// The text padded with spaces.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - of(text)))
    }
}
