// What happens to sessions from outside: tokens that end, rights that shrink, decisions, kicks.

import Tweaks
import TweaksWire

extension EventLoop {
    // MARK: The beginning

    /// Lets a new session in, or has it show a token first.
    func admit(_ session: Session, _ listener: Listener) {
        executor.take(.look, session)
        // Its first line is answered by the reason why not.
        if session.identity.isDenied { return }
        guard listener.wantsToken else {
            executor.take(.open, session)
            return
        }
        session.credentials.needsToken = true
        session.dialect.limitRequests(to: min(limits.unauthenticatedLineBytes, limits.lineBytes))
        schedule(.authentication, for: session, in: limits.timeToAuthenticate)
    }

    /// Answers a wrong token, but not at once.
    func penalize(_ session: Session, _ error: TweakError, for delay: Duration) {
        session.work = .penalty(error)
        schedule(.penalty, for: session, in: delay)
    }

    func endPenalty(_ session: Session) {
        guard case .penalty(let error) = session.work else { return }
        session.work = .idle
        if session.credentials.failures >= limits.authenticationFailures {
            executor.figures.hit(.authenticationFailures)
            if session.isOpen { fail(error, session, .denied) }
        } else if session.isOpen {
            executor.figures.refused += 1
            session.send(.error(error))
        }
        advance(session)
    }

    // MARK: Tokens

    /// Another table: who has shown a token that is not in it any more loses what it gave.
    func tokensChanged(_ table: TokenTable) {
        executor.tokens = table.adding(executor.hooks.fronts.flatMap(\.tokens))
        reviewTokens()
    }

    /// Looks whether a token has expired, by the clock on the wall; that one may jump, so it is asked each time.
    func expireTokens() {
        if let first = expiry.first, executor.hooks.wallClock() >= first { reviewTokens() }
    }

    /// Notes when the tokens of a session end.
    func noteExpiry(_ session: Session) {
        guard let first = session.credentials.tokens.compactMap(\.expires).min() else { return }
        expiry.first = min(expiry.first ?? first, first)
        let left = first - executor.hooks.wallClock()
        // A wall clock that is put forward is noticed within a minute even where nothing happens.
        let time = min(Duration.milliseconds(max(left, 1)), .seconds(60))
        if let earlier = expiry.reviewedAt, earlier <= now + time { return }
        expiry.reviewedAt = now + time
        schedule(.tokens, in: time)
    }

    /// Compares the tokens of all sessions with the table, and with the time.
    func reviewTokens() {
        let now = executor.hooks.wallClock()
        expiry = Expiry()
        for session in sessions.all where !session.credentials.tokens.isEmpty && session.isOpen {
            review(session, now)
            noteExpiry(session)
        }
    }

    private func review(_ session: Session, _ now: Int64) {
        let before = session.grants.rights
        var isLess = false
        var ended: String?
        for token in session.credentials.tokens {
            // The same name for another token is another token.
            let entry = executor.tokens?.entries.first { $0.name == token.name && $0.digest == token.digest }
            if let entry, entry.isLive(now) {
                if replace(token, by: entry, session) { isLess = true }
            } else {
                ended = "token \(token.name) \(entry == nil ? "was revoked" : "has expired")"
                session.credentials.tokens.removeAll { $0.name == token.name }
                session.grants.remove(.token(name: token.name))
            }
        }
        if ended != nil {
            // It was given to holders of that token.
            session.grants.remove(.request)
            session.credentials.wishes.forgetGranted()
        }
        executor.identify(session)
        if isLess || ended != nil { executor.tell(.revoked, session) }
        let isStream = session.dialect.isStreaming
        let farewell = session.credentials.needsToken && session.credentials.tokens.isEmpty ? ended : nil
        if let farewell, isStream { return dismissForGood(session, farewell) }
        // What a stream has shown was for other rights, be they more now or less.
        if isLess || ended != nil || isStream && session.grants.rights != before { rightsChanged(session) }
        if let farewell { dismissForGood(session, farewell) }
    }

    private func dismissForGood(_ session: Session, _ reason: String) {
        dismiss(session, TweakError(.closing, "\(reason); show another one"), .revoked)
    }

    /// - Returns: Whether it gives less now.
    private func replace(_ token: TokenEntry, by entry: TokenEntry, _ session: Session) -> Bool {
        if token == entry { return false }
        session.credentials.tokens = session.credentials.tokens.map { $0.name == entry.name ? entry : $0 }
        if token.scopes == entry.scopes { return false }
        session.grants.replace(entry.scopes, from: .token(name: entry.name))
        return !token.scopes.allSatisfy(Rights(entry.scopes).covers)
    }

