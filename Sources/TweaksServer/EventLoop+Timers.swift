// Deadlines: what happens to sessions when nothing comes in time.

import Tweaks

extension EventLoop {
    /// Sets a deadline that counts from now.
    func schedule(_ kind: Timers.Kind, for session: Session? = nil, in time: Duration) {
        schedule(kind, session?.id ?? .server, at: now + time)
    }

    func schedule(_ kind: Timers.Kind, _ session: SessionID, at deadline: Moment) {
        timers.add(.init(deadline: deadline, session: session, kind: kind))
        nextDeadline = min(nextDeadline ?? deadline, deadline)
    }

    /// Does what is due, and notes when something is next.
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
        case .accepting: if crowd.isPaused { resumeAccepting() }
        case .tokens: if let time = expiry.reviewedAt, time <= now { reviewTokens() }
        case .stopping: closeAll()
        default: break
        }
    }

    private func expire(_ session: Session, _ kind: Timers.Kind) {
        switch kind {
        case .firstLine:
            if session.input.hasSentLine || !session.isOpen { return }
            let text = "no line came in \(seconds(limits.timeToFirstLine)); connect again"
            say(TweakError(.timeout, text, limit: .timeToFirstLine), to: session)
        case .authentication:
            if session.credentials.life.state != .opening || !session.isOpen { return }
            let text = "no token came in \(seconds(limits.timeToAuthenticate)); connect again, then auth TOKEN"
            say(TweakError(.timeout, text, limit: .timeToAuthenticate), to: session)
        case .request: expireRequest(session)
        case .beat: beat(session)
        case .penalty: endPenalty(session)
        case .farewell: endFarewell(session)
        case .idle: expireIdle(session)
        case .drain:
            // It is the disk that is slow, not the client.
            if session.replies.queueIsEmpty || isStopping { return close(session) }
            schedule(.drain, for: session, in: max(limits.lingerTime, .milliseconds(100)))
        case .accepting, .tokens, .stopping: break
        }
    }

    private func expireIdle(_ session: Session) {
        guard let idle = idleTime(session), session.isOpen else { return }
        let isBusy = !session.watches.isEmpty || session.work.isBusy || session.replies.rest != nil
        let last = isBusy ? max(session.input.lastActivity, now) : session.input.lastActivity
        if isBusy || last + idle > now {
            return schedule(.idle, session.id, at: last + idle)
        }
        say(TweakError(.timeout, "nothing came for \(seconds(idle)); connect again", limit: .idleTime), to: session)
    }

    /// How long a session may be silent.
    func idleTime(_ session: Session) -> Duration? {
        [limits.idleTime, session.dialect.idleTime].compactMap(\.self).min()
    }

    private func seconds(_ duration: Duration) -> String { TweakValue.duration(duration).text }
}
