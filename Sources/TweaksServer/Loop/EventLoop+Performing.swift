// Performs requests, and finishes those whose work other threads have done.

import Synchronization
import Tweaks
import TweaksWire

extension EventLoop {
    func perform(_ request: Request, _ session: Session) {
        executor.metrics.requests += 1
        session.input.hasSentRequest = true
        carryOut(request, session) { executor.execute(request, for: session) }
    }

    /// Lets the program answer.
    func perform(_ request: ProgramRequest, _ session: Session) {
        executor.metrics.requests += 1
        session.input.hasSentRequest = true
        // Of the request itself only its name is used, for errors.
        finish(executor.ask(request, for: session), of: Request(.whoami), session)
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
        if request.command == .preview { expirePreview() }
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
            running.command = request.command.name
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

    /// Continues a request that visits many tweaks, for one turn.
    func advance(_ sweep: Sweep, of request: Request, _ session: Session, until turnEnds: Moment) {
        do throws(TweakError) {
            if try !sweep.advance(until: { updateClock() >= turnEnds }) { return }
            session.work = .idle
            carryOut(request, session, isContinuation: sweep.isContinuation) {
                do throws(TweakError) {
                    return try sweep.end(executor, session)
                } catch {
                    return executor.refusal(error, of: request, session)
                }
            }
        } catch {
            session.work = .idle
            carryOut(request, session) { executor.refusal(error, of: request, session) }
        }
    }
}

extension Executor {
    func apply(_ step: DialectStep, _ session: Session) {
        switch step {
        case .forget:
            for token in session.credentials.tokens { session.grants.remove(.token(name: token.name)) }
            session.credentials.tokens = []
            session.batch = nil
            expect(nil, session)
            identify(session)
        case .expect(let key): expect(key, session)
        case .clientDescription(let text):
            session.identity.peer.setUserAgent(text)
            identify(session)
        case .identity(let window, let name):
            session.identity.windowID = window
            session.identity.name = name
            identify(session)
        case .gesture(let number): session.changes.gesture = number
        case .waitForDisk(let waits): session.changes.waitsForDisk = waits
        case .send(let bytes): session.output.append(bytes)
        case .perform, .ask, .answered, .line, .tooLong, .end: break
        }
    }
}

extension EventLoop {
    func handle(_ message: Mailbox.Message) {
        if let id = message.sessionOfCompletedWork { executor.orphaned.remove(id) }
        carryOut(message)
        if let id = message.sessionOfCompletedWork, !isPending(id) { executor.endPending(id) }
    }

    /// Whether a session has background work in progress: a write may follow a read, or the session has begun something
    /// else. The delay after a wrong token is not work.
    private func isPending(_ id: SessionID) -> Bool {
        if let session = session(id) { return session.work.running != nil }
        return executor.orphaned.contains(id)
    }

    private func carryOut(_ message: Mailbox.Message) {
        switch message {
        case .stop: beginStopping()
        case .actionEnded(let id, let result):
            executor.runs[id] = nil
            if session(id)?.work.running != nil { answer(id, executor.reply(result)) }
        case .done(let id, .reply(let reply)):
            answer(id, session(id)?.work.running?.cancellation?.secrecy.map { .error($0) } ?? reply)
        case .done(let id, .next(let finish)):
            if let session = session(id), let running = session.work.running { proceed(running, session, finish) }
        case .proposed(let id, let changes, let failure):
            guard let session = session(id), session.work.running != nil else {
                // The session has ended. Left in the file, the values would override what others set from now on.
                if failure == nil { executor.store?.withdraw(changes) }
                return
            }
            // Nil means that it is written again.
            if let reply = executor.finishProposal(failure, session) { answer(id, reply) }
        case .saved(let status):
            executor.durability.note(saved: status)
            sendWaitingReplies()
        case .audited(let status):
            executor.durability.note(audited: status, now)
            sendWaitingReplies()
            resumeAudited()
        case .decided(let id, let request): session(id).map { finishWaiting(request, $0) }
        case .tokensChanged(let table): tokensChanged(table)
        case .called(let call): open(call)
        }
    }

