// Serves a session: reads input, answers requests, sends output.

import Tweaks
import TweaksSystem
import TweaksWire

extension EventLoop {
    // MARK: - Input

    /// Reads once: if there is more, the kernel reports it again after the other sessions' turns.
    func receive(_ session: Session) {
        switch session.connection.descriptor.read(into: scratch) {
        case .wouldBlock: return
        case .failed: close(session)
        case .endOfInput: endInput(session)
        case .bytes(let count): receive(UnsafeRawBufferPointer(rebasing: scratch[..<count]), session)
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer, _ session: Session) {
        switch session.connection.phase {
        case .closed: return
        case .draining(let discarded):
            session.connection.phase = .draining(discarded: discarded + bytes.count)
            if discarded + bytes.count > limits.fatalDrain.bytes { close(session) }
        case .open:
            if let echo = session.dialect.receive(bytes) { send(echo, to: session) }
            session.input.mayHaveMore = true
            startRequestDeadline(session)
        }
    }

    private func send(_ echo: DialectEcho, to session: Session) {
        session.output.append(echo.bytes)
        guard echo.redrawsPrompt, session.isInteractive else { return }
        session.output.append { session.dialect.encoder.endLine(&$0) }
        session.sendPrompt()
    }

    /// Starts the deadline of a request that has begun to arrive.
    private func startRequestDeadline(_ session: Session) {
        guard session.dialect.isInRequest, session.input.requestBegan == nil else { return }
        session.input.requestBegan = now
        // One timer at a time: there may be many requests.
        if session.input.hasRequestTimer { return }
        session.input.hasRequestTimer = true
        schedule(.request, for: session, in: limits.timeToFirstLine)
    }

    private func endInput(_ session: Session) {
        session.input.hasEnded = true
        session.input.mayHaveMore = true
        // Everything is sent and the peer has closed.
        if case .draining = session.connection.phase, session.output.isEmpty, session.replies.isEmpty {
            closeWhenRead(session)
        }
    }

    // MARK: - Turns

    /// Advances a session: executes requests, sends replies and events. Called after any change that concerns it.
    func advance(_ session: Session) { advance(session, until: now + turnTime) }

    /// - Parameter turnEnds: Then other sessions run: a long reply to a fast reader must not block them.
    func advance(_ session: Session, until turnEnds: Moment) {
        if session.connection.phase == .closed { return }
        var mayContinue = false
        repeat {
            var isPlain = runRequests(session, until: turnEnds)
            if session.hasBacklog {
                sendBacklog(session)
                isPlain = false
            }
            guard flush(session), session.isOpen else { break }
            if isPlain, session.isAtRest {
                // Releases the memory counted while much of its input waited.
                if session.memory.own > Self.restingBytes { chargeMemory(session) }
                return
            }
            mayContinue = canContinue(session)
            // One slice of a long reply is a turn, however long turns may be.
        } while mayContinue && session.replies.rest == nil && updateClock() < turnEnds
        if session.connection.phase == .closed { return }
        updateInterest(session)
        chargeMemory(session)
        if mayContinue || !session.isOpen, session.output.isEmpty, canContinue(session) { enqueue(session) }
    }

    /// Above this, the memory counted for an idle session is measured again.
    private static let restingBytes = 8_192

    private func sendBacklog(_ session: Session) {
        session.sendReadyReplies(executor.durability, unsentLimit: room(session))
        let budget = room(session) - session.output.count
        if budget > 0 { session.sendMore(budget: budget) }
        session.sendPendingEvents(unsentLimit: room(session))
        session.endEvents()
    }

    private func canContinue(_ session: Session) -> Bool {
        // While stopping, each session still gets its closing error.
        let hasMore = session.input.mayHaveMore || isStopping
        if hasMore, session.mayBegin, session.output.count < buffers.unsent { return true }
        if session.work.isSweeping { return true }
        guard session.hasBacklog else { return false }
        return session.replies.rest != nil || session.replies.mayHaveReadyReplies || session.hasEvents
    }

    /// The unsent bytes at which a session pauses: output counts as work, as time does.
    private func room(_ session: Session) -> Int {
        min(buffers.unsent, session.output.count + ReplyEncoder.slice)
    }

    // MARK: - Requests

    /// Executes the received requests while replies can be written and the turn lasts.
    /// - Returns: Whether there were only plain requests.
    @discardableResult
    func runRequests(_ session: Session, until turnEnds: Moment) -> Bool {
        // There is neither a request nor an error to send.
        if !session.input.mayHaveMore, !isStopping, case .idle = session.work { return false }
        if case .sweeping(let sweep, let request) = session.work {
            advance(sweep, of: request, session, until: turnEnds)
            return false
        }
        expireTokens()
        var isPlain = true
        if session.dialect.inputCount > 0 { session.input.lastActivity = now }
        var unsent = session.output.count
        let room = min(buffers.unsent, unsent + ReplyEncoder.slice)
        while unsent < room, session.mayBegin {
            if endIfClosing(session) { return false }
            guard let step = nextStep(session, budget: room - unsent) else {
                session.input.mayHaveMore = false
                handleInputConsumed(session)
                // The disk does not wait for the end of a long round.
                if executor.isInRound, updateClock() >= turnEnds { executor.endRound() }
                return isPlain
            }
            if case .answered = step {
            } else {
                isPlain = false
                handle(step, session)
            }
            if updateClock() >= turnEnds {
                executor.endRound()
                return false
            }
            unsent = session.output.count
        }
        return false
    }

    /// Ends a session instead of executing its next request, if it is closing.
    private func endIfClosing(_ session: Session) -> Bool {
        if let error = session.work.nextCloseReason {
            sendAndClose(error, to: session)
        } else if isStopping {
            closeForShutdown(session)
        } else {
            return false
        }
        return true
    }

    /// Answers plain requests, up to the first other step.
    private func nextStep(_ session: Session, budget: Int) -> DialectStep? {
        let (dialect, executor) = (session.dialect, executor)
        var step: DialectStep?
        session.output.append { bytes in
            step = dialect.next(budget: budget, to: &bytes) { hot, line, encoder, bytes in
                executor.answer(hot, line, encoder, to: &bytes, for: session)
            }
        }
        return step
    }

    /// Handles the end of the complete requests received so far.
    private func handleInputConsumed(_ session: Session) {
        let dialect = session.dialect
        if session.identity.isDenied, dialect.inputCount > 0 || session.input.hasEnded { return deny(session) }
        if !dialect.isInRequest { session.input.requestBegan = nil }
        // Part of another request may have arrived after them.
        startRequestDeadline(session)
        if session.input.hasEnded {
            if let error = dialect.incompleteInputError {
                executor.metrics.refused += 1
                session.send(.error(error))
            }
            executor.apply(.end(.endOfInput), session)
            finish(session)
        } else if !session.input.isProven, let error = dialect.invalidInputError {
            failUnproven(error, session)
        }
    }

    /// Ends a session that has not shown that it speaks this protocol, and says why: the error alone sounds as if the
    /// next line were read.
    private func failUnproven(_ error: TweakError, _ session: Session) {
        let reason = "closing: no command has succeeded yet; an empty line first makes this a prompt"
        fail(error.adding(reason), session)
    }

    private func deny(_ session: Session) {
        let text =
            "\(session.origin) is not the user of this process (uid \(ThisProcess.user)); connect as that user or root"
        fail(TweakError(.denied, text), session, .denied)
    }

    private func handle(_ step: DialectStep, _ session: Session) {
        let isFirst = !session.input.hasSentLine
        session.input.hasSentLine = true
        session.input.requestBegan = nil
        if session.identity.isDenied { deny(session) } else { carryOut(step, isFirst: isFirst, session) }
    }

    private func carryOut(_ step: DialectStep, isFirst: Bool, _ session: Session) {
        switch step {
        case .answered: break
        case .perform(let request): perform(request, session)
        case .ask(let request): perform(request, session)
        case .line(let line): carryOut(line, isFirst: isFirst, session)
        case .tooLong(let count):
            let limit = session.isAdmitted ? TweakLimit.lineBytes : .unauthenticatedLineBytes
            fail(TweakError(.tooLong, "a line holds at most \(count) bytes", limit: limit), session)
        case .end(let isForeignProtocol):
            executor.apply(.end(isForeignProtocol ? .stranger : .quit), session)
            finish(session)
        default:
            session.input.hasSentRequest = true
            executor.apply(step, session)
        }
    }

    private func carryOut(_ line: ParsedLine, isFirst: Bool, _ session: Session) {
        switch line {
        case .blank: runBlank(isFirst, session)
        case .ignored: session.sendPrompt()
        case .request(let request): perform(request, session)
        case .correctable(let correction):
            refuse(executor.error(for: correction, session), correction.severity, session)
        case .failure(let error, let severity): refuse(error, severity, session)
        }
    }

    private func refuse(_ error: TweakError, _ severity: ParsedLine.Severity, _ session: Session) {
        if severity == .fatalUnlessProven, !session.input.isProven { return failUnproven(error, session) }
        if severity != .ordinary { session.batch?.fail(error) }
        executor.metrics.refused += 1
        session.send(.error(error))
    }

    /// Handles an empty line: as the first line it asks for the banner, later for a prompt.
    private func runBlank(_ isFirst: Bool, _ session: Session) {
        if isFirst {
            session.input.isProven = true
            session.isInteractive = true
            executor.greet(session)
        }
        session.sendPrompt()
    }

    // MARK: - Output

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
