// Carries out long requests: in slices of turns, or off the I/O thread.

import Dispatch
import Synchronization
import Tweaks
import TweaksWire

/// A request that visits many tweaks before it can be answered. Used on the I/O thread only.
///
/// The tweaks are those at its start, and values come from one snapshot: the reply shows one revision.
final class Sweep {
    typealias Finish = (Executor, Session, [TweakNode]) throws(TweakError) -> Executor.Outcome

    private let view: TweakView
    private var selection: TweakSelection?
    private var nodes: [TweakNode] = []
    private var position = 0
    private var kept: [TweakNode] = []
    private let visit: ((TweakNode) -> Bool)?
    private let finish: Finish
    /// Whether it is the second one of its request, which has told the session's events where to begin.
    var isContinuation = false

    /// The number of tweaks that are visited between two readings of the clock.
    private let step: Int
    /// Up to this number of tweaks, a request is carried out at once.
    static let short = 2_048

    /// - Parameters:
    ///   - patterns: The number of patterns to which each tweak is compared.
    ///   - visit: Whether the reply is about a tweak; nil if it is about all that were resolved.
    ///   - finish: Makes the reply.
    init(
        _ selection: TweakSelection, in view: TweakView, patterns: Int, _ visit: ((TweakNode) -> Bool)?,
        _ finish: @escaping Finish
    ) {
        self.selection = selection
        self.view = view
        self.visit = visit
        self.finish = finish
        step = max(256 / max(patterns, 1), 8)
    }

    var memorySize: Int { 1_024 + 8 * ((selection?.nodes.count ?? nodes.count) + kept.count) }

    /// Visits more tweaks.
    /// - Parameter isOver: Whether the slice of time has ended.
    /// - Returns: Whether all were visited.
    func advance(until isOver: () -> Bool) throws(TweakError) -> Bool {
        while var selection {
            self.selection = nil
            if selection.visit(step) {
                nodes = try view.nodes(of: selection)
            } else {
                self.selection = selection
            }
            if isOver() { return false }
        }
        guard let visit else {
            kept = nodes
            return true
        }
        while position < nodes.count {
            let end = min(position + step, nodes.count)
            for node in nodes[position..<end] where visit(node) { kept.append(node) }
            position = end
            if position < nodes.count, isOver() { return false }
        }
        return true
    }

    func end(_ executor: Executor, _ session: Session) throws(TweakError) -> Executor.Outcome {
        if view.rights != session.grants.rights { throw TweakError(.denied, "your rights have changed") }
        return try finish(executor, session, kept)
    }
}

extension Executor {
    /// Resolves patterns, and continues with the tweaks: at once, or in slices if there are many.
    /// - Parameter visit: Whether the reply is about a tweak; nil if it is about all.
    func sweep(
        _ patterns: [String], _ session: Session, where visit: ((TweakNode) -> Bool)? = nil,
        _ finish: @escaping Sweep.Finish
    ) throws(TweakError) -> Outcome {
        // Too many patterns would block other sessions.
        guard patterns.count <= limits.watchPatterns else {
            throw .tooMany(.watchPatterns, "at most \(limits.watchPatterns) patterns at once; use a wider one")
        }
        return try sweep(
            try view(session).select(patterns), session, patterns: patterns.count, where: visit, finish)
    }

    func sweep(
        _ selection: TweakSelection, _ session: Session, patterns: Int = 1,
        where visit: ((TweakNode) -> Bool)? = nil, _ finish: @escaping Sweep.Finish
    ) throws(TweakError) -> Outcome {
        let sweep = Sweep(selection, in: view(session), patterns: patterns, visit, finish)
        if registry.count > Sweep.short { return .sweep(sweep) }
        _ = try sweep.advance { false }
        return try sweep.end(self, session)
    }
}

extension Executor {
    // MARK: In the background

