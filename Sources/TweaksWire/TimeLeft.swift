// Formats the remaining time of a temporary override.

package import Tweaks

/// Formats a remaining time as text and as JSON fields.
package enum TimeLeft {
    /// A longer time would overflow 64 bits of nanoseconds.
    private static let longest = Duration.seconds(9_000_000_000)

    /// Whole seconds, `9m59s`; below ten seconds, tenths. Rounded up, so that a time that is left is never `0s`.
    package static func text(_ duration: Duration) -> String {
        rounded(duration, to: duration < .seconds(10) ? 100_000_000 : 1_000_000_000)
    }

    /// JSON fields, with milliseconds.
    package static func fields(_ duration: Duration) -> [(String, JSON)] {
        [("temporary", .bool(true)), ("timeLeft", .string(rounded(duration, to: 1_000_000)))]
    }

    private static func rounded(_ duration: Duration, to unit: Int64) -> String {
        // A file can name any year; such a time is clamped.
        let (seconds, attoseconds) = min(max(duration, .zero), longest).components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        return DurationText.print((nanoseconds + unit - 1) / unit * unit)
    }
}
