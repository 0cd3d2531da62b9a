// Schedules deadlines, and handles those that pass.

import Tweaks

extension EventLoop {
    /// Sets a deadline relative to now.
    func schedule(_ kind: Timers.Kind, for session: Session? = nil, in time: Duration) {
        schedule(kind, session?.id ?? .server, at: now + time)
    }

    func schedule(_ kind: Timers.Kind, _ session: SessionID, at deadline: Moment) {
        timers.add(.init(deadline: deadline, session: session, kind: kind))
        nextDeadline = min(nextDeadline ?? deadline, deadline)
    }

    /// Handles the deadlines that have passed, and records the next one.
    func handleTimers() {
        while let entry = timers.popDue(now) {
            if entry.session == .server {
                expire(entry.kind)
            } else if let session = session(entry.session) {
                expire(session, entry.kind)
            }
        }
        nextDeadline = timers.next
    }

    private func expire(_ kind: Timers.Kind) {
        switch kind {
        case .accepting: if admission.isPaused { resumeAccepting() }
        case .tokens: if let time = expiry.reviewedAt, time <= now { reviewTokens() }
        case .sockets: checkSockets()
        case .stopping: closeAll()
        default: break
        }
    }

    private func expire(_ session: Session, _ kind: Timers.Kind) {
        switch kind {
        case .firstLine:
            if session.input.hasSentLine || !session.isOpen { return }
            let text = "no line came in \(seconds(limits.timeToFirstLine)); connect again"
            sendAndClose(TweakError(.timeout, text, limit: .timeToFirstLine), to: session)
        case .authentication:
            if session.credentials.lifecycle.state != .opening || !session.isOpen { return }
            let text = "no token came in \(seconds(limits.timeToAuthenticate)); connect again, then auth TOKEN"
            sendAndClose(TweakError(.timeout, text, limit: .timeToAuthenticate), to: session)
        case .request: expireRequest(session)
        case .heartbeat: sendHeartbeat(to: session)
        case .authenticationDelay: endAuthenticationDelay(session)
        case .closeReason: endDismissal(session)
        case .idle: expireIdle(session)
        case .drain:
            // The disk is slow, not the client.
            if session.replies.queueIsEmpty || isStopping { return close(session, isOverdue: true) }
            schedule(.drain, for: session, in: max(limits.lingerTime, .milliseconds(100)))
        case .accepting, .tokens, .sockets, .stopping: break
        }
    }

    private func expireIdle(_ session: Session) {
        guard let idle = idleTime(session), session.isOpen else { return }
        let isBusy = !session.watches.isEmpty || session.work.isBusy || session.replies.rest != nil
        let last = isBusy ? max(session.input.lastActivity, now) : session.input.lastActivity
        if isBusy || last + idle > now {
            return schedule(.idle, session.id, at: last + idle)
        }
        let text = "nothing came for \(seconds(idle)); connect again"
        sendAndClose(TweakError(.timeout, text, limit: .idleTime), to: session)
    }

    /// The maximum idle time of a session.
    func idleTime(_ session: Session) -> Duration? {
        [limits.idleTime, session.dialect.idleTime].compactMap(\.self).min()
    }

    private func seconds(_ duration: Duration) -> String { TweakValue.duration(duration).text }
}
