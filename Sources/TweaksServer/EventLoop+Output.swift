// Sends what sessions are owed, and decides which sockets the loop listens to.

import Tweaks

extension EventLoop {
    /// Sends what is there. False when some of it has to wait.
    func flush(_ session: Session) -> Bool {
        switch session.output.send(to: session.connection.descriptor) {
        case .wouldBlock: return false
        case .failed, .endOfInput:
            close(session)
            return false
        case .bytes: break
        }
        if case .draining = session.connection.phase, session.replies.isEmpty {
            if !session.connection.outputHasEnded {
                session.connection.outputHasEnded = true
                session.connection.descriptor.endOutput()
                // All was said; from here on there is only so much patience.
                schedule(.drain, for: session, in: limits.fatalDrain.time)
            }
            // A stopping server waits only for those whose input lies unread: the reset that answers it would cost them
            // the last reply.
            if session.input.hasEnded || isStopping && !session.connection.descriptor.hasInput { close(session) }
        }
        return true
    }

    func updateInterest(_ session: Session) {
        noteWhetherItReads(session)
        var interest: PollInterest = []
        if !session.output.isEmpty { interest.insert(.write) }
        if !session.input.hasEnded, wantsInput(session) { interest.insert(.read) }
        if interest == session.connection.interest { return }
        session.connection.interest = interest
        do {
            try poller.modify(session.connection.descriptor.number, interest)
        } catch {
            // It would never be heard of again.
            close(session)
        }
    }

    /// Counts how often a session lets its replies pile up until it is no longer read from.
    private func noteWhetherItReads(_ session: Session) {
        let isFull = !session.output.isEmpty && !wantsInput(session)
        if isFull, !session.connection.isFull { executor.figures.hit(.unsentBytes) }
        session.connection.isFull = isFull
    }

    /// A session that does not read its replies is not read from, nor one that has lines enough to go on with.
    private func wantsInput(_ session: Session) -> Bool {
        if !session.isOpen { return true }
        if case .penalty = session.work { return false }
        // One more for a CR whose LF has not come.
        return session.output.count < limits.unsentBytes
            && session.dialect.inputCount - 1 <= session.dialect.inputLimit
    }
}