    /// Runs work for a session off the I/O thread, where it may wait for disks and the program's checks.
    /// - Parameter queue: By default, that of presets.
    func runInBackground(
        _ session: Session, on queue: DispatchQueue? = nil,
        _ body: @escaping @Sendable () throws(TweakError) -> Mailbox.Background
    ) -> Outcome {
        let id = session.id
        let cancellation = CancellationFlag()
        (queue ?? presetQueue).async { [mailbox] in
            do throws(TweakError) {
                if let refusal = cancellation.refusal { throw refusal }
                mailbox.post(.done(id, try body()))
            } catch {
                mailbox.post(.done(id, .reply(.error(error))))
            }
        }
        return .running(.init(.request, cancellation))
    }

    struct OrphanedRequests {
        /// Sessions whose work waits for a disk or a handler.
        var requests: Set<SessionID> = []
        /// Sessions whose actions are running. They are counted separately, so that clients with the right `run` only
        /// cannot exhaust the limit of the others.
        var runs: Set<SessionID> = []

        func contains(_ id: SessionID) -> Bool { requests.contains(id) || runs.contains(id) }

        mutating func remove(_ id: SessionID) {
            requests.remove(id)
            runs.remove(id)
        }
    }

    /// Refuses background work while too much of it belongs to ended sessions. Clients that request and disconnect
    /// repeatedly could otherwise fill the memory behind a disk that does not answer.
    func refuseIfTooManyOrphaned() throws(TweakError) {
        try refuse(orphaned.requests.count, "wait for a disk or a handler; try again when it has answered")
    }

    /// Refuses background work also if the peer has too much of it in progress, since other peers would wait behind it.
    func refuseIfBusy(_ session: Session) throws(TweakError) {
        try refuseIfTooManyPending(session)
        try refuseIfTooManyOrphaned()
    }

    /// Refuses actions by the same rules. Actions run concurrently.
    func refuseRunIfBusy(_ session: Session) throws(TweakError) {
        try refuseIfTooManyPending(session)
        try refuse(orphaned.runs.count, "run actions; try again when they have ended")
    }

    private func refuseIfTooManyPending(_ session: Session) throws(TweakError) {
        let account = session.account
        // This session's work is in progress and counted already.
        if account.pending < limits.pendingRequestsPerPeer || pending[session.id] != nil { return }
        throw TweakError(
            .busy, "\(account.pending) requests of \(account.name) are under way; wait for one of them",
            limit: .pendingRequestsPerPeer)
    }

    func beginPending(_ session: Session) {
        // Writes before commits are grouped, and commits have a rate limit.
        if session.work.running?.proposal != nil { return }
        if let earlier = pending[session.id] { earlier.pending -= 1 }
        pending[session.id] = session.account
        session.account.pending += 1
    }

    func endPending(_ id: SessionID) { pending.removeValue(forKey: id)?.pending -= 1 }

    private func refuse(_ count: Int, _ what: String) throws(TweakError) {
        if count < limits.abandonedRequests { return }
        throw TweakError(.busy, "\(count) requests of sessions that have ended \(what)", limit: .abandonedRequests)
    }
}

/// A flag that tells background work whether its session may still have the result.
final class CancellationFlag: Sendable {
    /// 0: the work may go on; 1: the session has ended; 2: it has lost the rights behind the work.
    private let state = Atomic(0)

    /// Cancels because the session lost the rights behind the work: the result must not be sent either.
    func revoke() { state.store(2, ordering: .releasing) }

    /// Cancels because the session has ended. Work that has begun still gets its reply; no more begins.
    func end() { state.max(1, ordering: .releasing) }

    /// The reason not to begin or continue; nil while work may go on.
    var refusal: TweakError? {
        if let secrecy { return secrecy }
        if state.load(ordering: .acquiring) == 0 { return nil }
        return TweakError(.closing, "the session was ended before this began")
    }

    /// The error that replaces the result; nil while the result may be sent.
    var secrecy: TweakError? {
        if state.load(ordering: .acquiring) < 2 { return nil }
        return TweakError(.denied, "your rights have changed while this was under way; check its effect")
    }
}
