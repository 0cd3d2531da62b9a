// Knows how far commits are on disk and in the audit, for which replies wait.

import Tweaks

/// What has become of commits beside taking effect. Touched by the I/O thread alone.
final class Evidence {
    /// So long a reply waits for the audit. Where that hangs, replies go on without it, until it is heard of again.
    private static let patience = Duration.milliseconds(200)

    private let audit: (any CommitWitness)?
    /// Whether there is nothing to wait for where the overrides are on disk: neither history nor audit.
    let isOverridesAlone: Bool
    private var saved: SaveStatus?
    private var audited: SaveStatus?
    private var observations: [StoreObservation] = []
    /// The newest revision that the audit was asked for.
    private var asked: UInt64 = 0
    /// When the audit is late.
    private(set) var deadline: Moment?
    private var isLate = false

    init(_ store: (any TweakStore)?, _ audit: (any CommitWitness)?, _ mailbox: Mailbox) {
        self.audit = audit
        isOverridesAlone = audit == nil && store?.keepsHistory != true
        observations = [
            store?.observe { mailbox.post(.saved($0)) }, audit?.observe { mailbox.post(.audited($0)) },
        ].compactMap(\.self)
        (saved, audited) = (store?.status, audit?.status)
    }

    /// How far both are; nil where there is neither.
    var status: SaveStatus? {
        guard let audited, !isLate else { return saved }
        guard let saved else { return audited }
        return SaveStatus(
            saved: min(saved.saved, audited.saved), tried: min(saved.tried, audited.saved), failure: saved.failure)
    }

    /// Whether there is nothing to wait for until a revision is answered.
    func has(_ revision: UInt64) -> Bool { status.map { $0.answer(for: revision) == .saved } ?? true }

    /// Has the audit hand over what it has up to a revision.
    func ask(_ revision: UInt64, _ now: @autoclosure () -> Moment) {
        guard let audited, audited.saved < revision, !isLate, asked < revision else { return }
        asked = revision
        deadline = deadline ?? now() + Self.patience
        audit?.hurry()
    }

    /// The storage has tried to write.
    func note(saved: SaveStatus) { self.saved = saved }

    /// The audit has written.
    func note(audited: SaveStatus, _ now: Moment) {
        self.audited = audited
        (isLate, deadline) = (false, nil)
        if audited.saved >= asked { return }
        // It was out of order when it was asked.
        deadline = now + Self.patience
        audit?.hurry()
    }

    /// The deadline has passed.
    func giveUp() { (isLate, deadline) = (true, nil) }
}
