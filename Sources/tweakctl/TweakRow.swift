// Parses a line that shows a tweak into path, value and note.

import Tweaks

/// `PATH = VALUE # note`, the form of tweaks in replies and events.
struct TweakRow: Equatable {
    /// The path as sent, with quotes where it has some.
    var path: String
    var value: String
    /// Without the `# ` before it.
    var note = ""
    /// The revision of an event.
    var revision: String?

    /// Nil for a line of another form.
    init?(_ line: String) {
        var rest = line[...]
        if rest.hasPrefix("event ") {
            let words = rest.split(separator: " ", maxSplits: 2)
            guard words.count == 3 else { return nil }
            revision = String(words[1])
            rest = words[2]
        }
        guard let path = Self.parseToken(&rest), rest.hasPrefix("= ") else { return nil }
        rest = rest.dropFirst(2)
        guard let value = Self.parseToken(&rest) else { return nil }
        (self.path, self.value) = (path, value)
        if rest.hasPrefix("# ") { note = String(rest.dropFirst(2)) } else if !rest.isEmpty { return nil }
    }

    /// Consumes a token with its quotes, and the spaces after it.
    static func parseToken(_ rest: inout Substring) -> String? {
        let isQuoted = rest.utf8.first == UInt8(ascii: "\"")
        if rest.utf8.first == UInt8(ascii: "["), let end = ListText.end(Array(rest.utf8), from: 0),
            let list = String(rest.utf8.prefix(end)), [nil, UInt8(ascii: " ")].contains(rest.utf8.dropFirst(end).first)
        {
            rest = rest.dropFirst(list.count).drop { $0 == " " }
            return list
        }
        var (end, isEscaped) = (rest.utf8.startIndex, false)
        while end < rest.utf8.endIndex {
            let byte = rest.utf8[end]
            if !isQuoted, byte == UInt8(ascii: " ") { break }
            rest.utf8.formIndex(after: &end)
            if isQuoted, byte == UInt8(ascii: "\""), !isEscaped, end > rest.utf8.index(after: rest.startIndex) { break }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
        }
        guard end > rest.startIndex else { return nil }
        let token = String(rest[..<end])
        rest = rest[end...].drop { $0 == " " }
        return token
    }

    // MARK: Parts of the note

    /// Whether the value differs from its default.
    var isModified: Bool { note.contains(", default ") }

    /// Whether the value is secret, and never shown.
    var isSecret: Bool { value == "(set)" || value == "(unset)" }

    var color: TweakColor? { value.hasPrefix("#") ? TweakColor(value) : nil }

    /// The position of the value between its bounds, 0…1; nil unless it has both.
    var fraction: Double? {
        guard let number = Self.number(value), note.hasPrefix("number ") || note.hasPrefix("int ") else {
            return durationFraction
        }
        return Self.fraction(of: number, in: note, reading: Self.number)
    }

    private var durationFraction: Double? {
        guard note.hasPrefix("duration "), let value = Self.seconds(value) else { return nil }
        return Self.fraction(of: value, in: note, reading: Self.seconds)
    }

    private static func fraction(
        of value: Double, in note: String, reading read: (String) -> Double?
    ) -> Double? {
        let words = note.split(separator: " ", maxSplits: 2)
        guard words.count > 1, let dots = words[1].firstRange(of: "...") else { return nil }
        // “10...100,” may be followed by further facts.
        let upperText = words[1][dots.upperBound...].prefix { $0 != "," }
        guard let lower = read(String(words[1][..<dots.lowerBound])), let upper = read(String(upperText)) else {
            return nil
        }
        let fraction = (value - lower) / (upper - lower)
        return fraction.isFinite ? min(max(fraction, 0), 1) : nil
    }

    private static func number(_ text: String) -> Double? { Double(text) }

    private static func seconds(_ text: String) -> Double? {
        guard case .duration(let duration)? = TweakValue(parsing: text, as: .duration) else { return nil }
        return duration / .seconds(1)
    }
}
