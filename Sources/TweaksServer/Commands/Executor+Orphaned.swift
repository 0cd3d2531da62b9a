// Limits the background work of ended sessions, which no other limit bounds.

import Tweaks

extension Executor {
    /// Ended sessions whose background work is still running.
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

    private func refuse(_ count: Int, _ what: String) throws(TweakError) {
        if count < limits.abandonedRequests { return }
        throw TweakError(.busy, "\(count) requests of sessions that have ended \(what)", limit: .abandonedRequests)
    }
}
