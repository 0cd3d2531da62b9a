// What remains of a temporary override, as people and programs read it.

package import Tweaks

/// Texts of a remaining time.
package enum TimeLeft {
    /// More would be too much for 64 bits of nanoseconds.
    private static let longest = Duration.seconds(9_000_000_000)

    /// Whole seconds, `9m59s`; below ten seconds a tenth. Rounded up: what is not over is never `0s`.
    package static func text(_ duration: Duration) -> String {
        rounded(duration, to: duration < .seconds(10) ? 100_000_000 : 1_000_000_000)
    }

    /// For programs, to the millisecond.
    package static func fields(_ duration: Duration) -> [(String, JSON)] {
        [("temporary", .bool(true)), ("timeLeft", .string(rounded(duration, to: 1_000_000)))]
    }

    private static func rounded(_ duration: Duration, to unit: Int64) -> String {
        // A file can name any year, and then it says no more than that it is long.
        let (seconds, attoseconds) = min(max(duration, .zero), longest).components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        return DurationText.print((nanoseconds + unit - 1) / unit * unit)
    }
}
