// Work of sessions that have ended: nobody waits for it any more, so that nothing else bounds it.

import Tweaks

extension Executor {
    /// Sessions that have ended while others worked for them, until these have done so.
    struct Abandoned {
        /// They wait for a disk or a handler.
        var requests: Set<SessionID> = []
        /// They run actions. Who may only run them takes nothing from the others.
        var runs: Set<SessionID> = []

        func contains(_ id: SessionID) -> Bool { requests.contains(id) || runs.contains(id) }

        mutating func remove(_ id: SessionID) {
            requests.remove(id)
            runs.remove(id)
        }
    }

    /// Refuses work that others do, such as a disk or a handler of the program, while too much of it is of sessions that
    /// have ended. Who asks and leaves, again and again, would fill the memory behind a disk that does not answer.
    func refuseIfAbandoned() throws(TweakError) {
        try refuse(abandoned.requests.count, "wait for a disk or a handler; try again when it has answered")
    }

    /// The same, and where a peer has much of it under way already: the others would wait behind that.
    func refuseIfBusy(_ session: Session) throws(TweakError) {
        try refuseIfManyPend(session)
        try refuseIfAbandoned()
    }

    /// The same for actions: those that may run several times at once.
    func refuseIfRunsAreAbandoned(_ session: Session) throws(TweakError) {
        try refuseIfManyPend(session)
        try refuse(abandoned.runs.count, "run actions; try again when they have ended")
    }

    private func refuseIfManyPend(_ session: Session) throws(TweakError) {
        let account = session.account
        // What this session has under way is going on, and counted.
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
