// Executes requests, and handles the outcomes that need the event loop.

import Tweaks
import TweaksWire

extension EventLoop {
    func perform(_ request: Request, _ session: Session) {
        executor.metrics.requests += 1
        session.input.hasSentRequest = true
        carryOut(request, session) { executor.execute(request, for: session) }
    }

    /// Carries out a request, or the end of one that took several turns.
    /// - Parameter isContinuation: Whether an earlier part has settled which events come before the reply.
    func carryOut(
        _ request: Request, _ session: Session, isContinuation: Bool = false, _ body: () -> Executor.Outcome
    ) {
        var listing: (generation: UInt64, seen: Int)?
        if request.command == .watch, !isContinuation {
            // Events of earlier commits go out before a reply that shows their values.
            takeInChanges()
            session.sendPendingEvents(unsentLimit: buffers.unsent)
            listing = self.listing(for: session)
        }
        let outcome = body()
        if request.command == .auth { scheduleTokenReview(session) }
        if request.command == .drop { rightsChanged(session) }
        finish(outcome, of: request, session)
        if listing != nil, session.dialect.isStreaming { startHeartbeats(session, listing) }
    }

    private func finish(_ outcome: Executor.Outcome, of request: Request, _ session: Session) {
        switch outcome {
        case .authenticationDelay(let error, let delay): delayAuthenticationError(session, error, for: delay)
        case .list: session.send(executor.list(sessions.all, for: session))
        case .kick(let number): kick(number, by: session)
        case .panel(let word): sendPanelAddress(word, to: session)
        case .running(var running):
            session.input.isProven = true
            running.isChange = request.wantsChange
            session.work = .running(running)
            executor.beginPending(session)
        case .sweep(let sweep):
            session.work = .sweeping(sweep, of: request)
            enqueue(session)
        case .reply(let reply):
            if case .error(let error) = reply.status {
                executor.count(error)
                if request.wantsChange { executor.notifyRefused(error, session) }
            } else {
                session.input.isProven = true
            }
            session.send(reply)
        case .quit(let reply):
            session.isInteractive = false
            session.send(reply)
            executor.apply(.end(.quit), session)
            finish(session)
        }
    }
}

extension Executor {
    /// Applies what a dialect reports about its client.
    func apply(_ step: DialectStep, _ session: Session) {
        switch step {
        case .forget:
            for token in session.credentials.tokens { session.grants.remove(.token(name: token.name)) }
            (session.credentials.tokens, session.batch) = ([], nil)
            expect(nil, session)
            identify(session)
        case .expect(let key): expect(key, session)
        case .clientDescription(let text):
            session.identity.peer.setUserAgent(text)
            identify(session)
        case .identity(let window, let name):
            (session.identity.windowID, session.identity.name) = (window, name)
            identify(session)
        case .gesture(let number): session.changes.gesture = number
        case .waitForDisk(let waits): session.changes.waitsForDisk = waits
        case .send(let bytes): session.output.append(bytes)
        case .perform, .answered, .line, .tooLong, .end: break
        }
    }
}
