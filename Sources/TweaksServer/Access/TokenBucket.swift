// Limits the rate of a peer's commits with a token bucket.

import Tweaks

/// A bucket that refills at a fixed rate and holds at most one second's worth of commits.
struct TokenBucket: Sendable {
    private(set) var perSecond: Int
    private var left: Double
    private var filledAt: Moment?

    /// Creates a full bucket.
    init(perSecond: Int) {
        self.perSecond = max(perSecond, 1)
        left = Double(self.perSecond)
    }

    /// Consumes one commit if one is available.
    mutating func consume(_ now: Moment) -> Bool {
        left = level(now)
        filledAt = max(now, filledAt ?? now)
        if left < 1 { return false }
        left -= 1
        return true
    }

    /// Whether the bucket is full.
    func isFull(_ now: Moment) -> Bool { level(now) >= Double(perSecond) }

    private func level(_ now: Moment) -> Double {
        guard let filledAt, now > filledAt else { return min(left, Double(perSecond)) }
        return min(left + (now - filledAt) / .seconds(1) * Double(perSecond), Double(perSecond))
    }

    /// Changes the rate without adding commits to the bucket.
    mutating func change(perSecond: Int) {
        self.perSecond = max(perSecond, 1)
        left = min(left, Double(self.perSecond))
    }
}
