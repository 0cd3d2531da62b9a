// Handles auth, as, drop and request, and reports a session's changes to the program.

import Dispatch
import Tweaks
import TweaksWire

extension Executor {
    /// Applies a lifecycle step if it is valid, and notifies the program.
    @discardableResult func apply(_ transition: SessionLifecycle.Transition, _ session: Session) -> Bool {
        guard session.credentials.lifecycle.apply(transition) else { return false }
        // Another connection of a known window is not a new session to users.
        if !windows.hasOthers(session) { notify(.state, session) }
        if session.credentials.lifecycle.state.reason != nil { windows.remove(session) }
        return true
    }

    func setPersonName(_ text: String?, _ session: Session) throws(TweakError) -> Reply {
        session.identity.name = try text.map { text throws(TweakError) in try DisplayName(text) }
        identify(session)
        return .ok(
            session.origin.description,
            [("identity", .string(session.origin.description))] + session.personFields)
    }

    func notify(_ kind: TweakSessionEvent.Kind, _ session: Session) {
        hooks.onSessionEvent?(TweakSessionEvent(session: session.info, kind: kind))
    }

    // MARK: auth

    /// Verifies a token shown in plain or by a SCRAM message, and adds its scopes to the session. A wrong token is
    /// answered late, and the answer never says what is wrong with it.
    func authenticate(_ proof: Request.Proof, _ session: Session) throws(TweakError) -> Outcome {
        // An exchange ends with the next auth, right or wrong.
        let exchange = session.credentials.exchange.take()
        expect(nil, session)
        guard let tokens else {
            throw TweakError(
                .denied, "this process accepts no tokens; name a token file in TWEAKS_TOKEN_FILE, or in the program")
        }
        switch proof {
        case .plain(let token):
            if tokens.refusesPlain { throw Self.plainIsOff }
            return try admit(tokens.entry(for: token), session)
        case .keyID(let id): return try admit(tokens.entry(id: id), session)
        case .exchange(let exchange, let last, let code):
            return try finish(exchange, with: last, tokens, for: session, code: code, sendsKey: true)
        case .scram(let message) where message.hasPrefix("c="):
            guard let exchange else {
                throw TweakError(.usage, "auth: there is no challenge to answer; begin with n,,n=KEY-ID,r=NONCE")
            }
            return try finish(exchange, with: message, tokens, for: session)
        case .scram(let message):
            let exchange = try Scram.Server(message)
            session.credentials.exchange = exchange
            expect(ExpectedKey(exchange.user), session)
            return .reply(.ok(exchange.challenge, [(Scram.field, .string(exchange.challenge))]))
        }
    }

    /// Reserves a place for a session that names a key of a valid token, until it sends a proof, right or wrong. The
    /// lookup takes the same time for all key ids, and only a flood shows its effect.
    /// - Parameter key: Nil gives the place back.
    func expect(_ key: ExpectedKey?, _ session: Session) {
        let entry = key.flatMap { tokens?.entry(id: $0.token) }
        session.credentials.expectedKey = entry?.isLive(hooks.wallClock()) == true ? key : nil
    }

    private static let plainIsOff = TweakError(
        .denied,
        "auth TOKEN is off here, so that no token crosses the wire; use tweakctl login, or auth \(Scram.mechanism) (RFC 7677)"
    )

    private func finish(
        _ exchange: Scram.Server, with message: String, _ tokens: TokenTable, for session: Session,
        code: Request.Proof.Code? = nil, sendsKey: Bool = false
    ) throws(TweakError) -> Outcome {
        let entry = tokens.entry(id: code?.keyID ?? exchange.user)
        let acceptance = try exchange.accept(message, code?.verifier ?? entry?.scram ?? .decoy)
        let hasPlainOnly = tokens.entries.contains { $0.scram == nil }
        let hint = hasPlainOnly ? Self.plainOnly : ""
        let outcome = try admit(acceptance == nil ? nil : entry, session, acceptance?.last, hint: hint)
        guard sendsKey, let acceptance, case .reply(var reply) = outcome, case .ok(let words, let fields) = reply.status
        else { return outcome }
        let key = (Request.Proof.sessionKey, JSON.string(Base64.encode(acceptance.sessionKey)))
        reply.status = .ok(words: words, fields: fields + [key])
        return .reply(reply)
    }

    private static let plainOnly =
        "; a token whose line says sha256: works only with plain auth, until tweakctl token renew replaces it"

