// The commands auth, whoami and drop; and the steps of a session's life, which the program is told of.

import Foundation
import Tweaks
import TweaksWire

extension Executor {
    /// Takes a step of a session's life, if that is possible, and tells the program.
    @discardableResult func take(_ step: SessionLife.Step, _ session: Session) -> Bool {
        guard session.life.take(step) else { return false }
        tell(.state, session)
        return true
    }

    /// Tells the program what happened to a session.
    func tell(_ kind: TweakSessionEvent.Kind, _ session: Session) {
        hooks.onSessionEvent?(TweakSessionEvent(session: session.facts, kind: kind))
    }

    // MARK: auth

    /// Shows a token: its scopes come to what the session has. A wrong one is answered later, and never says what is
    /// wrong with it.
    func authenticate(_ token: String, _ session: Session) throws(TweakError) -> Outcome {
        guard let tokens else {
            throw TweakError(
                .denied, "this process takes no tokens; name a file of them in TWEAKS_TOKEN_FILE, or in the program")
        }
        guard let entry = tokens.entry(for: token), entry.isLive(hooks.wallClock()) else {
            session.failures += 1
            tell(.authenticationFailed, session)
            let delay = failures.note(session.peer.culprit, hooks.clock())
            return .penalty(TweakError(.denied, "that is no token of this process, or it has ended"), delay)
        }
        // Shown again, it gives again what was given up of it.
        session.grants.remove(.token(name: entry.name))
        session.grants.add(entry.scopes, from: .token(name: entry.name))
        session.tokens.removeAll { $0.name == entry.name }
        session.tokens.append(entry)
        identify(session)
        take(.open, session)
        session.reader.limit = limits.lineBytes
        tell(.authenticated(entry.name), session)
        return .reply(
            .ok(
                "token \(entry.name) may \(entry.scopes.isEmpty ? "nothing" : entry.scopes.text)",
                [
                    ("token", .string(entry.name)), ("scopes", entry.scopes.json),
                    ("expires", .text(entry.expires.map(Self.time))),
                ]))
    }

    /// Whose changes they are, and how many, follows from the tokens that are left.
    func identify(_ session: Session) {
        session.origin =
            session.tokens.last.map { $0.identity.through(session.peer.origin.connection) }
            ?? session.peer.origin
        let rates = session.tokens.compactMap(\.commitsPerSecond) + [limits.commitsPerSecond].compactMap(\.self)
        guard let rate = rates.min() else { return session.budget = nil }
        if session.budget == nil { session.budget = CommitBudget(perSecond: rate) }
        if session.budget?.perSecond != rate { session.budget?.change(perSecond: rate) }
    }

    /// A time of day for people and programs.
    private static func time(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
    }

    // MARK: whoami

    func whoami(_ session: Session) -> Reply {
        let wishes = session.wishes
        let waiting = wishes.waiting.flatMap(\.scopes)
        return .facts([
            ("session", .count(session.id.number)), ("identity", .string(session.origin.description)),
            ("state", .string(session.life.state.word)), ("transport", .string(session.peer.transport.rawValue)),
            ("peer", .string(session.peer.text)), ("scopes", session.grants.rights.json),
            ("tokens", .array(session.tokens.map(Self.json))), ("granted", wishes.granted.json),
            ("declined", wishes.declined.json), ("waiting", waiting.json),
            ("ageSeconds", .int(age(of: session))), ("watches", .count(session.watches.count)),
            ("commits", .count(session.commits)),
        ])
    }

    private static func json(_ token: TokenEntry) -> JSON {
        .object([("name", .string(token.name)), ("expires", .text(token.expires.map(time)))])
    }

    /// How many seconds a session is old.
    func age(of session: Session) -> Int64 { Int64((hooks.clock() - session.openedAt) / .seconds(1)) }

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
        // What changes nothing is no news, or a stranger could fill a log with it.
        if session.grants.rights != before { tell(.dropped(scopes), session) }
        return .ok("may \(session.grants.rights.text)", [("scopes", session.grants.rights.json)])
    }
}
