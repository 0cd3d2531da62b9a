// The commands auth, whoami and drop; and the steps of a session's life, which the program is told of.

import Tweaks
import TweaksWire

extension Executor {
    /// Takes a step of a session's life, if that is possible, and tells the program.
    @discardableResult func take(_ step: SessionLife.Step, _ session: Session) -> Bool {
        guard session.credentials.life.take(step) else { return false }
        // Another connection of a window that has some is no news.
        if !windows.hasOthers(session) { tell(.state, session) }
        if session.credentials.life.state.reason != nil { windows.remove(session) }
        return true
    }

    /// Takes the name of the person there.
    func takeName(_ text: String?, _ session: Session) throws(TweakError) -> Reply {
        session.identity.name = try text.map { text throws(TweakError) in try PersonName(text) }
        identify(session)
        return .ok(
            session.origin.description,
            [("identity", .string(session.origin.description))] + session.personFields)
    }

    /// Tells the program what happened to a session.
    func tell(_ kind: TweakSessionEvent.Kind, _ session: Session) {
        hooks.onSessionEvent?(TweakSessionEvent(session: session.facts, kind: kind))
    }

    // MARK: auth

    /// Takes a token that is shown, in plain or by a message of SCRAM: its scopes come to what the session has. A wrong
    /// one is answered later, and never says what is wrong with it.
    func authenticate(_ proof: Request.Proof, _ session: Session) throws(TweakError) -> Outcome {
        // An exchange ends with the next step, whatever that is.
        let exchange = session.credentials.exchange.take()
        guard let tokens else {
            throw TweakError(
                .denied, "this process takes no tokens; name a file of them in TWEAKS_TOKEN_FILE, or in the program")
        }
        switch proof {
        case .plain(let token):
            if tokens.refusesPlain { throw Self.plainIsOff }
            return try admit(tokens.entry(for: token), session)
        case .keyID(let id): return try admit(tokens.entry(id: id), session)
        case .exchange(let exchange, let last): return try finish(exchange, last, tokens, session, tellsKey: true)
        case .scram(let message) where message.hasPrefix("c="):
            guard let exchange else {
                throw TweakError(.usage, "auth: there is no challenge to answer; begin with n,,n=KEY-ID,r=NONCE")
            }
            return try finish(exchange, message, tokens, session)
        case .scram(let message):
            let exchange = try Scram.Server(message)
            session.credentials.exchange = exchange
            return .reply(.ok(exchange.challenge, [(Scram.field, .string(exchange.challenge))]))
        }
    }

    private static let plainIsOff = TweakError(
        .denied,
        "auth TOKEN is off here, so that no token crosses the wire; use tweakctl login, or auth \(Scram.mechanism) (RFC 7677)"
    )

    private func finish(
        _ exchange: Scram.Server, _ message: String, _ tokens: TokenTable, _ session: Session, tellsKey: Bool = false
    ) throws(TweakError) -> Outcome {
        let entry = tokens.entry(id: exchange.user)
        let acceptance = try exchange.accept(message, entry?.scram ?? .nobodys)
        let hasPlainOnly = tokens.entries.contains { $0.scram == nil }
        let hint = hasPlainOnly ? Self.plainOnly : ""
        let outcome = try admit(acceptance == nil ? nil : entry, session, acceptance?.last, hint: hint)
        guard tellsKey, let acceptance, case .reply(var reply) = outcome, case .ok(let words, let fields) = reply.status
        else { return outcome }
        let key = (Request.Proof.sessionKey, JSON.string(Base64.encode(acceptance.sessionKey)))
        reply.status = .ok(words: words, fields: fields + [key])
        return .reply(reply)
    }

    private static let plainOnly =
        "; one whose line says sha256: is shown in plain only, until tweakctl token renew makes a new one"