    /// Admits a session that has proven a token.
    /// - Parameters:
    ///   - entry: The token; nil if the proof is wrong.
    ///   - signature: The proof that this server knows the token as well.
    ///   - hint: Advice to append to the error, independent of what was shown.
    func admit(
        _ entry: TokenEntry?, _ session: Session, _ signature: String? = nil, hint: String = ""
    ) throws(TweakError) -> Outcome {
        guard let entry, entry.isLive(hooks.wallClock()) else {
            session.credentials.failures += 1
            notify(.authenticationFailed, session)
            let delay = loginThrottle.recordFailure(session.identity.peer.clientKey, hooks.now)
            return .authenticationDelay(
                TweakError(.denied, "the token is wrong, expired or revoked\(hint)"), delay)
        }
        try refuseIfCrowded(entry, session)
        // Showing a token again restores the scopes of it that were dropped.
        session.grants.remove(.token(name: entry.name))
        session.grants.add(entry.scopes, from: .token(name: entry.name))
        hub.update(session)
        session.credentials.tokens.removeAll { $0.name == entry.name }
        session.credentials.tokens.append(entry)
        identify(session)
        apply(.open, session)
        session.dialect.limitRequests(to: limits.lineBytes)
        notify(.authenticated(entry.name), session)
        let words = "token \(entry.name) may \(entry.scopes.isEmpty ? "nothing" : entry.scopes.text)"
        return .reply(
            .ok(
                signature.map { "\($0) \(words)" } ?? words,
                (signature.map { [(Scram.field, .string($0))] } ?? []) + [
                    ("token", .string(entry.name)), ("scopes", entry.scopes.json),
                    ("expires", .text(entry.expires.map(TimeText.seconds))),
                ]))
    }

    /// Derives the session's origin and accounts from its remaining tokens.
    func identify(_ session: Session) {
        let known =
            session.credentials.tokens.last.map { $0.identity.through(session.identity.peer.origin.connection) }
            ?? session.identity.peer.origin
        windows.place(session)
        session.origin = known.named(session.identity.name).inWindow(session.identity.window?.owner ?? 0)
        session.identity.window?.origin = session.origin
        // Each token's account is charged, or the peer's if there is none.
        var accounts = session.credentials.tokens.map { account(of: $0) }
        if accounts.isEmpty { accounts = [account(session.identity.peer.clientKey, limits.commitsPerSecond)] }
        session.accounts.primary = accounts.removeLast()
        session.accounts.others = accounts
    }

    private func account(of token: TokenEntry) -> Account {
        account(
            token.identity.description,
            [token.commitsPerSecond, limits.commitsPerSecond].compactMap(\.self).min())
    }

    private func account(_ name: String, _ commitsPerSecond: Int?) -> Account {
        let account = accounts.account(name, hooks.now)
        if account.commitsPerSecond != commitsPerSecond { account.commitsPerSecond = commitsPerSecond }
        return account
    }

    /// Refuses a token that has as many sessions as a user may have, over all transports.
    private func refuseIfCrowded(_ token: TokenEntry, _ session: Session) throws(TweakError) {
        let account = account(of: token)
        if account === session.account || account.sessions < limits.sessionsPerPeer { return }
        throw .tooMany(
            .sessionsPerPeer, "\(account.sessions) sessions of \(account.name) are open; close one, or raise the limit")
    }

    // MARK: drop

    /// Drops scopes that the session has now; scopes added later are not affected.
    func drop(_ words: [String], _ session: Session) throws(TweakError) -> Reply {
        let scopes = try [TweakScope](words)
        guard session.grants.droppedCount + scopes.count <= limits.scopes else {
            throw .tooMany(
                .scopes, "a session gives up at most \(limits.scopes) scopes; give up a wider one, or connect again")
        }
        let before = session.grants.rights
        session.grants.drop(scopes)
        session.credentials.scopeBytes += words.reduce(0) { $0 + 256 + 2 * $1.utf8.count }
        // A drop without effect is not reported, or an unauthenticated client could fill a log with it.
        if session.grants.rights != before { notify(.dropped(scopes), session) }
        return .ok("may \(session.grants.rights.text)", [("scopes", session.grants.rights.json)])
    }
}

extension Session {
    var personFields: [(String, JSON)] { identity.name.map { [("person", .string($0.text))] } ?? [] }
}

