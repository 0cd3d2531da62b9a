// Commits changes of sessions, which are written afterwards, or first if the program requires it.

import Tweaks
import TweaksWire

/// Changes that a session wants to commit.
struct Proposal {
    let batch: TweakBatch
    /// The tweaks that the reply shows.
    let nodes: [TweakNode]
    var expected: UInt64?
    /// The right required on all its tweaks.
    var need = TweakScope.Kind.write
    /// Its kind in the history; nil means a change by the session.
    var kind: CommitKind?
    /// Additions to the status line: words for text mode, fields for JSON.
    var note: (words: String, fields: [(String, JSON)]) = ("", [])
    /// Additions to the reply, even if nothing changed: lines for text mode, fields for JSON.
    var remarks: (lines: [String], fields: [(String, JSON)]) = ([], [])
    /// Called after the commit has taken effect.
    var whenCommitted: ((TweakCommitResult) -> Void)?
    /// The result of `batch`'s validation, if it was validated in advance.
    var prepared: PreparedBatch?
    /// Called with the error of a commit that could not be made at once; returns the error of the reply.
    var whenRefused: ((TweakError, Session) -> TweakError)?
    /// The overrides that were written, if they are written before the commit.
    var written: OverrideForecast?

    init(_ batch: TweakBatch, nodes: [TweakNode], ifUnchangedSince expected: UInt64? = nil) {
        self.batch = batch
        self.nodes = nodes
        self.expected = expected
    }

    /// Its approximate size in memory, in bytes, with its validated changes, and including what was written.
    var memorySize: Int { (written == nil ? 256 : 512) * batch.count + 2 * batch.textBytes }
}

extension Executor {
    /// Commits; the reply waits for the disk. If the store is required, writes first.
    ///
    /// A large batch is validated on another thread first. What remains is under the registry's lock, in one piece.
    func commit(_ proposal: Proposal, _ session: Session) throws(TweakError) -> Outcome {
        if proposal.prepared == nil, proposal.batch.count > Sweep.short { return prepare(proposal, session) }
        try authorize(proposal, session)
        try refuseGrowth(proposal.batch)
        if let running = try waitForAudit(proposal, session) { return .running(running) }
        try chargeCommit(session, hooks.now)
        if let store, store.isRequired, let running = try write(proposal, to: store, session) {
            return .running(running)
        }
        return .reply(try commitNow(proposal, session))
    }

    private func prepare(_ proposal: Proposal, _ session: Session) -> Outcome {
        let (registry, batch, id) = (registry, proposal.batch, session.id)
        let outcome = runInBackground(session, on: planQueue) { () throws(TweakError) in
            let prepared = Result { () throws(TweakError) in try registry.prepare(batch) }
            return .validated(id) { $0.commit(prepared, $1) }
        }
        guard case .running(var running) = outcome else { return outcome }
        running.proposal = proposal
        return .running(running)
    }

    /// Continues with a batch that was validated.
    private func commit(_ prepared: Result<PreparedBatch, TweakError>, _ session: Session) -> Outcome {
        guard var proposal = session.work.running?.proposal else { return .reply(.ok()) }
        session.work = session.work.updated { $0.proposal = nil }
        do throws(TweakError) {
            proposal.prepared = try prepared.get()
            return try commit(proposal, session)
        } catch {
            notifyDenied(error, "commit", session)
            return .reply(.error(proposal.whenRefused?(error, session) ?? error))
        }
    }

    /// Throws unless the session still has the rights for all changes: some may have been revoked since it began.
    private func authorize(_ proposal: Proposal, _ session: Session) throws(TweakError) {
        let view = TweakView(registry, session.isAdmitted ? session.grants.rights : Rights())
        if view.rights.isWhole(proposal.need) { return }
        for node in proposal.nodes where !view.rights.allows(proposal.need, node.path) {
            throw view.rights.sees(node)
                ? view.rights.denied(proposal.need, node.path) : view.unknown(node.path.joined)
        }
    }

    /// Charges a commit to the peer's rate limit, which all its sessions share.
    func chargeCommit(_ session: Session, _ now: Moment) throws(TweakError) {
        var refusing = session.account.consumeCommit(now) ? nil : session.account
        if !session.accounts.others.isEmpty {
            refusing = refusing ?? session.accounts.others.first { !$0.consumeCommit(now) }
        }
        guard let refusing else { return }
        throw TweakError(
            .tooMany,
            "\(refusing.name) makes at most \(refusing.commitsPerSecond ?? 0) commits a second, all its sessions together; "
                + "wait, nothing was changed", limit: .commitsPerSecond)
    }

