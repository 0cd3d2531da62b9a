// Defines the clocks and the timings of a follower, so that tests need not wait.

import Tweaks
import TweaksSystem

/// What time it is, how to sleep, and chance.
package protocol FleetTime: Sendable {
    /// By a clock that never jumps.
    var now: ContinuousClock.Instant { get }
    /// Milliseconds since 1970, by the wall clock.
    var wall: Int64 { get }
    /// Sleeps until a moment; throws when the task is cancelled.
    func sleep(until deadline: ContinuousClock.Instant) async throws
    /// 0…1.
    func chance() -> Double
}

extension FleetTime {
    /// The instant of a moment by the wall clock; never later than now.
    func instant(_ wall: Int64) -> ContinuousClock.Instant {
        let (age, overflows) = self.wall.subtractingReportingOverflow(wall)
        return overflows ? now : now.advanced(by: .zero - .milliseconds(max(0, min(age, 1 << 45))))
    }
}

/// The system's clocks.
package struct FleetSystemTime: FleetTime {
    package init() {}

    package var now: ContinuousClock.Instant { .now }

    package var wall: Int64 { ThisProcess.wallClock }

    package func sleep(until deadline: ContinuousClock.Instant) async throws {
        try await ContinuousClock().sleep(until: deadline)
    }

    package func chance() -> Double { Double.random(in: 0...1) }
}

/// How often a follower does what.
package struct FleetTimings: Sendable {
    /// Between two heartbeats: the lease is kept alive, and the head compared.
    package var heartbeat = Duration.seconds(20)
    /// The status of a process whose heartbeats end is gone after so long.
    package var leaseSeconds: Int64 = 60
    /// A watch is opened anew after so long.
    package var watchLife = Duration.seconds(600)
    /// Statuses are written up to so long after what they tell, so that not all processes write at once.
    package var statusJitter = Duration.seconds(5)
    /// Between two samples of the figures that rollouts look at.
    package var sample = Duration.seconds(15)
    /// Everything is read anew up to so long after a compaction.
    package var rereadJitter = Duration.seconds(10)
    /// The longest wait between two attempts.
    package var longestPause = Duration.seconds(15)

    package init() {}
}
