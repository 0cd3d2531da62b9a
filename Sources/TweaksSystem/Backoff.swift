// Computes the delays between retries.

/// Exponential backoff: each delay is twice the one before, up to a maximum. With jitter, a part of each is random, so
/// that several processes do not come back at the same moment.
package struct Backoff: Sendable {
    private let delays: ClosedRange<Duration>
    private var delay: Duration

    /// - Parameter delays: The first delay, and the longest one.
    package init(_ delays: ClosedRange<Duration>) {
        self.delays = delays
        delay = delays.lowerBound
    }

    /// The delay before the next retry.
    /// - Parameter random: Of 0…1; with 1, the delay is whole, with 0 the half of it.
    package mutating func next(random: Double = 1) -> Duration {
        defer { delay = min(delay * 2, delays.upperBound) }
        return delay / 2 + delay / 2 * random
    }

    /// Begins with the first delay again, after a success.
    package mutating func reset() { delay = delays.lowerBound }
}
