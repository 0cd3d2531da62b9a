// Groups the connections of a browser window into one session for users.

import Tweaks
import TweaksWire

/// A browser window. It exists while it has a connection. Used on the I/O thread only.
final class BrowserWindow {
    fileprivate let key: BrowserWindows.Key
    /// The number of its first connection, used by `sessions` and `kick`.
    let number: UInt64
    /// The number of its connections.
    fileprivate(set) var connections = 0
    /// The identity that its connections reported last: a name may be given over any of them.
    var origin: TweakOrigin?
    /// The number of commits made by its closed connections.
    fileprivate(set) var earlierCommits: UInt64 = 0

    fileprivate init(_ key: BrowserWindows.Key, number: UInt64) { (self.key, self.number) = (key, number) }
}

/// The browser windows of a server.
struct BrowserWindows {
    /// A window's ID counts only together with a token: no client joins the window of another token.
    fileprivate struct Key: Hashable {
        let id: String
        let token: [UInt8]
    }

    private var byKey: [Key: BrowserWindow] = [:]

    /// Assigns a session to its window after its window ID or token has changed.
    mutating func place(_ session: Session) {
        let key = session.identity.windowID.flatMap { id in
            session.credentials.tokens.last.map { Key(id: id, token: $0.digest) }
        }
        if session.identity.window?.key == key { return }
        remove(session)
        guard let key, session.credentials.lifecycle.state.reason == nil else { return }
        let window = byKey[key] ?? BrowserWindow(key, number: session.id.number)
        byKey[key] = window
        window.connections += 1
        session.identity.window = window
    }

    /// Removes a session from its window.
    mutating func remove(_ session: Session) {
        guard let window = session.identity.window.take() else { return }
        window.connections -= 1
        window.earlierCommits += session.changes.commits
        if window.connections == 0 { byKey[window.key] = nil }
    }

    /// Whether its window has other connections.
    func hasOthers(_ session: Session) -> Bool { session.identity.window.map { $0.connections > 1 } ?? false }
}
