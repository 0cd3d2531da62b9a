// Tracks the revisions that disk and audit have reached; replies wait for these.

import Tweaks

/// The durability of commits. Used on the I/O thread only.
final class DurabilityTracker {
    /// The maximum time a reply waits for the audit. If the audit hangs, replies continue without it until it reports
    /// again.
    private static let auditTimeout = Duration.milliseconds(200)

    private let audit: (any CommitSink)?
    /// Whether a revision is durable once its overrides are on disk, because there is neither history nor audit.
    let needsOverridesOnly: Bool
    private var saved: SaveStatus?
    private var audited: SaveStatus?
    private var observations: [StoreObservation] = []
    /// The newest revision requested from the audit.
    private var requested: UInt64 = 0
    /// When the audit counts as late.
    private(set) var deadline: Moment?
    private var isLate = false

    init(_ store: (any TweakStore)?, _ audit: (any CommitSink)?, _ mailbox: Mailbox) {
        self.audit = audit
        needsOverridesOnly = audit == nil && store?.keepsHistory != true
        observations = [
            store?.observe { mailbox.post(.saved($0)) }, audit?.observe { mailbox.post(.audited($0)) },
        ].compactMap(\.self)
        (saved, audited) = (store?.status, audit?.status)
    }

    /// The common progress of both; nil if there is neither.
    var status: SaveStatus? {
        guard let audited, !isLate else { return saved }
        guard let saved else { return audited }
        return SaveStatus(
            saved: min(saved.saved, audited.saved), attempted: min(saved.attempted, audited.saved),
            failure: saved.failure)
    }

    /// Whether a revision is durable, so that its reply need not wait.
    func isDurable(_ revision: UInt64) -> Bool { status.map { $0.answer(for: revision) == .saved } ?? true }

    /// Requests that the audit write up to a revision.
    func request(_ revision: UInt64, _ now: @autoclosure () -> Moment) {
        guard let audited, audited.saved < revision, !isLate, requested < revision else { return }
        requested = revision
        deadline = deadline ?? now() + Self.auditTimeout
        audit?.flush()
    }

    /// Records progress of the storage.
    func note(saved: SaveStatus) { self.saved = saved }

    /// Records progress of the audit.
    func note(audited: SaveStatus, _ now: Moment) {
        self.audited = audited
        (isLate, deadline) = (false, nil)
        if audited.saved >= requested { return }
        // The audit was failing when the revision was requested.
        deadline = now + Self.auditTimeout
        audit?.flush()
    }

    /// Stops waiting for the audit because the deadline has passed.
    func auditTimedOut() { (isLate, deadline) = (true, nil) }
}
