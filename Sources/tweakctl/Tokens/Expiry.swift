// Parses and formats the expiry times of tokens.

import TweaksSystem
import Tweaks

/// Times in milliseconds since 1970, by the wall clock.
enum Expiry {
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Parses `30d`, `2w`, `12h`, `1h30m`, or a time such as `2026-12-21T00:00:00Z`.
    /// - Returns: Nil for anything else, for the past, and beyond the year 9999.
    static func parse(_ text: String, now: Int64) -> Int64? {
        let end = TimeText.parse(text) ?? length(text).flatMap { now.addingIfPossible($0) }
        guard let end, end > now, end <= latest else { return nil }
        // Whole seconds, as the token file has them.
        return end - end % 1_000
    }

    private static let latest: Int64 = 253_402_300_799_999

    private static func length(_ text: String) -> Int64? {
        for (unit, milliseconds) in [("d", Int64(86_400_000)), ("w", 604_800_000)] where text.hasSuffix(unit) {
            guard let count = Int64(text.dropLast()), count > 0 else { return nil }
            let (product, isTooMuch) = count.multipliedReportingOverflow(by: milliseconds)
            return isTooMuch ? nil : product
        }
        return DurationText.parse(text).map { $0 / 1_000_000 }
    }

    /// `in 3 days`, `expired 2 hours ago`: the largest unit, rounded down. Up to a minute is added, so that a new token
    /// of 30 days shows 30 days.
    static func text(_ end: Int64, now: Int64) -> String {
        let exact = (end - now).magnitude / 1_000
        let seconds = end > now && exact >= 3_540 ? exact + 60 : exact
        let units: [(String, UInt64)] = [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)]
        let (name, length) = units.first { seconds >= $0.1 } ?? ("second", 1)
        let count = seconds / length
        let words = "\(count) \(name)\(count == 1 ? "" : "s")"
        return end <= now ? "expired \(words) ago" : "in \(words)"
    }
}

extension Int64 {
    fileprivate func addingIfPossible(_ other: Int64) -> Int64? {
        let (sum, isTooMuch) = addingReportingOverflow(other)
        return isTooMuch ? nil : sum
    }
}
