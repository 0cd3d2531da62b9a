// Provides the time, which tests replace, and computes the delays between retries.

package import Tweaks

/// The two clocks of a program. Users of it that sleep refine the protocol.
package protocol Time: Sendable {
    /// The monotonic time.
    var now: Moment { get }
    /// The time of day, in milliseconds since 1970.
    var wall: Int64 { get }
}

/// The system's clocks.
package struct SystemTime: Time {
    package init() {}

    package var now: Moment { .now }

    package var wall: Int64 { ThisProcess.wallClock }
}

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
        return delay - delay / 2 * (1 - random)
    }

    /// Begins with the first delay again, after a success.
    package mutating func reset() { delay = delays.lowerBound }
}
