// What a session goes through: input, lines, replies.

import Tweaks
import TweaksWire
import TweaksSystem

extension EventLoop {
    // MARK: - Input

    /// Reads once: the kernel says so again if there is more, after the others had their turn.
    func receive(_ session: Session) {
        switch session.descriptor.read(into: scratch) {
        case .wouldBlock: return
        case .failed: close(session)
        case .endOfInput: endInput(session)
        case .bytes(let count): take(UnsafeRawBufferPointer(rebasing: scratch[..<count]), session)
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ session: Session) {
        switch session.phase {
        case .closed: return
        case .draining(let discarded):
            session.phase = .draining(discarded: discarded + bytes.count)
            if discarded + bytes.count > limits.fatalDrain.bytes { close(session) }
        case .open:
            if let dialect = session.dialect { return take(bytes, dialect, session) }
            let response = bytes.withMemoryRebound(to: UInt8.self) { session.reader.append($0) }
            answer(response, session)
        }
    }

    /// Answers telnet's commands. After Ctrl-C a telnet client shows nothing until its mark is answered, so a prompt that
    /// was sent before that – the mark came in a later packet – is sent again.
    private func answer(_ response: TelnetFilter.Response, _ session: Session) {
        if !response.reply.isEmpty { session.output.append(response.reply) }
        let isMarked = session.awaitsMark && !response.reply.isEmpty
        if response.wasInterrupted {
            session.awaitsMark = response.reply.isEmpty
        } else if isMarked {
            session.awaitsMark = false
        }
        guard response.wasInterrupted || isMarked, session.isInteractive else { return }
        session.output.append { session.encoder.endLine(&$0) }
        session.sendPrompt()
    }

    private func endInput(_ session: Session) {
        session.inputHasEnded = true
        // Everything was said and the peer knows it.
        if case .draining = session.phase, session.output.isEmpty, session.owesNothing { close(session) }
    }

    // MARK: - Going on

    /// Lets a session do what it can: run lines, send replies and events. Called whenever anything changed for it.
    func advance(_ session: Session) {
        if session.phase == .closed { return }
        // Then the others: a long reply to a fast reader must not keep them waiting.
        let turnEnds = now + turnTime
        repeat {
            runLines(session, until: turnEnds)
            session.settle(executor.evidence.status, unsentLimit: room(session))
            if session.output.count < limits.unsentBytes { session.sendMore(budget: ReplyEncoder.slice) }
            session.sendPendingEvents(unsentLimit: room(session))
            session.endEvents()
            guard flush(session), session.phase == .open else { break }
            if !canGoOn(session) { break }
            // A slice of a long reply is a turn, however long those may be.
        } while session.remainder == nil && look() < turnEnds
        if session.phase == .closed { return }
        updateInterest(session)
        weigh(session)
        if session.output.isEmpty, canGoOn(session) { enqueue(session) }
    }

    /// Whether a session has something to say or to do without new input.
    private func canGoOn(_ session: Session) -> Bool {
        if session.remainder != nil || session.isSettling { return session.phase != .closed }
        return session.isOpen && (session.hasEvents || mayRunLines(session))
    }

    /// How much a session may have unsent before it pauses: bytes are work, so that they count as time does.
    private func room(_ session: Session) -> Int {
        min(limits.unsentBytes, session.output.count + ReplyEncoder.slice)
    }

    private func mayRunLines(_ session: Session) -> Bool {
        session.hasLines && session.mayBegin(unsentLimit: limits.unsentBytes)
    }

    /// Runs the lines that have come, as long as replies can be written and others have not waited too long.
    func runLines(_ session: Session, until turnEnds: Moment) {
        if let dialect = session.dialect { return run(dialect, session, until: turnEnds) }
        session.hasLines = true
        var linesToClock = Self.linesPerClock
        expireTokens()
        if session.reader.count > 0 { session.lastActivity = now }
        let room = room(session)
        while session.mayBegin(unsentLimit: room) {
            if let farewell = session.farewell { return say(farewell, to: session) }
            if isStopping { return sayClosing(session) }
            guard let event = session.reader.next() else {
                session.hasLines = false
                session.reader.compact()
                return linesEnded(session)
            }
            switch event {
            case .tooLong:
                let text = "a line holds at most \(session.reader.limit) bytes"
                let limit = session.isAdmitted ? TweakLimit.lineBytes : .unauthenticatedLineBytes
                fail(TweakError(.tooLong, text, limit: limit), session)
            case .line(let line):
                // Plain gets and sets take so little that the clock is asked for a few of them together.
                linesToClock -= run(line, session) ? 1 : Self.linesPerClock
                if linesToClock > 0 { continue }
                linesToClock = Self.linesPerClock
                if look() >= turnEnds { return executor.endRound() }
            }
        }
    }

    private static let linesPerClock = 16

    /// All complete lines were run.
    private func linesEnded(_ session: Session) {
        if session.isDenied, session.reader.count > 0 || session.inputHasEnded { return deny(session) }
        if session.inputHasEnded {
            if session.reader.hasUnfinishedLine {
                session.send(
                    .error(TweakError(.badLine, "the input ended inside a line; it was not run: end it with LF")))
                executor.figures.refused += 1
            }
            executor.take(.end(.endOfInput), session)
            finish(session)
        } else if !session.isProven, session.reader.unfinishedLineIsHopeless() {
            // It can never become a request; a TLS client, say, would wait for ever.
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

    /// - Returns: True when it was a plain get or set.
    private func run(_ line: LineReader.Line, _ session: Session) -> Bool {
        session.encoder.usesCRLF = line.endsWithCRLF
        session.awaitsMark = false
        let isFirst = !session.hasSentLine
        session.hasSentLine = true
        if session.isDenied {
            deny(session)
            return false
        }
        if !line.isPoisoned, session.reader.withBytes(of: line, { answerAtOnce($0, session) }) { return true }
        runParsed(line, isFirst: isFirst, session)
        return false
    }

    private func runParsed(_ line: LineReader.Line, isFirst: Bool, _ session: Session) {
        let parsed =
            line.isPoisoned
            ? .failure(ParsedLine.badLine, .fatalUnlessProven)
            : session.reader.withBytes(of: line) { ParsedLine($0) }
        switch parsed {
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
        let isFatal = severity == .fatal || severity == .fatalUnlessProven && !session.isProven
        if isFatal { return fail(error, session) }
        if severity != .ordinary { session.batch?.fail(error) }
        executor.figures.refused += 1
        session.send(.error(error))
    }

    /// True when the line was a plain get or set, and is answered.
    private func answerAtOnce(_ line: UnsafeBufferPointer<UInt8>, _ session: Session) -> Bool {
        guard let hot = HotLine(line), executor.answer(hot, line, for: session) else { return false }
        executor.figures.requests += 1
        return true
    }

    /// A person pressed Enter: at the beginning that asks for a banner, later for a new prompt.
    private func runBlank(_ isFirst: Bool, _ session: Session) {
        if isFirst {
            session.isProven = true
            session.isInteractive = true
            executor.greet(session)
        }
        session.sendPrompt()
    }

    func perform(_ request: Request, _ session: Session) {
        executor.figures.requests += 1
        session.hasAsked = true
        if case .watch = request { flushEvents() }
        let outcome = executor.execute(request, for: session)
        switch request {
        case .auth: noteExpiry(session)
        case .drop: rightsChanged(session)
        default: break
        }
        switch outcome {
        case .penalty(let error, let delay): penalize(session, error, for: delay)
        case .list: session.send(executor.list(sessions.all, for: session))
        case .kick(let number): kick(number, by: session)
        case .panel(let rotate): tellPanel(rotate: rotate, to: session)
        case .running:
            session.isProven = true
            session.isAwaitingAction = true
            session.isChanging = request.wantsChange
            executor.beginPending(session)
        case .reply(let reply):
            if case .error(let error) = reply.status {
                executor.count(error)
                if request.wantsChange { executor.tellRefused(error, session) }
            } else {
                session.isProven = true
            }
            session.send(reply)
        case .quit(let reply):
            session.isInteractive = false
            session.send(reply)
            executor.take(.end(.quit), session)
            finish(session)
        }
    }

    /// Events of earlier commits go out before a reply that shows their values.
    private func flushEvents() {
        answered += hub.distribute(unsentLimit: limits.unsentBytes)
    }
}
