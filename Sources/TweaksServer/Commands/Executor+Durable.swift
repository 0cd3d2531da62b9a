// Commits of sessions, and the disk: written soon after, or, where the program wants that, before they take effect.

import Tweaks
import TweaksWire

/// Changes that a session wants to commit.
struct Proposal {
    let batch: TweakBatch
    /// What the reply shows.
    let nodes: [TweakNode]
    var expected: UInt64?
    /// The right that it takes, to all its tweaks.
    var need = TweakScope.Kind.write
    /// What it is to the history; nil: a change of the session's.
    var kind: CommitKind?
    /// What the reply says beside the revision, for people and for programs.
    var note: (words: String, fields: [(String, JSON)]) = ("", [])
    /// What else it says, even if nothing had to be changed: lines for people, fields for programs.
    var remarks: (lines: [String], fields: [(String, JSON)]) = ([], [])
    /// Called when it is in effect.
    var whenCommitted: ((TweakCommitResult) -> Void)?
    /// What was written of it, where it is written first.
    var written: OverrideForecast?

    init(_ batch: TweakBatch, nodes: [TweakNode], ifUnchangedSince expected: UInt64? = nil) {
        self.batch = batch
        self.nodes = nodes
        self.expected = expected
    }

    /// What it takes in memory, roughly: beside its texts, what was written of it.
    var heldBytes: Int { 512 * batch.count + 2 * batch.textBytes }
}

extension Executor {
    /// Commits; the reply waits for the disk. Where nothing may be in effect unsaved, writes first.
    func commit(_ proposal: Proposal, _ session: Session) throws(TweakError) -> Outcome {
        try judge(proposal, session)
        try refuseGrowth(proposal.batch)
        try spend(session, hooks.now)
        if let store, store.isRequired, let running = try write(proposal, to: store, session) {
            return .running(running)
        }
        return .reply(try commitNow(proposal, session))
    }

    /// Whether the session may do all of that, at this moment: rights may have been taken from it since it began.
    private func judge(_ proposal: Proposal, _ session: Session) throws(TweakError) {
        let view = TweakView(registry, session.isAdmitted ? session.grants.rights : Rights())
        if view.rights.isWhole(proposal.need) { return }
        for node in proposal.nodes where !view.rights.allows(proposal.need, node.path) {
            throw view.rights.sees(node)
                ? view.rights.denied(proposal.need, node.path) : view.unknown(node.path.joined)
        }
    }

    /// A peer may commit so often, and no oftener, over however many sessions.
    func spend(_ session: Session, _ now: Moment) throws(TweakError) {
        var refusing = session.account.takeCommit(now) ? nil : session.account
        if !session.payer.otherAccounts.isEmpty {
            refusing = refusing ?? session.payer.otherAccounts.first { !$0.takeCommit(now) }
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
            rights: session.grants.rights, isUrgent: session.changes.waitsForDisk, delivery: .carrier)
        proposal.whenCommitted?(result)
        if result.didStore { session.changes.commits += 1 }
        return (report(result, proposal.nodes, proposal.note).with(proposal.remarks), result)
    }

    /// Has a reply wait until disk and audit hold a revision.
    func awaiting(_ reply: Reply, _ revision: UInt64, _ session: Session) -> Reply {
        if !session.changes.waitsForDisk {
            hasUnhurried = true
            return reply
        }
        switch evidence.status?.answer(for: revision) {
        case nil, .saved?: return reply
        case .unsaved(let reason)?: return reply.unsaved(reason)
        case .pending?: break
        }
        // Nothing may be new about this one, and what it waits for may be what nobody did.
        if hasUnhurried { store?.hurry() }
        hasUnhurried = false
        evidence.ask(revision, hooks.now)
        var reply = reply
        reply.awaits = revision
        owe(session)
        return reply
    }

    /// Has a session hear of what disk and audit have.
    func owe(_ session: Session) {
        if session.replies.isOwed { return }
        session.replies.isOwed = true
        owing.append(session.id)
    }

    // MARK: Writing first

    /// Has a proposal written; nil when there is nothing to write: the overrides are so already.
    private func write(
        _ proposal: Proposal, to store: any TweakStore, _ session: Session
    ) throws(TweakError) -> Work.Running? {
        var proposal = proposal
        let forecast = try registry.overrides(after: proposal.batch, origin: session.origin)
        if forecast.changes.isEmpty { return nil }
        try refuseIfAbandoned()
        proposal.written = forecast
        var running = Work.Running()
        running.proposal = proposal
        let (id, mailbox) = (session.id, mailbox)
        store.propose(forecast.changes) { mailbox.post(.proposed(id, forecast.changes, failure: $0)) }
        return running
    }

    /// Goes on when a proposal is on disk, or is not.
    /// - Returns: The reply; nil when others have changed something meanwhile and it is written anew.
    func finishProposal(_ failure: String?, _ session: Session) -> Reply? {
        guard let proposal = session.work.running?.proposal, let written = proposal.written, let store else {
            return nil
        }
        session.work = session.work.updated { $0.proposal = nil }
        if let failure {
            return .error(TweakError(.io, "nothing was changed, because it cannot be saved: \(failure)"))
        }
        do throws(TweakError) {
            try judge(proposal, session)
            try refuseGrowth(proposal.batch)
            // Others may have been faster: a += counts from what is there now.
            let now = try registry.overrides(after: proposal.batch, origin: session.origin)
            if !now.agrees(with: written) {
                store.withdraw(written.changes)
                guard let running = try write(proposal, to: store, session) else {
                    return try commitNow(proposal, session)
                }
                session.work = session.work.goingOn(with: running)
                return nil
            }
            let (reply, result) = try apply(proposal, session)
            // Where others have set the same tweak meanwhile, the disk may have theirs.
            let isThere = now.hasSameStart(as: written) && evidence.isOverridesAlone
            return isThere ? reply : awaiting(reply, result.revision, session)
        } catch {
            store.withdraw(written.changes)
            tellDenied(error, "commit", session)
            return .error(error)
        }
    }

    // MARK: Reloading

    /// Reads the config file, elsewhere: it may be long, and observers are not ours to wait for.
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
    /// Says more.
    fileprivate func with(_ remarks: (lines: [String], fields: [(String, JSON)])) -> Reply {
        guard case .ok(let words, let fields) = status else { return self }
        var reply = self
        reply.status = .ok(words: words, fields: fields + remarks.fields)
        reply.remarks = remarks.lines
        return reply
    }
}
