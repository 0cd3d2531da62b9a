// Waiting until a writer has finished: a quiet time after the last event, and a longest time after the first.

extension FileWatcher {
    /// How long a change is left to settle.
    package struct Settling: Equatable, Sendable {
        /// After a file was closed, put in place, removed.
        package var quiet: Duration
        /// After something was written by a writer that still has the file open.
        package var writing: Duration
        /// Since the first event, however many follow: somebody who writes all the time must not keep us from looking.
        package var longest: Duration

        /// The times that suit editors, scripts and slow writers.
        package init(
            quiet: Duration = .milliseconds(20), writing: Duration = .milliseconds(250),
            longest: Duration = .seconds(1)
        ) {
            self.quiet = quiet
            self.writing = writing
            self.longest = longest
        }
    }
}

/// Turns many events into one call. It knows no clock: the caller says what time it is.
package struct Settler {
    /// What an event says about the writer.
    package enum Kind: Sendable {
        /// The file is whole, for all we know.
        case whole
        /// Somebody is at it.
        case writing
    }

    private let settling: FileWatcher.Settling
    private var pending: (first: ContinuousClock.Instant, due: ContinuousClock.Instant, reason: FileWatcher.Reason)?

    /// One to which nothing has happened.
    package init(_ settling: FileWatcher.Settling) { self.settling = settling }

    /// When to look again; nil while nothing has happened.
    package var deadline: ContinuousClock.Instant? { pending?.due }

    /// Something happened. The last event says how long to wait.
    package mutating func note(_ kind: Kind, _ reason: FileWatcher.Reason, at now: ContinuousClock.Instant) {
        let first = pending?.first ?? now
        let quiet = kind == .whole ? settling.quiet : settling.writing
        let due = min(now + quiet, first + settling.longest)
        pending = (first, due, max(reason, pending?.reason ?? reason))
    }

    /// Why to look again, if it is time to; then everything begins anew.
    package mutating func take(at now: ContinuousClock.Instant) -> FileWatcher.Reason? {
        guard let pending, pending.due <= now else { return nil }
        self.pending = nil
        return pending.reason
    }
}
