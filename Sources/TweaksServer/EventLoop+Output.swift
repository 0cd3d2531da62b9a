// Sends pending output, and updates which sockets the loop polls.

import Tweaks

extension EventLoop {
    /// Sends pending output. Returns false if some of it has to wait.
    func flush(_ session: Session) -> Bool {
        switch session.output.send(to: session.connection.descriptor, atMost: session.connection.sendBytes) {
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
                linger(session)
                // Everything is sent; from here on the client has limited time to read and close.
                schedule(.drain, for: session, in: session.hasUnsent() ? limits.lingerTime : limits.fatalDrain.time)
            }
            // A stopping server waits only for clients with unread input, since a reset would lose their last reply.
            if session.input.hasEnded {
                closeWhenRead(session)
            } else if isStopping, !session.connection.descriptor.hasInput {
                close(session)
            }
        }
        return true
    }

    func updateInterest(_ session: Session) {
        updateBackpressure(session)
        var interest: PollInterest = []
        if !session.output.isEmpty { interest.insert(.write) }
        if !session.input.hasEnded, wantsInput(session) { interest.insert(.read) }
        if interest == session.connection.interest { return }
        session.connection.interest = interest
        do {
            try poller.modify(session.connection.descriptor.number, interest)
        } catch {
            // The poller would never report it again.
            close(session)
        }
    }

    /// Counts how often a session stops reading its replies until its input is paused.
    private func updateBackpressure(_ session: Session) {
        let isFull = !session.output.isEmpty && !wantsInput(session)
        if isFull, !session.connection.isFull { executor.metrics.hit(.unsentBytes) }
        session.connection.isFull = isFull
    }

    /// Whether to read from a session: not while it leaves replies unread, nor while it has enough input.
    private func wantsInput(_ session: Session) -> Bool {
        if !session.isOpen { return true }
        if case .authenticationDelay = session.work { return false }
        // One more for a CR whose LF has not arrived.
        return session.output.count < buffers.unsent
            && session.dialect.inputCount - 1 <= session.dialect.inputLimit
    }
}