    /// Tells the address of the panel, with the token that lets its reader in; or makes another token first, which
    /// ends what the old one gave. On the Unix socket alone: elsewhere it would cross a network, or reach another page.
    func tellPanel(rotate: Bool, to session: Session) {
        do throws(TweakError) {
            guard session.identity.peer.transport == .unix else {
                throw TweakError(.denied, "the panel's token is told on the Unix socket alone; connect there")
            }
            guard let listener = listeners.first(where: { $0.front != nil }), let front = listener.front,
                let port = listener.port
            else { throw TweakError(.conflict, "this process has no panel; start it with TWEAKS_PANEL_PORT=0") }
            if rotate {
                front.rotate()
                executor.tokens = (executor.tokens ?? TokenTable()).replacingOwn(
                    executor.hooks.fronts.flatMap(\.tokens))
                reviewTokens()
            }
            session.input.isProven = true
            session.send(.facts([("address", .string(front.link(port: Int(port))))]))
        } catch {
            executor.count(error)
            session.send(.error(error))
        }
    }

    // MARK: Rights

    /// Looks again at what is under way for a session that may less than before.
    func rightsChanged(_ session: Session) {
        if session.dialect.isStreaming {
            return dismiss(session, TweakError(.closing, "your rights have changed"), .revoked)
        }
        if !session.grants.rights.isWhole(.read) {
            session.withhold(TweakError(.denied, "your rights have changed"))
        }
        session.work.running?.permit?.revoke()
        if !session.watches.isEmpty { hub.update(session) }
        if session.isOpen { enqueue(session) }
    }

    /// The program has been asked, and has decided or not.
    func finishAsking(_ request: TweakScopeRequest, _ session: Session) {
        if session.credentials.life.isOpen {
            answer(session.id, executor.finishAsking(request, session))
        } else {
            answer(session.id, .error(TweakError(.denied, "the session has ended")))
        }
    }

    /// A decision that came later is told between replies.
    func finishWaiting(_ request: TweakScopeRequest, _ session: Session) {
        guard session.credentials.life.isOpen, let notice = executor.finishWaiting(request, session) else { return }
        session.events.notices.append(notice)
        advance(session)
    }

    // MARK: The end

    /// Ends the session with this number, at the wish of another one.
    func kick(_ number: UInt64, by session: Session) {
        let victims = sessions.all.filter { $0.number == number && $0.credentials.life.state.reason == nil }
        if victims.isEmpty {
            let text = "session \(number) is not connected; the command sessions lists those that are"
            executor.figures.refused += 1
            return session.send(.error(TweakError(.conflict, text, isMissing: true)))
        }
        session.input.isProven = true
        session.send(.ok("kicked \(number)", [("kicked", .count(number))]))
        executor.tell(.kicked(number), session)
        for victim in victims { dismiss(victim, TweakError(.closing, "kicked by \(session.origin)"), .kicked) }
    }

    /// Ends a session for a reason that lies outside of it. What it has begun ends first, if that does not take long.
    func dismiss(_ session: Session, _ error: TweakError, _ reason: TweakSession.Reason) {
        guard executor.take(.end(reason), session) else { return }
        session.batch = nil
        if reason == .kicked { session.work.running?.permit?.end() } else { session.work.running?.permit?.revoke() }
        stopWatching(session)
        session.endPenalty()
        if session.work.isBusy {
            session.work = session.work.updated { $0.farewell = error }
            schedule(.farewell, for: session, in: limits.lingerTime)
        } else {
            takeLeave(of: session, error)
        }
    }

    private func takeLeave(of session: Session, _ error: TweakError) {
        if session.dialect.isStreaming {
            // What is to be said is an event of its own.
            session.withhold(error)
            say(error, to: session)
        } else if session.replies.rest != nil {
            // The reply under way ends with it; one status line is enough.
            session.isInteractive = false
            session.withhold(error)
            finish(session)
            advance(session)
        } else {
            say(error, to: session)
        }
    }

    /// What was under way takes too long.
    func endFarewell(_ session: Session) {
        guard session.isOpen, let error = session.work.closeReason else { return }
        abandonWork(of: session)
        takeLeave(of: session, error)
    }
}
