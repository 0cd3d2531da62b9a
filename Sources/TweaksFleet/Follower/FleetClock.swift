// Defines the clocks and the timings of a follower, so that tests can replace them.

import Tweaks
import TweaksSystem

/// Clocks, sleep and random numbers.
package protocol FleetClock: Sendable {
    /// The monotonic time.
    var now: ContinuousClock.Instant { get }
    /// The wall clock, in milliseconds since 1970.
    var wall: Int64 { get }
    /// Sleeps until a time; throws if the task is canceled.
    func sleep(until deadline: ContinuousClock.Instant) async throws
    /// A random number in 0…1.
    func randomFraction() -> Double
}

extension FleetClock {
    /// Converts a wall clock time; never later than now.
    func instant(_ wall: Int64) -> ContinuousClock.Instant {
        let (age, overflows) = self.wall.subtractingReportingOverflow(wall)
        return overflows ? now : now.advanced(by: .zero - .milliseconds(max(0, min(age, 1 << 45))))
    }
}

/// The clocks of the system.
package struct SystemFleetClock: FleetClock {
    package init() {}

    package var now: ContinuousClock.Instant { .now }

    package var wall: Int64 { ThisProcess.wallClock }

    package func sleep(until deadline: ContinuousClock.Instant) async throws {
        try await ContinuousClock().sleep(until: deadline)
    }

    package func randomFraction() -> Double { Double.random(in: 0...1) }
}

/// The intervals and time limits of a follower.
package struct FleetTimings: Sendable {
    /// The interval of heartbeats, which renew the lease and compare the head.
    package var heartbeat = Duration.seconds(20)
    /// The status of a process disappears this long after its last heartbeat.
    package var leaseSeconds: Int64 = 60
    /// A watch is reopened after this time.
    package var watchLife = Duration.seconds(600)
    /// A status is written after a random delay of up to this, so that processes do not all write at once.
    package var statusJitter = Duration.seconds(5)
    /// The interval between two samples of the figures in rollout conditions.
    package var sample = Duration.seconds(15)
    /// After a compaction everything is read again, after a random delay of up to this.
    package var rereadJitter = Duration.seconds(10)
    /// The longest delay between two retries.
    package var maxPause = Duration.seconds(15)

    package init() {}
}
