// Delays notifications until a writer has finished: a quiet period after the last event, with an upper limit.

extension FileWatcher {
    /// How long to wait after a change.
    package struct Settling: Equatable, Sendable {
        /// After a file was closed, moved into place, or removed.
        package var quiet: Duration
        /// After a write by a process that still has the file open.
        package var writing: Duration
        /// The maximum delay since the first event, for files that are written continuously.
        package var longest: Duration

        /// Times that suit editors, scripts and slow writers.
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

/// Merges many events into one notification. It has no clock: the caller passes the time.
package struct Debouncer {
    /// The writer's state, inferred from an event.
    package enum Kind: Sendable {
        /// The file appears complete.
        case complete
        /// A writer is still active.
        case writing
    }

    private let settling: FileWatcher.Settling
    private var pending: (first: ContinuousClock.Instant, due: ContinuousClock.Instant, reason: FileWatcher.Reason)?

    /// Creates a debouncer without pending events.
    package init(_ settling: FileWatcher.Settling) { self.settling = settling }

    /// When the notification is due; nil without events.
    package var deadline: ContinuousClock.Instant? { pending?.due }

    /// Records an event. The last event determines the delay.
    package mutating func record(_ kind: Kind, _ reason: FileWatcher.Reason, at now: ContinuousClock.Instant) {
        let first = pending?.first ?? now
        let quiet = kind == .complete ? settling.quiet : settling.writing
        let due = min(now + quiet, first + settling.longest)
        pending = (first, due, max(reason, pending?.reason ?? reason))
    }

    /// The reason of a due notification, which is then cleared; nil if none is due.
    package mutating func takeDue(at now: ContinuousClock.Instant) -> FileWatcher.Reason? {
        guard let pending, pending.due <= now else { return nil }
        self.pending = nil
        return pending.reason
    }
}
