// The clocks of the storage, so that tests need not wait.

package import Dispatch
import Tweaks
import TweaksSystem

/// What time it is, and how to sleep.
package protocol StorageTime: Sendable {
    var now: ContinuousClock.Instant { get }
    /// Milliseconds since 1970, by the wall clock.
    var wall: Int64 { get }
    /// Sleeps until the bell is signalled or the time has come; waking early does no harm.
    func wait(for bell: DispatchSemaphore, until deadline: ContinuousClock.Instant?)
}

/// The system's clocks.
package struct SystemTime: StorageTime {
    package init() {}

    package var now: ContinuousClock.Instant { .now }

    package var wall: Int64 { ThisProcess.wallClock }

    package func wait(for bell: DispatchSemaphore, until deadline: ContinuousClock.Instant?) {
        guard let deadline else { return bell.wait() }
        let rest = min(max(deadline - .now, .zero) / .nanoseconds(1), 1e15)
        _ = bell.wait(timeout: .now() + .nanoseconds(Int(rest)))
    }
}

/// Moments as text and as instants. One pair of both clocks is kept, so that a moment prints the same every time, until
/// somebody sets the wall clock.
struct TimeAnchor: Sendable {
    private let instant: ContinuousClock.Instant
    /// Milliseconds since 1970 when it was made.
    let wall: Int64

    init(_ time: any StorageTime) { (instant, wall) = (time.now, time.wall) }

    /// Another pair, where the wall clock was set since this one was made; nil where both clocks went on alike. Many
    /// machines learn the time only after their programs have started.
    func renewed(_ time: any StorageTime) -> TimeAnchor? {
        let now = TimeAnchor(time)
        return (-1_000...1_000).contains(now.wall - milliseconds(now.instant)) ? nil : now
    }

    func instant(_ milliseconds: Int64) -> ContinuousClock.Instant {
        instant.advanced(by: .milliseconds(milliseconds) - .milliseconds(wall))
    }

    /// When a temporary override was set and when it ends: by the wall clock, and never later than after its whole life.
    /// A clock that was set back meanwhile does not make it longer; nor does a file, than anybody could have asked for.
    func life(
        from time: Int64, to expires: Int64
    ) -> (start: ContinuousClock.Instant, end: ContinuousClock.Instant) {
        let longest = TweakNode.longestLifetime.components.seconds * 1_000
        let end = min(expires, wall + min(max(expires - time, 0), longest))
        // It begins now where it would begin later, or it would be shorter each time that it is read.
        return (instant(min(time, wall)), instant(end))
    }

    /// To the millisecond, downwards.
    func milliseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = (instant - self.instant).components
        let part = attoseconds / 1_000_000_000_000_000
        let isBelow = attoseconds < part * 1_000_000_000_000_000
        // No clock comes near these limits; but a file can name any year.
        return wall &+ seconds &* 1_000 &+ part &- (isBelow ? 1 : 0)
    }
}
