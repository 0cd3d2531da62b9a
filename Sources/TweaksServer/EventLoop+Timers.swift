// Deadlines: what happens to sessions when nothing comes in time.

import Tweaks

extension EventLoop {
    func handleTimers() {
        if timers.next == nil, acceptsAgainAt == nil, stopDeadline == nil, tokensReviewedAt == nil,
            executor.evidence.deadline == nil
        {
            return
        }
        let now = clock()
        while let entry = timers.popDue(now) {
            if let session = session(entry.session) { expire(session, entry.kind, now) }
        }
        if let time = acceptsAgainAt, time <= now { resumeAccepting() }
        if let time = tokensReviewedAt, time <= now { reviewTokens() }
        if let deadline = stopDeadline, deadline <= now { closeAll() }
        if let deadline = executor.evidence.deadline, deadline <= now {
            executor.evidence.giveUp()
            settle()
        }
    }

    private func expire(_ session: Session, _ kind: Timers.Kind, _ now: ContinuousClock.Instant) {
        switch kind {
        case .firstLine:
            if session.hasSentLine || !session.isOpen { return }
            let text = "no line came in \(seconds(limits.timeToFirstLine)); connect again"
            say(TweakError(.timeout, text, limit: .timeToFirstLine), to: session)
        case .authentication:
            if session.life.state != .opening || !session.isOpen { return }
            let text = "no token came in \(seconds(limits.timeToAuthenticate)); connect again, then auth TOKEN"
            say(TweakError(.timeout, text, limit: .timeToAuthenticate), to: session)
        case .request: expireRequest(session, now)
        case .beat: beat(session, now)
        case .penalty: endPenalty(session)
        case .farewell: endFarewell(session)
        case .idle:
            guard let idle = idleTime(session), session.isOpen else { return }
            let isBusy = !session.watches.isEmpty || session.isAwaitingAction || session.remainder != nil
            if isBusy || session.lastActivity + idle > now {
                let deadline = max(session.lastActivity, isBusy ? now : session.lastActivity) + idle
                return timers.add(.init(deadline: deadline, session: session.id, kind: .idle))
            }
            let text = "nothing came for \(seconds(idle)); connect again"
            say(TweakError(.timeout, text, limit: .idleTime), to: session)
        case .drain:
            // It is the disk that is slow, not the client.
            if session.owed.isEmpty || isStopping { return close(session) }
            let pause = max(limits.lingerTime, .milliseconds(100))
            timers.add(.init(deadline: now + pause, session: session.id, kind: .drain))
        }
    }

    /// How long a session may be silent.
    func idleTime(_ session: Session) -> Duration? {
        [limits.idleTime, session.dialect?.idleTime].compactMap(\.self).min()
    }

    private func seconds(_ duration: Duration) -> String { TweakValue.duration(duration).text }
}