extension Executor {
    /// Requests more scopes. The program's handler runs on another queue, and the session waits for it.
    func request(_ words: [String], _ session: Session) throws(TweakError) -> Outcome {
        let scopes = try [TweakScope](words)
        let missing = scopes.filter { !session.grants.rights.covers($0) }
        if missing.isEmpty { return .reply(granted(scopes)) }
        session.credentials.scopeBytes += words.reduce(0) { $0 + 256 + 2 * $1.utf8.count }
        if session.grants.count >= limits.scopes {
            throw TweakError(.tooMany, "this session has \(limits.scopes) grants already; connect again")
        }
        let given = Rights(hooks.access.grants)
        if missing.allSatisfy(given.covers) {
            notify(.requested(missing), session)
            return .reply(decide(missing, isGranted: true, session))
        }
        if let scope = missing.first(where: session.credentials.scopeRequests.declined.contains) {
            throw TweakError(.denied, "\(scope.token) was declined; the same is not asked again in this session")
        }
        if let waiting = session.credentials.scopeRequests.waiting.first(where: { Set($0.scopes) == Set(missing) }) {
            return .reply(self.waiting(for: waiting.scopes))
        }
        try checkRoom(missing, session)
        notify(.requested(missing), session)
        guard let ask = hooks.access.onRequest else {
            return .reply(decide(missing, isGranted: false, session))
        }
        try refuseIfBusy(session)
        put(missing, session, before: ask)
        return .running()
    }

    private func checkRoom(_ scopes: [TweakScope], _ session: Session) throws(TweakError) {
        if session.credentials.scopeRequests.waiting.count >= limits.scopeRequests {
            throw .tooMany(
                .scopeRequests, "\(limits.scopeRequests) requests of this session are not decided yet; wait for them")
        }
        let known = session.credentials.scopeRequests.declined.count + session.credentials.scopeRequests.granted.count
        if known + scopes.count > limits.scopes {
            throw .tooMany(.scopes, "a session asks for at most \(limits.scopes) scopes; connect again")
        }
    }

    private func put(
        _ scopes: [TweakScope], _ session: Session, before ask: @escaping @Sendable (TweakScopeRequest) -> Void
    ) {
        let id = session.id
        let mailbox = mailbox
        let request = TweakScopeRequest(session.info, scopes) { mailbox.post(.decided(id, $0)) }
        session.credentials.scopeRequests.ask(request)
        requestQueue.async {
            ask(request)
            mailbox.post(.done(id, .next { .reply($0.finishAsking(request, $1)) }))
        }
    }

    /// The reply after the program's handler has returned: a decision, or that it is pending.
    private func finishAsking(_ request: TweakScopeRequest, _ session: Session) -> Reply {
        if !session.isAdmitted { return .error(TweakError(.denied, "the session has ended")) }
        guard session.credentials.scopeRequests.endAsking(request) else {
            return .error(TweakError(.denied, "your rights have changed; request it again"))
        }
        if let isAllowed = request.isAllowed { return decide(request.scopes, isGranted: isAllowed, session) }
        session.credentials.scopeRequests.wait(for: request)
        return waiting(for: request.scopes)
    }

    /// Applies a decision that was pending.
    /// - Returns: The event for the session; nil if the reply to its request carries the decision.
    func finishWaiting(_ request: TweakScopeRequest, _ session: Session) -> Event? {
        guard let isAllowed = request.isAllowed, session.credentials.scopeRequests.end(request) else { return nil }
        _ = decide(request.scopes, isGranted: isAllowed, session)
        return .decided(revision: registry.revision, isGranted: isAllowed, request.scopes)
    }

    private func decide(_ scopes: [TweakScope], isGranted: Bool, _ session: Session) -> Reply {
        session.credentials.scopeRequests.note(scopes, isGranted: isGranted)
        if isGranted {
            session.grants.add(scopes, from: .request)
            hub.update(session)
        }
        notify(isGranted ? .granted(scopes) : .declined(scopes), session)
        return isGranted ? granted(scopes) : .error(TweakError(.denied, "\(scopes.text) declined"))
    }

    private func granted(_ scopes: [TweakScope]) -> Reply {
        .ok("granted \(scopes.text)", [("granted", scopes.json)])
    }

    private func waiting(for scopes: [TweakScope]) -> Reply {
        .ok("waiting \(scopes.text)", [("waiting", scopes.json)])
    }

    // MARK: - Events

    /// Reports a refused change. Denials are reported where they are detected.
    func notifyRefused(_ error: TweakError, _ session: Session) {
        if error.code != .denied, error.code != .authRequired { notify(.refused(error), session) }
    }

    /// Reports that a session lacks the right to run a command on a tweak.
    func notifyDenied(_ error: TweakError, _ command: String, _ session: Session) {
        if error.code == .denied, let path = error.path { notify(.denied(command: command, path: path), session) }
    }
}
