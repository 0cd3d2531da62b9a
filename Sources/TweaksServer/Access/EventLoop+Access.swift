// Changes the rights of sessions: wrong, expired or revoked tokens, reduced rights, scope decisions.

import Tweaks
import TweaksWire

extension EventLoop {
    // MARK: Wrong tokens

    func delayAuthenticationError(_ session: Session, _ error: TweakError, for delay: Duration) {
        session.work = .authenticationDelay(error)
        schedule(.authenticationDelay, for: session, in: delay)
    }

    func endAuthenticationDelay(_ session: Session) {
        guard case .authenticationDelay(let error) = session.work else { return }
        session.work = .idle
        if session.credentials.failures >= limits.authenticationFailures {
            executor.metrics.hit(.authenticationFailures)
            if session.isOpen { fail(error, session, .denied) }
        } else if session.isOpen {
            executor.metrics.refused += 1
            session.send(.error(error))
        }
        advance(session)
    }

    // MARK: Tokens

    /// Installs a new token table; sessions lose the rights of tokens that are no longer in it.
    func tokensChanged(_ table: TokenTable) {
        executor.tokens = table.adding(executor.hooks.ownTokens)
        reviewTokens()
    }

    /// Reviews tokens if one has expired by the wall clock. That clock may jump, so it is read each time.
    func expireTokens() {
        if let first = expiry.first, executor.hooks.wallClock() >= first { reviewTokens() }
    }

    /// Records when the session's tokens expire, and schedules a review.
    func scheduleTokenReview(_ session: Session) {
        guard let first = session.credentials.tokens.compactMap(\.expires).min() else { return }
        expiry.first = min(expiry.first ?? first, first)
        let left = first - executor.hooks.wallClock()
        // A wall clock that is set forward is noticed within a minute, even in an idle process.
        let time = min(Duration.milliseconds(max(left, 1)), .seconds(60))
        if let earlier = expiry.reviewedAt, earlier <= now + time { return }
        expiry.reviewedAt = now + time
        schedule(.tokens, in: time)
    }

    /// Compares the tokens of all sessions with the table and with the current time.
    func reviewTokens() {
        let now = executor.hooks.wallClock()
        expiry = TokenExpiry()
        for session in sessions.all { executor.expect(session.credentials.expectedKey, session) }
        for session in sessions.all where !session.credentials.tokens.isEmpty && session.isOpen {
            review(session, now)
            scheduleTokenReview(session)
        }
    }

    private func review(_ session: Session, _ now: Int64) {
        let before = session.grants.rights
        var isLess = false
        var ended: String?
        for token in session.credentials.tokens {
            // A token with the same name and another digest is a different token.
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
            // The request was granted to the holder of that token.
            session.grants.remove(.request)
            session.credentials.scopeRequests.forgetGranted()
        }
        executor.identify(session)
        if isLess || ended != nil { executor.notify(.revoked, session) }
        let isStream = session.dialect.isStreaming
        let closeReason = session.credentials.needsToken && session.credentials.tokens.isEmpty ? ended : nil
        if let closeReason, isStream { return dismissRevoked(session, closeReason) }
        // The stream showed what the earlier rights allowed, whether there are more or fewer now.
        let isOther = session.grants.rights != before
        if isLess || ended != nil || isStream && isOther {
            rightsChanged(session)
        } else if isOther {
            hub.update(session)
        }
        if let closeReason { dismissRevoked(session, closeReason) }
    }

    private func dismissRevoked(_ session: Session, _ reason: String) {
        dismiss(session, TweakError(.closing, "\(reason); sign in with another one"), .revoked)
    }

    /// Replaces a token whose entry has changed.
    /// - Returns: Whether the new entry grants less.
    private func replace(_ token: TokenEntry, by entry: TokenEntry, _ session: Session) -> Bool {
        if token == entry { return false }
        session.credentials.tokens = session.credentials.tokens.map { $0.name == entry.name ? entry : $0 }
        if token.scopes == entry.scopes { return false }
        session.grants.replace(entry.scopes, from: .token(name: entry.name))
        return !token.scopes.allSatisfy(Rights(entry.scopes).covers)
    }

    /// Sends the address of the panel, including the code that admits its reader, or the panel's token; or first rotates
    /// both, which revokes what the old token granted. Only on the Unix socket: elsewhere they would cross a network or
    /// reach another page.
    func sendPanelAddress(_ word: Keyword?, to session: Session) {
        do throws(TweakError) {
            guard session.identity.peer.transport == .unix else {
                throw TweakError(
                    .denied, "the panel's address and token are shown only on the Unix socket; connect there")
            }
            guard let listener = listeners.first(where: { $0.endpoint is any SignInEndpoint }),
                let endpoint = listener.endpoint as? any SignInEndpoint,
                let port = listener.port
            else { throw TweakError(.conflict, "this process has no panel; start it with TWEAKS_PANEL_PORT=0") }
            if word == .rotate {
                endpoint.rotate()
                executor.tokens = (executor.tokens ?? TokenTable()).replacingOwn(
                    executor.hooks.ownTokens)
                reviewTokens()
            }
            session.input.isProven = true
            session.send(
                word == .token
                    ? .info([("token", .string(endpoint.secret))])
                    : .info([("address", .string(endpoint.link(port: Int(port))))]))
        } catch {
            executor.count(error)
            session.send(.error(error))
        }
    }

    // MARK: Rights

    /// Rechecks the work in progress of a session whose rights have changed.
    func rightsChanged(_ session: Session) {
        executor.endPreview(with: session)
        if session.dialect.isStreaming {
            return dismiss(session, TweakError(.closing, "your rights have changed"), .revoked)
        }
        if !session.grants.rights.isWhole(.read) {
            session.withhold(TweakError(.denied, "your rights have changed"))
        }
        session.work.running?.cancellation?.revoke()
        hub.update(session)
        if session.isOpen { enqueue(session) }
    }

    /// Sends a decision that came later, between replies.
    func finishWaiting(_ request: TweakScopeRequest, _ session: Session) {
        guard session.credentials.lifecycle.isOpen, let notice = executor.finishWaiting(request, session) else {
            return
        }
        session.events.notices.append(notice)
        advance(session)
    }
}