    /// Lets in who has shown the token of an entry.
    /// - Parameters:
    ///   - entry: Nil where what was shown is wrong.
    ///   - signature: What shows that this server knows the token, too.
    ///   - hint: What may help who was turned away, whatever they have shown.
    func admit(
        _ entry: TokenEntry?, _ session: Session, _ signature: String? = nil, hint: String = ""
    ) throws(TweakError) -> Outcome {
        guard let entry, entry.isLive(hooks.wallClock()) else {
            session.credentials.failures += 1
            tell(.authenticationFailed, session)
            let delay = failures.note(session.identity.peer.culprit, hooks.now)
            return .penalty(TweakError(.denied, "that is no token of this process, or it has ended\(hint)"), delay)
        }
        try refuseIfCrowded(entry, session)
        // Shown again, it gives again what was given up of it.
        session.grants.remove(.token(name: entry.name))
        session.grants.add(entry.scopes, from: .token(name: entry.name))
        session.credentials.tokens.removeAll { $0.name == entry.name }
        session.credentials.tokens.append(entry)
        identify(session)
        take(.open, session)
        session.dialect.limitRequests(to: limits.lineBytes)
        tell(.authenticated(entry.name), session)
        let words = "token \(entry.name) may \(entry.scopes.isEmpty ? "nothing" : entry.scopes.text)"
        return .reply(
            .ok(
                signature.map { "\($0) \(words)" } ?? words,
                (signature.map { [(Scram.field, .string($0))] } ?? []) + [
                    ("token", .string(entry.name)), ("scopes", entry.scopes.json),
                    ("expires", .text(entry.expires.map(Self.time))),
                ]))
    }

    /// Whose changes they are, and how many, follows from the tokens that are left.
    func identify(_ session: Session) {
        let known =
            session.credentials.tokens.last.map { $0.identity.through(session.identity.peer.origin.connection) }
            ?? session.identity.peer.origin
        session.origin = known.named(session.identity.name)
        windows.place(session)
        session.identity.window?.origin = session.origin
        // Each of the tokens is charged, and the peer where there is none.
        var accounts = session.credentials.tokens.map { account(of: $0) }
        if accounts.isEmpty { accounts = [account(session.identity.peer.culprit, limits.commitsPerSecond)] }
        session.payer.account = accounts.removeLast()
        session.payer.otherAccounts = accounts
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

    /// A token has as many sessions as a user may have, from wherever they come.
    private func refuseIfCrowded(_ token: TokenEntry, _ session: Session) throws(TweakError) {
        let account = account(of: token)
        if account === session.account || account.sessions < limits.sessionsPerPeer { return }
        throw TweakError(
            .tooMany, "\(account.sessions) sessions of \(account.name) are open; close one, or raise the limit",
            limit: .sessionsPerPeer)
    }

    /// A time of day for people and programs.
    private static func time(_ milliseconds: Int64) -> String { TimeText.seconds(milliseconds) }

    // MARK: whoami

    func whoami(_ session: Session) -> Reply {
        let wishes = session.credentials.wishes
        let waiting = wishes.waiting.flatMap(\.scopes)
        return .facts(
            [
                ("session", .count(session.number)), ("identity", .string(session.origin.description)),
                ("state", .string(session.credentials.life.state.word)),
                ("transport", .string(session.identity.peer.transport.rawValue)),
                ("peer", .string(session.identity.peer.text)), ("scopes", session.grants.rights.json),
                ("tokens", .array(session.credentials.tokens.map(Self.json))), ("granted", wishes.granted.json),
                ("declined", wishes.declined.json), ("waiting", waiting.json),
                ("ageSeconds", .int(age(of: session))), ("watches", .count(session.watches.count)),
                ("commits", .count(session.changes.commits)),
            ] + session.personFields)
    }

    private static func json(_ token: TokenEntry) -> JSON {
        .object([("name", .string(token.name)), ("expires", .text(token.expires.map(time)))])
    }

    /// How many seconds a session is old.
    func age(of session: Session) -> Int64 { Int64((hooks.now - session.connection.openedAt) / .seconds(1)) }

    // MARK: drop

    /// Gives up rights; what comes later is not touched by that.
    func drop(_ words: [String], _ session: Session) throws(TweakError) -> Reply {
        let scopes = try [TweakScope](words)
        guard session.grants.droppedCount + scopes.count <= limits.scopes else {
            throw TweakError(
                .tooMany, "a session gives up at most \(limits.scopes) scopes; give up a wider one, or connect again",
                limit: .scopes)
        }
        let before = session.grants.rights
        session.grants.drop(scopes)
        session.credentials.scopeBytes += words.reduce(0) { $0 + 256 + 2 * $1.utf8.count }
        // What changes nothing is no news, or a stranger could fill a log with it.
        if session.grants.rights != before { tell(.dropped(scopes), session) }
        return .ok("may \(session.grants.rights.text)", [("scopes", session.grants.rights.json)])
    }
}

extension Session {
    /// The name that the person there has given, where there is one.
    var personFields: [(String, JSON)] { identity.name.map { [("person", .string($0.text))] } ?? [] }
}
