// Limits a rate with a token bucket: of a peer's commits, and of the log lines about a client.

package import Tweaks

/// A bucket that refills at a fixed rate up to its capacity.
package struct TokenBucket: Sendable {
    package private(set) var perSecond: Int
    private var capacity: Int
    private var left: Double
    private var filledAt: Moment?

    /// Creates a full bucket.
    /// - Parameter capacity: The maximum number of tokens; nil: as many as one second adds.
    package init(perSecond: Int, capacity: Int? = nil) {
        self.perSecond = max(perSecond, 1)
        self.capacity = capacity ?? self.perSecond
        left = Double(self.capacity)
    }

    /// Consumes tokens if one is available; the rest of them is a debt, which the next ones pay.
    package mutating func consume(_ now: Moment, count: Int = 1) -> Bool {
        left = level(now)
        filledAt = max(now, filledAt ?? now)
        if left < 1 { return false }
        left -= Double(count)
        return true
    }

    /// The time at which a token is available again; nil if one was left at the last ``consume(_:count:)``.
    package var refilledAt: Moment? {
        guard let filledAt, left < 1 else { return nil }
        return filledAt + .seconds((1 - left) / Double(perSecond))
    }

    /// Whether the bucket is full.
    package func isFull(_ now: Moment) -> Bool { level(now) >= Double(capacity) }

    private func level(_ now: Moment) -> Double {
        guard let filledAt, now > filledAt else { return min(left, Double(capacity)) }
        return min(left + (now - filledAt) / .seconds(1) * Double(perSecond), Double(capacity))
    }

    /// Changes the rate, and the capacity to one second's tokens, without adding tokens to the bucket.
    package mutating func change(perSecond: Int) {
        self.perSecond = max(perSecond, 1)
        capacity = self.perSecond
        left = min(left, Double(capacity))
    }
}
