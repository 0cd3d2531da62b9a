// Windows of browsers: several connections that are one session to people.

import Tweaks
import TweaksWire

/// A window of a browser. It lasts as long as it has a connection. Touched by the I/O thread alone.
final class Window {
    fileprivate let key: Windows.Key
    /// That of its first connection: what `sessions` and `kick` call it.
    let number: UInt64
    /// How many connections it has.
    fileprivate(set) var connections = 0
    /// Who is there, as the last of its connections said that: a name may be given over any of them.
    var origin: TweakOrigin?
    /// How many commits those have made that have ended.
    fileprivate(set) var earlierCommits: UInt64 = 0

    fileprivate init(_ key: Windows.Key, number: UInt64) { (self.key, self.number) = (key, number) }
}

/// The windows of a server.
struct Windows {
    /// What a page says is worth something only together with a token: no one joins the window of another token.
    fileprivate struct Key: Hashable {
        let id: String
        let token: [UInt8]
    }

    private var byKey: [Key: Window] = [:]

    /// Puts a session where it belongs, after its page or its token has become another one.
    mutating func place(_ session: Session) {
        let key = session.identity.windowID.flatMap { id in
            session.credentials.tokens.last.map { Key(id: id, token: $0.digest) }
        }
        if session.identity.window?.key == key { return }
        remove(session)
        guard let key, session.credentials.life.state.reason == nil else { return }
        let window = byKey[key] ?? Window(key, number: session.id.number)
        byKey[key] = window
        window.connections += 1
        session.identity.window = window
    }

    /// Takes a session out of its window.
    mutating func remove(_ session: Session) {
        guard let window = session.identity.window.take() else { return }
        window.connections -= 1
        window.earlierCommits += session.changes.commits
        if window.connections == 0 { byKey[window.key] = nil }
    }

    /// Whether it is one of several in its window.
    func hasOthers(_ session: Session) -> Bool { session.identity.window.map { $0.connections > 1 } ?? false }
}
