// Abstracts the storage's clocks, so that tests need not wait, and computes when failed writes are retried.

package import Dispatch
package import Tweaks
package import TweaksSystem

/// The current time, and a way to sleep.
package protocol StorageTime: Time {
    /// Sleeps until the semaphore is signaled or the deadline passes; spurious wakeups are harmless.
    func wait(for semaphore: DispatchSemaphore, until deadline: Moment?)
}

extension SystemTime: StorageTime {
    package func wait(for semaphore: DispatchSemaphore, until deadline: Moment?) {
        guard let deadline else { return semaphore.wait() }
        let rest = min(max(deadline - .now, .zero) / .nanoseconds(1), 1e15)
        _ = semaphore.wait(timeout: .now() + .nanoseconds(Int(rest)))
    }
}

/// Converts between wall-clock times and instants. One pair of both clocks is kept, so that an instant prints the same
/// every time until the wall clock is set.
package struct TimeAnchor: Sendable {
    private let instant: Moment
    /// Milliseconds since 1970 when it was created.
    let wall: Int64

    package init(_ time: any StorageTime) { (instant, wall) = (time.now, time.wall) }

    /// A new pair if the wall clock was set since this one was created; nil if both clocks advanced alike. Many
    /// machines get the correct time only after their programs have started.
    func renewed(_ time: any StorageTime) -> TimeAnchor? {
        let now = TimeAnchor(time)
        return (-1_000...1_000).contains(now.wall - milliseconds(now.instant)) ? nil : now
    }

    func instant(_ milliseconds: Int64) -> Moment {
        instant.advanced(by: .milliseconds(milliseconds) - .milliseconds(wall))
    }

    /// The start and end of a temporary override by the wall clock. The remaining life is never longer than its whole
    /// life, even if the clock was set back, nor longer than the longest lifetime, regardless of the file.
    func lifetime(
        from time: Int64, to expires: Int64
    ) -> (start: Moment, end: Moment) {
        let longest = TweakNode.maxLifetime.components.seconds * 1_000
        let end = min(expires, wall + min(max(expires - time, 0), longest))
        // A start in the future becomes now; otherwise each reload would shorten the life.
        return (instant(min(time, wall)), instant(end))
    }

    /// Rounded down to the millisecond.
    func milliseconds(_ instant: Moment) -> Int64 {
        let (seconds, attoseconds) = (instant - self.instant).components
        let part = attoseconds / 1_000_000_000_000_000
        let isBelow = attoseconds < part * 1_000_000_000_000_000
        // Overflow is possible because a file can name any year.
        return wall &+ seconds &* 1_000 &+ part &- (isBelow ? 1 : 0)
    }
}

/// Retries with exponential backoff; new changes are tried sooner, at a limited rate.
struct Retry {
    /// The minimum time between attempts; changes within it share one attempt.
    private static let shortest = Duration.milliseconds(20)

    private let time: any StorageTime
    private var backoff: Backoff
    /// Nil after a success.
    private var lastFailure: Moment?
    private var due: Moment?

    init(_ time: any StorageTime, first: Duration, longest: Duration) {
        self.time = time
        backoff = Backoff(first...longest)
    }

    func next(hasUpdates: Bool) -> Moment? {
        guard let lastFailure, let due else { return nil }
        return hasUpdates ? min(due, lastFailure.advanced(by: Self.shortest)) : due
    }

    mutating func succeeded() {
        lastFailure = nil
        due = nil
        backoff.reset()
    }

    mutating func failed() {
        let now = time.now
        lastFailure = now
        // Attempts for new changes do not postpone the scheduled retry.
        if let due, due > now { return }
        due = now.advanced(by: backoff.next())
    }
}
