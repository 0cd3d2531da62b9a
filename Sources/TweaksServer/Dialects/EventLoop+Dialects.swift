// Sessions that are not spoken with by lines: the steps of their dialects.

import Tweaks
import TweaksWire

extension EventLoop {
    /// Takes what has come on a session with a dialect.
    func take(_ bytes: UnsafeRawBufferPointer, _ dialect: any SessionDialect, _ session: Session) {
        dialect.take(bytes)
        session.hasLines = true
        noteRequest(dialect, session)
    }

    /// There is only so much time for a request that has begun to come.
    private func noteRequest(_ dialect: any SessionDialect, _ session: Session) {
        guard dialect.isInRequest, session.requestBegan == nil else { return }
        session.requestBegan = now
        // One at a time: requests may be many.
        if session.hasRequestTimer { return }
        session.hasRequestTimer = true
        schedule(.request, for: session, in: limits.timeToFirstLine)
    }

    /// Carries out what has come, as long as replies can be written and others have not waited too long.
    func run(_ dialect: any SessionDialect, _ session: Session, until turnEnds: Moment) {
        session.hasLines = true
        expireTokens()
        if dialect.inputCount > 0 { session.lastActivity = now }
        let room = min(limits.unsentBytes, session.output.count + ReplyEncoder.slice)
        while session.mayBegin(unsentLimit: room) {
            if let farewell = session.farewell { return say(farewell, to: session) }
            if isStopping { return sayClosing(session) }
            guard let step = dialect.next() else {
                session.hasLines = false
                return stepsEnded(session, dialect)
            }
            take(step, session)
            if look() >= turnEnds { return executor.endRound() }
        }
    }

    private func take(_ step: DialectStep, _ session: Session) {
        session.hasSentLine = true
        session.requestBegan = nil
        switch step {
        case .perform(let request):
            var told: (generation: UInt64, seen: Int)?
            if case .watch = request { told = listing(for: session) }
            perform(request, session)
            if session.dialect?.isStreaming == true { beginBeating(session, told) }
        case .forget: forgetTokens(session)
        case .introduce(let text):
            session.peer.introduce(as: text)
            executor.identify(session)
        case .person(let window, let name):
            (session.windowID, session.name) = (window, name)
            executor.identify(session)
        case .gesture(let number): session.gesture = number
        case .waitForDisk(let waits): session.waitsForDisk = waits
        case .send(let bytes): session.output.append(bytes)
        case .end(let isStranger):
            executor.take(.end(isStranger ? .stranger : .quit), session)
            finish(session)
        }
    }

    /// Everything that came whole was carried out.
    private func stepsEnded(_ session: Session, _ dialect: any SessionDialect) {
        if !dialect.isInRequest { session.requestBegan = nil }
        // Part of one may have come behind the others.
        noteRequest(dialect, session)
        guard session.inputHasEnded else { return }
        executor.take(.end(.endOfInput), session)
        finish(session)
    }

    private func forgetTokens(_ session: Session) {
        for token in session.tokens { session.grants.remove(.token(name: token.name)) }
        (session.tokens, session.batch) = ([], nil)
        executor.identify(session)
    }

    // MARK: Time

    /// A request that does not become whole ends the connection.
    func expireRequest(_ session: Session) {
        session.hasRequestTimer = false
        guard let began = session.requestBegan, session.isOpen else { return }
        let deadline = began + limits.timeToFirstLine
        if deadline > now {
            session.hasRequestTimer = true
            return timers.add(.init(deadline: deadline, session: session.id, kind: .request))
        }
        let text = "the request was not whole after \(TweakValue.duration(limits.timeToFirstLine).text); send it again"
        say(TweakError(.timeout, text, limit: .timeToFirstLine), to: session)
    }

    /// - Parameter told: What there was before the snapshot was made. What has come since is told of by the next beat.
    private func beginBeating(_ session: Session, _ told: (generation: UInt64, seen: Int)?) {
        session.toldListing = session.dialect?.isResumed == true ? nil : told
        schedule(.beat, for: session, in: limits.beatInterval)
    }

    /// Tells a stream that it is still there, and whether there are other tweaks than before.
    func beat(_ session: Session) {
        guard session.isOpen, let dialect = session.dialect, dialect.isStreaming else { return }
        if let error = dialect.ending { return dismiss(session, error, .revoked) }
        schedule(.beat, for: session, in: limits.beatInterval)
        // Whoever does not read has enough to read.
        guard session.remainder == nil, session.output.isEmpty else { return }
        let told = session.toldListing
        if told?.generation != registry.generation { session.toldListing = listing(for: session) }
        let isRelisted = told?.seen != session.toldListing?.seen
        session.output.append { dialect.beat(isRelisted: isRelisted, revision: registry.revision, to: &$0) }
        advance(session)
    }

    /// The tweaks that a session sees, as one number. Others come and go unnoticed by it.
    private func listing(for session: Session) -> (generation: UInt64, seen: Int) {
        let generation = registry.generation
        var hasher = Hasher()
        if session.grants.rights.isWhole(.read) {
            hasher.combine(generation)
        } else {
            for node in executor.view(session).listing.nodes { hasher.combine(ObjectIdentifier(node)) }
        }
        return (generation, hasher.finalize())
    }
}
