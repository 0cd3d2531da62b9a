// How many commits a peer may make.

import Tweaks

/// A bucket that fills at a rate and holds what comes in one second.
struct CommitBudget: Sendable {
    private(set) var perSecond: Int
    private var left: Double
    private var filledAt: Moment?

    /// A full one.
    init(perSecond: Int) {
        self.perSecond = max(perSecond, 1)
        left = Double(self.perSecond)
    }

    /// Takes one commit out, if there is one.
    mutating func take(_ now: Moment) -> Bool {
        left = level(now)
        filledAt = max(now, filledAt ?? now)
        if left < 1 { return false }
        left -= 1
        return true
    }

    /// Whether nothing is missing.
    func isFull(_ now: Moment) -> Bool { level(now) >= Double(perSecond) }

    private func level(_ now: Moment) -> Double {
        guard let filledAt, now > filledAt else { return min(left, Double(perSecond)) }
        return min(left + (now - filledAt) / .seconds(1) * Double(perSecond), Double(perSecond))
    }

    /// Another rate from now on. It is no fuller for that.
    mutating func change(perSecond: Int) {
        self.perSecond = max(perSecond, 1)
        left = min(left, Double(self.perSecond))
    }
}