    private func commitNow(_ proposal: Proposal, _ session: Session) throws(TweakError) -> Reply {
        let (reply, result) = try apply(proposal, session)
        return awaiting(reply, result.revision, session)
    }

    private func apply(
        _ proposal: Proposal, _ session: Session
    ) throws(TweakError) -> (reply: Reply, result: TweakCommitResult) {
        beginRound()
        let result = try registry.commit(
            proposal.batch, origin: session.origin, ifUnchangedSince: proposal.expected,
            kind: proposal.kind ?? .change(session: session.number, gesture: session.changes.gesture),
            rights: session.grants.rights, prepared: proposal.prepared, isUrgent: session.changes.waitsForDisk,
            delivery: .executor)
        if durability.hasAudit {
            durability.noteCommit(
                result.revision, bytes: result.outcomes.reduce(0) { $0 + Self.auditedBytes($1.old, $1.new) })
        }
        proposal.whenCommitted?(result)
        if result.didStore { session.changes.commits += 1 }
        return (report(result, proposal.nodes, proposal.note).with(proposal.remarks), result)
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
    private func waitForAudit(_ proposal: Proposal, _ session: Session) throws(TweakError) -> Work.Running? {
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

    // MARK: Writing first

    /// Writes a proposal; returns nil if there is nothing to write because the overrides are the same already.
    private func write(
        _ proposal: Proposal, to store: any TweakStore, _ session: Session
    ) throws(TweakError) -> Work.Running? {
        var proposal = proposal
        let forecast = try registry.overrides(after: proposal.batch, origin: session.origin)
        if forecast.changes.isEmpty { return nil }
        try refuseIfTooManyOrphaned()
        proposal.written = forecast
        var running = Work.Running()
        running.proposal = proposal
        let (id, mailbox) = (session.id, mailbox)
        store.propose(forecast.changes) { mailbox.post(.proposed(id, forecast.changes, failure: $0)) }
        return running
    }

    /// Continues after a proposal was written, or failed to be.
    /// - Returns: The reply; nil if others have changed something meanwhile and it is written again.
    func finishProposal(_ failure: String?, _ session: Session) -> Reply? {
        guard let proposal = session.work.running?.proposal, let written = proposal.written, let store else {
            return nil
        }
        session.work = session.work.updated { $0.proposal = nil }
        if let failure {
            return .error(TweakError(.io, "nothing was changed, because it cannot be saved: \(failure)"))
        }
        do throws(TweakError) {
            try authorize(proposal, session)
            try refuseGrowth(proposal.batch)
            // Others may have committed meanwhile: a += counts from the current value.
            let now = try registry.overrides(after: proposal.batch, origin: session.origin)
            if !now.agrees(with: written) {
                store.withdraw(written.changes)
                return try writeAgain(proposal, to: store, session)
            }
            let (reply, result) = try apply(proposal, session)
            // If others have set the same tweak meanwhile, the disk may hold their value.
            let isThere = now.hasSameStart(as: written) && durability.needsOverridesOnly
            return isThere ? reply : awaiting(reply, result.revision, session)
        } catch {
            store.withdraw(written.changes)
            notifyDenied(error, "commit", session)
            return .error(error)
        }
    }

    /// - Returns: The reply if nothing is left to write.
    private func writeAgain(
        _ proposal: Proposal, to store: any TweakStore, _ session: Session
    ) throws(TweakError) -> Reply? {
        guard let running = try write(proposal, to: store, session) else { return try commitNow(proposal, session) }
        session.work = session.work.continuing(with: running)
        return nil
    }

    // MARK: Reloading

    /// Reads the config file on another thread: it may be long, and its observers may be slow.
    func reload(_ dry: Bool, _ session: Session) throws(TweakError) -> Outcome {
        guard let reload = hooks.reload else {
            if registry.isFrozen {
                throw TweakError(.readOnly, "this process is frozen (TWEAKS_FROZEN); it reads no config file")
            }
            throw TweakError(.io, "no config file is named; set TWEAKS_CONFIG, or name one in the program")
        }
        try refuseIfBusy(session)
        let (id, mailbox) = (session.id, mailbox)
        reload(dry) { mailbox.post(.answered(id, $0)) }
        return .running(.init(.reload))
    }
}

extension Reply {
    /// Adds lines and fields to a reply.
    fileprivate func with(_ remarks: (lines: [String], fields: [(String, JSON)])) -> Reply {
        guard case .ok(let words, let fields) = status else { return self }
        var reply = self
        reply.status = .ok(words: words, fields: fields + remarks.fields)
        reply.remarks = remarks.lines
        return reply
    }
}
