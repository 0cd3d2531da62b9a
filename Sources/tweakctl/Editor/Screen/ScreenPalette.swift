// Maps the meaning of text to the colors and characters that a terminal has.

import Tweaks
import TweaksSystem

/// The colors and characters of one terminal.
struct Palette: Equatable {
    /// The color depth.
    enum Depth: Equatable {
        case none, eight, sixteen, indexed, full
    }

    var depth: Depth
    /// Whether characters beyond ASCII are available.
    var hasBlocks: Bool

    /// The depth according to `NO_COLOR`, `COLORTERM`, and the number of colors of the terminal.
    /// - Parameter colors: That of its terminfo entry; nil without an entry, where the name must suffice.
    static func depth(term: String, colorTerm: String, noColor: String?, colors: Int?) -> Depth {
        if noColor != nil || term == "dumb" || term.hasPrefix("vt1") || term.hasPrefix("vt2") { return .none }
        if ["truecolor", "24bit"].contains(colorTerm) || term.hasSuffix("-direct") { return .full }
        guard let colors else { return term.ranges(of: "256color").isEmpty ? .sixteen : .indexed }
        switch colors {
        case ..<8: return .none
        case ..<16: return .eight
        case ..<256: return .sixteen
        // The largest number that an entry of the older format holds means all of them.
        case ..<0x7FFF: return .indexed
        default: return .full
        }
    }

    /// The palette of this process's terminal.
    static var own: Palette {
        let term = System.variable("TERM") ?? "dumb"
        let depth = depth(
            term: term, colorTerm: System.variable("COLORTERM") ?? "", noColor: System.variable("NO_COLOR"),
            colors: Terminfo.colors(of: term))
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
        case (.selected, .eight): "37;44"
        case (.selected, .sixteen): "97;44"
        case (.selected, _): "38;5;231;48;5;24"
        case (.title, .eight), (.title, .sixteen): "30;47"
        case (.title, _): "38;5;252;48;5;236"
        }
    }

    private func role(_ role: Role, on background: Background) -> String {
        if depth == .none { return Self.plainRole(role) }
        // Text on a background has its own color; only a few roles differ from it.
        let code =
            switch background {
            case .none: openRole(role)
            case .selected: selectedRole(role)
            case .title: titleRole(role)
            }
        return depth == .eight ? Self.withoutBrightColors(code) : code
    }

    private static func plainRole(_ role: Role) -> String {
        switch role {
        case .strong, .marked, .recent, .error, .key: "1"
        case .match, .field: "4"
        case .chosen: "1;4"
        default: ""
        }
    }

    /// The code in the eight colors that all terminals with colors have; gray is dim text.
    private static func withoutBrightColors(_ code: String) -> String {
        code.split(separator: ";").map { part in
            switch Int(part) {
            case 90?: "2"
            case let bright? where (91...97).contains(bright): String(bright - 60)
            case let bright? where (100...107).contains(bright): String(bright - 60)
            default: String(part)
            }
        }.joined(separator: ";")
    }

    private var isRich: Bool { depth == .indexed || depth == .full }

    private func openRole(_ role: Role) -> String {
        switch role {
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
        case .field: isRich ? "38;5;231;48;5;239" : depth == .eight ? "30;47" : "37;100"
        case .chosen: isRich ? "38;5;16;48;5;117" : "30;46"
        }
    }

    private func selectedRole(_ role: Role) -> String {
        switch role {
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
        switch role {
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
        case .eight: return String(Self.basic(parts) % 60)
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
