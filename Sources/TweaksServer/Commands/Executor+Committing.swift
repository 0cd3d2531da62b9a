// Commits changes of sessions, which are written afterwards, or first if the program requires it.

import Tweaks
import TweaksWire

/// Changes that a session wants to commit.
struct Proposal {
    let batch: TweakBatch
    let nodes: [TweakNode]
    var expected: UInt64?
    /// The right required on all its tweaks.
    var need = TweakScope.Kind.write
    /// Its kind in the history; nil means a change by the session.
    var kind: CommitKind?
    var note = CommitNote()
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

/// What a command adds to the reply to its commit, even if nothing changed.
struct CommitNote: Sendable {
    /// Words of the status line, in text mode.
    var words = ""
    /// Lines after the changes, in text mode.
    var lines: [String] = []
    /// The same in JSON.
    var fields: [(String, JSON)] = []

    /// Adds lines and fields to a reply that has the words.
    func added(to reply: Reply) -> Reply {
        guard case .ok(let words, let fields) = reply.status else { return reply }
        var reply = reply
        reply.status = .ok(words: words, fields: fields + self.fields)
        reply.remarks = lines
        return reply
    }
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
        try session.accounts.chargeCommit(hooks.now)
        if let store, store.isRequired, let running = try write(proposal, to: store, session) {
            return .running(running)
        }
        return .reply(try commitNow(proposal, session))
    }

    private func prepare(_ proposal: Proposal, _ session: Session) -> Outcome {
        let batch = proposal.batch
        let outcome = runInBackground(session, on: planQueue) { [registry] in
            let prepared = Result { () throws(TweakError) in try registry.prepare(batch) }
            return .next { executor, session throws(TweakError) in try executor.commit(prepared, session) }
        }
        guard case .running(var running) = outcome else { return outcome }
        running.proposal = proposal
        return .running(running)
    }

    private func commit(
        _ prepared: Result<PreparedBatch, TweakError>, _ session: Session
    ) throws(TweakError) -> Outcome {
        guard var proposal = session.work.running?.proposal else { return .reply(.ok()) }
        session.work = session.work.updated { $0.proposal = nil }
        do throws(TweakError) {
            proposal.prepared = try prepared.get()
            return try commit(proposal, session)
        } catch {
            throw proposal.whenRefused?(error, session) ?? error
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
        return (report(result, proposal.nodes, proposal.note), result)
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
        let id = session.id
        store.propose(forecast.changes) { [mailbox] in mailbox.post(.proposed(id, forecast.changes, failure: $0)) }
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

}
