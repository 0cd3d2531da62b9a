// Serves a session: reads input, carries out requests, sends replies.

import Tweaks
import TweaksWire
import TweaksSystem

extension EventLoop {
    // MARK: - Input

    /// Reads once: the kernel says so again if there is more, after the others had their turn.
    func receive(_ session: Session) {
        switch session.connection.descriptor.read(into: scratch) {
        case .wouldBlock: return
        case .failed: close(session)
        case .endOfInput: endInput(session)
        case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: scratch[..<count]), session)
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ session: Session) {
        switch session.connection.phase {
        case .closed: return
        case .draining(let discarded):
            session.connection.phase = .draining(discarded: discarded + bytes.count)
            if discarded + bytes.count > limits.fatalDrain.bytes { close(session) }
        case .open:
            if let echo = session.dialect.take(bytes) { say(echo, to: session) }
            session.input.mayHaveMore = true
            noteRequest(session)
        }
    }

    private func say(_ echo: DialectEcho, to session: Session) {
        session.output.append(echo.bytes)
        guard echo.redrawsPrompt, session.isInteractive else { return }
        session.output.append { session.dialect.encoder.endLine(&$0) }
        session.sendPrompt()
    }

    /// There is only so much time for a request that has begun to come.
    private func noteRequest(_ session: Session) {
        guard session.dialect.isInRequest, session.input.requestBegan == nil else { return }
        session.input.requestBegan = now
        // One at a time: requests may be many.
        if session.input.hasRequestTimer { return }
        session.input.hasRequestTimer = true
        schedule(.request, for: session, in: limits.timeToFirstLine)
    }

    private func endInput(_ session: Session) {
        session.input.hasEnded = true
        session.input.mayHaveMore = true
        // Everything was said and the peer knows it.
        if case .draining = session.connection.phase, session.output.isEmpty, session.replies.isEmpty { close(session) }
    }

    // MARK: - Going on

    /// Lets a session do what it can: carry out requests, send replies and events. Called whenever anything changed for it.
    func advance(_ session: Session) {
        if session.connection.phase == .closed { return }
        // Then the others: a long reply to a fast reader must not keep them waiting.
        let turnEnds = now + turnTime
        var mayGoOn = false
        repeat {
            var isPlain = runRequests(session, until: turnEnds)
            if session.hasBacklog {
                sendBacklog(session)
                isPlain = false
            }
            guard flush(session), session.isOpen else { break }
            if isPlain, session.isAtRest {
                // What it held while much of its input waited is given back.
                if session.payer.heldBytes > Self.restingBytes { weigh(session) }
                return
            }
            mayGoOn = canGoOn(session)
            // A slice of a long reply is a turn, however long those may be.
        } while mayGoOn && session.replies.rest == nil && look() < turnEnds
        if session.connection.phase == .closed { return }
        updateInterest(session)
        weigh(session)
        if mayGoOn || !session.isOpen, session.output.isEmpty, canGoOn(session) { enqueue(session) }
    }

    /// With more than this, what a session that rests was last seen to hold is looked at again.
    private static let restingBytes = 8_192

    private func sendBacklog(_ session: Session) {
        session.settle(executor.evidence.status, unsentLimit: room(session))
        if session.output.count < limits.unsentBytes { session.sendMore(budget: ReplyEncoder.slice) }
        session.sendPendingEvents(unsentLimit: room(session))
        session.endEvents()
    }

    /// Whether a session has something to say or to do without new input.
    private func canGoOn(_ session: Session) -> Bool {
        // A stopping session has a farewell to say.
        let hasMore = session.input.mayHaveMore || isStopping
        if hasMore, session.mayBegin, session.output.count < limits.unsentBytes { return true }
        guard session.hasBacklog else { return false }
        return session.replies.rest != nil || session.replies.isSettling || session.hasEvents
    }

    /// How much a session may have unsent before it pauses: bytes are work, so that they count as time does.
    private func room(_ session: Session) -> Int {
        min(limits.unsentBytes, session.output.count + ReplyEncoder.slice)
    }

    // MARK: - Requests

    /// Carries out what has come, as long as replies can be written and others have not waited too long.
    /// - Returns: Whether there were plain requests alone.
    @discardableResult
    func runRequests(_ session: Session, until turnEnds: Moment) -> Bool {
        // Nothing was asked, and nothing is to be said unasked.
        if !session.input.mayHaveMore, !isStopping, case .idle = session.work { return false }
        expireTokens()
        var isPlain = true
        if session.dialect.inputCount > 0 { session.input.lastActivity = now }
        var unsent = session.output.count
        let room = min(limits.unsentBytes, unsent + ReplyEncoder.slice)
        while unsent < room, session.mayBegin {
            if endsInstead(session) { return false }
            guard let step = nextStep(session, budget: room - unsent) else {
                session.input.mayHaveMore = false
                inputIsUsedUp(session)
                // The disk does not wait for the end of a round that has taken long.
                if executor.isInRound, look() >= turnEnds { executor.endRound() }
                return isPlain
            }
            if case .answered = step {
            } else {
                isPlain = false
                take(step, session)
            }
            if look() >= turnEnds {
                executor.endRound()
                return false
            }
            unsent = session.output.count
        }
        return false
    }

    /// Ends a session where the next request comes too late.
    private func endsInstead(_ session: Session) -> Bool {
        if let error = session.work.farewell {
            say(error, to: session)
        } else if isStopping {
            sayClosing(session)
        } else {
            return false
        }
        return true
    }

    /// Answers plain requests, up to one that is none.
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

    /// All that came whole was carried out.
    private func inputIsUsedUp(_ session: Session) {
        let dialect = session.dialect
        if session.identity.isDenied, dialect.inputCount > 0 || session.input.hasEnded { return deny(session) }
        if !dialect.isInRequest { session.input.requestBegan = nil }
        // Part of one may have come behind the others.
        noteRequest(session)
        if session.input.hasEnded {
            if let error = dialect.incompleteness {
                executor.figures.refused += 1
                session.send(.error(error))
            }
            executor.take(.end(.endOfInput), session)
            finish(session)
        } else if !session.input.isProven, dialect.isHopeless {
            fail(ParsedLine.badLine, session)
        }
    }

    private func deny(_ session: Session) {
        fail(
            TweakError(
                .denied, "\(session.origin) is not the user of this process (uid \(ThisProcess.user)); ask them or root"
            ),
            session, .denied)
    }

    private func take(_ step: DialectStep, _ session: Session) {
        let isFirst = !session.input.hasSentLine
        session.input.hasSentLine = true
        session.input.requestBegan = nil
        if session.identity.isDenied { deny(session) } else { carryOut(step, isFirst: isFirst, session) }
    }

    private func carryOut(_ step: DialectStep, isFirst: Bool, _ session: Session) {
        switch step {
        case .answered: break
        case .perform(let request): perform(request, session)
        case .line(let line): carryOut(line, isFirst: isFirst, session)
        case .tooLong(let count):
            let limit = session.isAdmitted ? TweakLimit.lineBytes : .unauthenticatedLineBytes
            fail(TweakError(.tooLong, "a line holds at most \(count) bytes", limit: limit), session)
        case .end(let isStranger):
            executor.take(.end(isStranger ? .stranger : .quit), session)
            finish(session)
        default:
            session.input.hasAsked = true
            executor.note(step, session)
        }
    }

    private func carryOut(_ line: ParsedLine, isFirst: Bool, _ session: Session) {
        switch line {
        case .blank: runBlank(isFirst, session)
        case .ignored: session.sendPrompt()
        case .request(let request): perform(request, session)
        case .nearly(let correction):
            let mayRepeat = executor.mayRepeatValue(of: correction.path, session)
            refuse(correction.error(showsValue: mayRepeat), correction.severity, session)
        case .failure(let error, let severity): refuse(error, severity, session)
        }
    }

    private func refuse(_ error: TweakError, _ severity: ParsedLine.Severity, _ session: Session) {
        let isFatal = severity == .fatal || severity == .fatalUnlessProven && !session.input.isProven
        if isFatal { return fail(error, session) }
        if severity != .ordinary { session.batch?.fail(error) }
        executor.figures.refused += 1
        session.send(.error(error))
    }

    /// A person pressed Enter: at the beginning that asks for a banner, later for a new prompt.
    private func runBlank(_ isFirst: Bool, _ session: Session) {
        if isFirst {
            session.input.isProven = true
            session.isInteractive = true
            executor.greet(session)
        }
        session.sendPrompt()
    }
}
