// Has requests carried out, and does what only the loop can do.

import Tweaks
import TweaksWire

extension EventLoop {
    func perform(_ request: Request, _ session: Session) {
        executor.figures.requests += 1
        session.input.hasAsked = true
        var told: (generation: UInt64, seen: Int)?
        if request.command == .watch {
            // Events of earlier commits go out before a reply that shows their values.
            tellLater(hub.distribute(unsentLimit: limits.unsentBytes))
            told = listing(for: session)
        }
        let outcome = executor.execute(request, for: session)
        if request.command == .auth { noteExpiry(session) }
        if request.command == .drop { rightsChanged(session) }
        finish(outcome, of: request, session)
        if told != nil, session.dialect.isStreaming { beginBeating(session, told) }
    }

    private func finish(_ outcome: Executor.Outcome, of request: Request, _ session: Session) {
        switch outcome {
        case .penalty(let error, let delay): penalize(session, error, for: delay)
        case .list: session.send(executor.list(sessions.all, for: session))
        case .kick(let number): kick(number, by: session)
        case .panel(let rotate): tellPanel(rotate: rotate, to: session)
        case .running(var running):
            session.input.isProven = true
            running.isChange = request.wantsChange
            session.work = .running(running)
            executor.beginPending(session)
        case .reply(let reply):
            if case .error(let error) = reply.status {
                executor.count(error)
                if request.wantsChange { executor.tellRefused(error, session) }
            } else {
                session.input.isProven = true
            }
            session.send(reply)
        case .quit(let reply):
            session.isInteractive = false
            session.send(reply)
            executor.take(.end(.quit), session)
            finish(session)
        }
    }
}

extension Executor {
    /// Notes what a dialect has to say of who asks, and how.
    func note(_ step: DialectStep, _ session: Session) {
        switch step {
        case .forget:
            for token in session.credentials.tokens { session.grants.remove(.token(name: token.name)) }
            (session.credentials.tokens, session.batch) = ([], nil)
            identify(session)
        case .introduce(let text):
            session.identity.peer.introduce(as: text)
            identify(session)
        case .person(let window, let name):
            (session.identity.windowID, session.identity.name) = (window, name)
            identify(session)
        case .gesture(let number): session.changes.gesture = number
        case .waitForDisk(let waits): session.changes.waitsForDisk = waits
        case .send(let bytes): session.output.append(bytes)
        case .perform, .answered, .line, .tooLong, .end: break
        }
    }
}
