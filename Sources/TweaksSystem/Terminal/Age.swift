// Rewrites timestamps as relative ages: 2026-11-21T10:00:00Z becomes “3 min ago”.

import Tweaks

/// Formats how long ago a timestamp was.
package enum Age {
    /// Replaces the first timestamp of a line by its age; a line without one, or with one in the future, stays
    /// unchanged.
    /// - Parameter now: In milliseconds since 1970.
    package static func inWords(_ line: String, now: Int64) -> String {
        guard let (word, moment) = timestamp(of: line, now: now), let age = text(since: moment, now: now) else {
            return line
        }
        let before = line[..<word.startIndex]
        let start = before.hasSuffix(" at ") ? before.dropLast(3) : before
        return start + age + line[word.endIndex...]
    }

    /// The milliseconds until the age in a line changes; nil for a line without one.
    package static func timeUntilChange(of line: String, now: Int64) -> Int64? {
        guard let (_, moment) = timestamp(of: line, now: now) else { return nil }
        let age = now - moment
        switch age {
        case ..<5_000: return 5_000 - age
        case ..<60_000: return 1_000 - age % 1_000
        case ..<3_600_000: return 60_000 - age % 60_000
        case ..<86_400_000: return 3_600_000 - age % 3_600_000
        default: return 86_400_000 - age % 86_400_000
        }
    }

    /// The first timestamp of a line outside quotes that has an age: no value is rewritten.
    private static func timestamp(of line: String, now: Int64) -> (word: Substring, moment: Int64)? {
        var isQuoted = false
        for word in line.split(separator: " ") {
            if changesQuoting(word) {
                isQuoted.toggle()
            } else if !isQuoted, word.utf8.count >= 20 {
                let bare = word.last == "," ? word.dropLast() : word
                if let moment = TimeText.parse(String(bare)), isPast(moment, now: now) { return (bare, moment) }
            }
        }
        return nil
    }

    /// Whether a quote begins or ends in a word, and not both.
    private static func changesQuoting(_ word: Substring) -> Bool {
        var changes = false
        var isEscaped = false
        for byte in word.utf8 {
            if byte == UInt8(ascii: "\""), !isEscaped { changes.toggle() }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return changes
    }

    /// Both are within the years 0…9999. The clocks of two machines may differ by a few seconds.
    private static func isPast(_ moment: Int64, now: Int64) -> Bool { now - moment > -5_000 }

    /// `just now`, `40 s ago`, `3 min ago`, `2 h ago`, `5 days ago`; nil for a time in the future.
    package static func text(since moment: Int64, now: Int64) -> String? {
        guard isPast(moment, now: now) else { return nil }
        let seconds = max(0, (now - moment) / 1_000)
        switch seconds {
        case ..<5: return "just now"
        case ..<60: return "\(seconds) s ago"
        case ..<3_600: return "\(seconds / 60) min ago"
        case ..<86_400: return "\(seconds / 3_600) h ago"
        default: return seconds < 172_800 ? "1 day ago" : "\(seconds / 86_400) days ago"
        }
    }
}
