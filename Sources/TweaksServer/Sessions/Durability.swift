// Makes replies and changes wait for disk and audit.

import Tweaks

/// The durability of commits. Used on the I/O thread only.
final class DurabilityTracker {
    /// The maximum time a reply waits for the audit. If the audit hangs, replies say so until it reports again.
    private static let auditTimeout = Duration.milliseconds(200)
    /// The maximum bytes of clients' commits that the audit has not recorded; the next ones wait.
    private static let maxUnauditedBytes = 262_144
    /// The maximum number of entries for them, more than fit: the process's own user and root need no room.
    static let maxUnauditedEntries = 1_024

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
    /// The commits of clients that the audit has not recorded, oldest first.
    private(set) var unaudited: [(revision: UInt64, bytes: Int)] = []
    private var unauditedBytes = 0

    init(_ store: (any TweakStore)?, _ audit: (any CommitSink)?, _ mailbox: Mailbox) {
        self.audit = audit
        needsOverridesOnly = audit == nil && store?.keepsHistory != true
        observations = [
            store?.observe { mailbox.post(.saved($0)) }, audit?.observe { mailbox.post(.audited($0)) },
        ].compactMap(\.self)
        (saved, audited) = (store?.status, audit?.status)
    }

    /// Whether there is an audit.
    var hasAudit: Bool { audit != nil }

    /// Whether a revision is where it has to be.
    enum Answer: Equatable {
        case pending
        /// The reply can be sent; with the reasons if the revision is not on disk, or not in the audit.
        case ready(unsaved: String?, unaudited: String?)
    }

    /// Whether disk and audit have recorded a revision, or have failed to.
    /// - Parameter onDisk: Whether the disk matters.
    func answer(for revision: UInt64, onDisk: Bool = true) -> Answer {
        let disk = onDisk ? saved?.answer(for: revision) ?? .saved : .saved
        let audit = auditAnswer(for: revision)
        if disk == .pending || audit == .pending { return .pending }
        return .ready(unsaved: disk.reason, unaudited: audit.reason)
    }

    private func auditAnswer(for revision: UInt64) -> SaveStatus.Answer {
        let answer = audited?.answer(for: revision) ?? .saved
        return answer == .pending && isLate ? .unsaved("the disk of the audit does not answer") : answer
    }

    /// Whether a revision is durable, so that its reply need not wait.
    func isDurable(_ revision: UInt64) -> Bool {
        if let saved, saved.saved < revision { return false }
        guard let audited else { return true }
        return audited.saved >= revision
    }

    // MARK: Backlog of the audit

    /// Counts a client's commit until the audit has recorded it.
    func noteCommit(_ revision: UInt64, bytes: Int) {
        guard let audited, audited.saved < revision else { return }
        if unaudited.count == Self.maxUnauditedEntries { mergeUnaudited() }
        unaudited.append((revision, bytes))
        unauditedBytes += bytes
    }

    /// Halves the number of entries: each two become one, which is recorded once the later one is.
    private func mergeUnaudited() {
        unaudited = stride(from: 0, to: unaudited.count - 1, by: 2).map {
            (unaudited[$0 + 1].revision, unaudited[$0].bytes + unaudited[$0 + 1].bytes)
        }
    }

    /// Whether the audit can take another commit: its queue drops what it cannot hold, and must drop nothing of a client.
    func hasRoom(for bytes: Int) -> Bool {
        unaudited.isEmpty || unauditedBytes + bytes <= Self.maxUnauditedBytes
    }

    /// Why the audit makes no progress; nil if it is only busy.
    var auditFailure: String? {
        isLate ? "the disk of the audit does not answer" : audited?.failure
    }

    private func forgetAudited(_ revision: UInt64) {
        let count = unaudited.prefix { $0.revision <= revision }.count
        unauditedBytes -= unaudited.prefix(count).reduce(0) { $0 + $1.bytes }
        unaudited.removeFirst(count)
    }

    // MARK: Progress

    /// Requests that the audit write up to a revision; if it is late or failing, once it reports again.
    func request(_ revision: UInt64, _ now: @autoclosure () -> Moment) {
        guard let audited, requested < revision else { return }
        requested = revision
        if isLate || audited.answer(for: revision) != .pending { return }
        deadline = deadline ?? now() + Self.auditTimeout
        audit?.flush()
    }

    /// Requests that the audit write all commits of clients.
    func requestAll(_ now: @autoclosure () -> Moment) {
        if let last = unaudited.last { request(last.revision, now()) }
    }

    /// Records progress of the storage.
    func note(saved: SaveStatus) { self.saved = saved }

    /// Records progress of the audit.
    func note(audited: SaveStatus, _ now: Moment) {
        self.audited = audited
        (isLate, deadline) = (false, nil)
        forgetAudited(audited.saved)
        if audited.answer(for: requested) != .pending { return }
        // The audit was late or failing when the revision was requested, or has written only a part.
        deadline = now + Self.auditTimeout
        audit?.flush()
    }

    /// Stops waiting for the audit because the deadline has passed.
    func auditTimedOut() { (isLate, deadline) = (true, nil) }
}

extension SaveStatus.Answer {
    fileprivate var reason: String? { if case .unsaved(let reason) = self { reason } else { nil } }
}