    private func proceed(
        _ running: Work.Running, _ session: Session,
        _ finish: (Executor, Session) throws(TweakError) -> Executor.Outcome
    ) {
        do throws(TweakError) {
            if let refusal = running.cancellation?.refusal { throw refusal }
            switch try finish(executor, session) {
            case .reply(let reply): answer(session.id, reply)
            case .running(let next): session.work = session.work.continuing(with: next)
            default: break
            }
        } catch {
            executor.notifyDenied(error, running.command, session)
            answer(session.id, .error(error))
        }
    }

    private func answer(_ id: SessionID, _ reply: Reply) {
        guard let session = session(id), session.work.running != nil else { return }
        endWork(of: session, reply)
        advance(session)
    }

    /// Sends the reply to background work, and leaves what the session has sent meanwhile for later.
    func endWork(of session: Session, _ reply: Reply) {
        guard let running = session.work.running else { return }
        session.work = session.work.ended
        if session.isOpen {
            // A reload and background work promise a revision as well.
            if let revision = reply.durableRevision {
                executor.durability.request(revision, now)
                executor.registerForDurability(session)
            }
            if case .error(let error) = reply.status {
                executor.count(error)
                if running.isChange { executor.notifyRefused(error, session) }
            }
            session.send(reply)
        }
    }

}

/// A queue of messages to an event loop, with the means to wake it.
final class Mailbox: Sendable {
    enum Message: Sendable {
        /// Finish work in progress, close every session, end the loop.
        case stop
        case actionEnded(SessionID, Result<ActionOutput, TweakError>)
        /// Background work for a session has ended.
        case done(SessionID, Background)
        /// The changes of a session were written, or could not be, with the reason.
        case proposed(SessionID, [OverrideKey: StoredEntry?], failure: String?)
        case saved(SaveStatus)
        /// The audit has written to the kernel.
        case audited(SaveStatus)
        /// The program has decided a pending scope request.
        case decided(SessionID, TweakScopeRequest)
        case tokensChanged(TokenTable)
        /// The program has opened a session for one of its own callers.
        case called(ServerCall)

        /// The session whose background work this message completes.
        var sessionOfCompletedWork: SessionID? {
            switch self {
            case .actionEnded(let id, _), .done(let id, _), .proposed(let id, _, _): id
            case .stop, .saved, .audited, .decided, .tokensChanged, .called: nil
            }
        }
    }

    /// The result of background work.
    enum Background: Sendable {
        case reply(Reply)
        /// The request continues on the I/O thread.
        case next(@Sendable (Executor, Session) throws(TweakError) -> Executor.Outcome)
    }

    let waker: Waker
    private let state = Mutex<(messages: [Message], isClosed: Bool)>(([], false))
    /// While the loop is awake, no system call is needed to wake it.
    private let isAwake = Atomic<Bool>(true)

    init() throws(SocketError) { waker = try Waker() }

    func post(_ message: Message) {
        state.withLock { if !$0.isClosed { $0.messages.append(message) } }
        wake()
    }

    /// Drops what no loop has taken, and what is posted from now on: a call ends without an answer.
    func close() {
        state.withLock { $0.isClosed = true }
        _ = takeAll()
    }

    /// Makes the loop check its mailbox and the commits.
    func wake() {
        if !isAwake.exchange(true, ordering: .sequentiallyConsistent) { waker.wake() }
    }

    /// Marks the loop as about to sleep, so that it must be woken. The mailbox has to be checked once more after this.
    func fallAsleep() { isAwake.store(false, ordering: .sequentiallyConsistent) }

    func awaken() { isAwake.store(true, ordering: .sequentiallyConsistent) }

    var count: Int { state.withLock { $0.messages.count } }

    func takeAll() -> [Message] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }
}
