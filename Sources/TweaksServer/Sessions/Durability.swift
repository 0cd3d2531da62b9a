// Makes replies and changes wait for disk and audit.

import Tweaks
import TweaksWire

/// The durability of commits. Used on the I/O thread only.
final class DurabilityTracker {
    /// The maximum bytes of clients' commits that the audit has not recorded; the next ones wait.
    private static let maxUnauditedBytes = 262_144
    /// The maximum number of entries for them, more than fit: the process's own user and root need no room.
    static let maxUnauditedEntries = 1_024

    private let audit: (any CommitSink)?
    private let auditWait: Duration
    /// Whether a revision is durable once its overrides are on disk, because there is neither history nor audit.
    let needsOverridesOnly: Bool
    private var saved: SaveStatus?
    private var audited: SaveStatus?
    private var observations: [StoreObservation] = []
    private var requested: UInt64 = 0
    /// When the audit counts as late.
    private(set) var deadline: Moment?
    private var isLate = false
    /// The commits of clients that the audit has not recorded, oldest first.
    private(set) var unaudited: [(revision: UInt64, bytes: Int)] = []
    private var unauditedBytes = 0

    init(_ store: (any TweakStore)?, _ audit: (any CommitSink)?, _ mailbox: Mailbox, auditWait: Duration) {
        self.audit = audit
        self.auditWait = auditWait
        needsOverridesOnly = audit == nil && store?.keepsHistory != true
        observations = [
            store?.observe { mailbox.post(.saved($0)) }, audit?.observe { mailbox.post(.audited($0)) },
        ].compactMap(\.self)
        saved = store?.status
        audited = audit?.status
    }

    var hasAudit: Bool { audit != nil }

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
        deadline = deadline ?? now() + auditWait
        audit?.flush()
    }

    /// Requests that the audit write all commits of clients.
    func requestAll(_ now: @autoclosure () -> Moment) {
        if let last = unaudited.last { request(last.revision, now()) }
    }

    func note(saved: SaveStatus) { self.saved = saved }

    func note(audited: SaveStatus, _ now: Moment) {
        self.audited = audited
        isLate = false
        deadline = nil
        forgetAudited(audited.saved)
        if audited.answer(for: requested) != .pending { return }
        // The audit was late or failing when the revision was requested, or has written only a part.
        deadline = now + auditWait
        audit?.flush()
    }

    /// Stops waiting for the audit because the deadline has passed.
    func auditTimedOut() {
        isLate = true
        deadline = nil
    }
}

extension Executor {
    // MARK: Waiting for the disk

    /// Groups the disk writes of commits until the round ends or a session's turn is over.
    func beginRound() {
        guard let store, !isInRound else { return }
        isInRound = true
        store.beginRound()
    }

    func endRound() {
        if !isInRound { return }
        isInRound = false
        store?.endRound()
    }

    /// Makes a reply wait until disk and audit hold a revision.
    func awaiting(_ reply: Reply, _ revision: UInt64, _ session: Session) -> Reply {
        var reply = reply
        reply.waitsForDisk = session.changes.waitsForDisk
        if !reply.waitsForDisk {
            hasUnflushedCommits = true
            if !durability.hasAudit { return reply }
        }
        if case .ready(let unsaved, let unaudited) = durability.answer(for: revision, onDisk: reply.waitsForDisk) {
            return reply.lacking(unsaved: unsaved, unaudited: unaudited)
        }
        if reply.waitsForDisk {
            // This commit may have changed nothing, and wait for one that did not hurry the disk.
            if hasUnflushedCommits { store?.flush() }
            hasUnflushedCommits = false
        }
        durability.request(revision, hooks.now)
        reply.durableRevision = revision
        registerForDurability(session)
        return reply
    }

    /// Registers a session to be resumed when disk or audit make progress.
    func registerForDurability(_ session: Session) {
        if session.replies.isAwaitingDurability { return }
        session.replies.isAwaitingDurability = true
        awaitingDurability.append(session.id)
    }

    // MARK: Waiting for the audit

    /// The approximate size of a change in the queue of the audit.
    static func auditedBytes(_ old: TweakValue, _ new: TweakValue) -> Int {
        512 + (old.textBytes ?? 0) + (new.textBytes ?? 0)
    }

    /// Delays a change while the audit has too much to write; nil if it can be made now.
    /// - Throws: If the audit takes no changes of this client, or cannot be written. Those who could write or remove it,
    ///   the process's own user and root, are not refused.
    func waitForAudit(_ proposal: Proposal, _ session: Session) throws(TweakError) -> Work.Running? {
        guard let audit = hooks.audit else { return nil }
        if let refusal = audit.refusal(of: session.origin) { throw TweakError(.tooMany, refusal, limit: .audit) }
        if hasAuditRoom(for: proposal.memorySize) || session.isOwner { return nil }
        if let failure = durability.auditFailure {
            throw TweakError(
                .busy,
                "nothing was changed, because the audit cannot be written and holds no more changes: \(failure); try "
                    + "again later, or tell the operator of this process", limit: .audit)
        }
        var running = Work.Running()
        running.proposal = proposal
        running.isAwaitingAudit = true
        durability.requestAll(hooks.now)
        awaitingAudit.append(session.id)
        return running
    }

    /// Whether a single change can be made without waiting for the audit.
    func isAuditReady(_ bytes: Int, _ session: Session) -> Bool {
        guard let audit = hooks.audit else { return true }
        return hasAuditRoom(for: bytes) && audit.refusal(of: session.origin) == nil
    }

    /// Whether the audit can take another change now. Changes get room in the order in which they asked for it.
    private func hasAuditRoom(for bytes: Int) -> Bool { awaitingAudit.isEmpty && durability.hasRoom(for: bytes) }

    /// Continues with a change that has waited for the audit.
    /// - Returns: The reply; nil if it waits on, or is written first.
    func resumeAudited(_ session: Session) -> Reply? {
        guard let running = session.work.running, running.isAwaitingAudit, let proposal = running.proposal else {
            return nil
        }
        do throws(TweakError) {
            switch try commit(proposal, session) {
            case .reply(let reply): return reply
            case .running(let next): session.work = session.work.continuing(with: next)
            default: break
            }
            return nil
        } catch {
            notifyDenied(error, "commit", session)
            return .error(error)
        }
    }
}

extension EventLoop {
    func sendWaitingReplies() {
        let waiting = executor.awaitingDurability
        executor.awaitingDurability = []
        for id in waiting {
            guard let session = session(id) else { continue }
            session.replies.isAwaitingDurability = false
            advance(session)
            if !session.replies.queueIsEmpty { executor.registerForDurability(session) }
        }
    }

    /// Continues with the changes that were waiting for the audit, in their order. Sessions go on only when all have been
    /// tried: the next change of one would take the room of the others.
    func resumeAudited() {
        let waiting = executor.awaitingAudit
        executor.awaitingAudit = []
        var answered: [Session] = []
        for id in waiting {
            guard let session = session(id), let reply = executor.resumeAudited(session) else { continue }
            endWork(of: session, reply)
            answered.append(session)
        }
        for session in answered { advance(session) }
    }
}

extension SaveStatus.Answer {
    fileprivate var reason: String? { if case .unsaved(let reason) = self { reason } else { nil } }
}
