// Rewrites timestamps as relative ages: 2026-11-21T10:00:00Z becomes “3 min ago”.

import Tweaks

/// Formats how long ago a timestamp was.
package enum Age {
    /// Replaces the first timestamp of a line by its age; a line without one, or with one in the future, stays
    /// unchanged.
    /// - Parameter now: In milliseconds since 1970.
    package static func inWords(_ line: String, now: Int64) -> String {
        // Timestamps inside values are quoted, so that no value is rewritten.
        for word in line.split(separator: " ") where word.utf8.count >= 20 && word.utf8.last != UInt8(ascii: "\"") {
            let bare = word.last == "," ? word.dropLast() : word
            guard let moment = TimeText.parse(String(bare)), let age = text(since: moment, now: now) else { continue }
            let before = line[..<bare.startIndex]
            let start = before.hasSuffix(" at ") ? before.dropLast(3) : before
            return start + age + line[bare.endIndex...]
        }
        return line
    }

    /// `just now`, `40 s ago`, `3 min ago`, `2 h ago`, `5 days ago`; nil for a time in the future.
    package static func text(since moment: Int64, now: Int64) -> String? {
        // Both are within the years 0…9999. The clocks of two machines may differ by a few seconds.
        guard now - moment > -5_000 else { return nil }
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
