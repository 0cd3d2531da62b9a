// Handles the command sessions: lists the connected clients.

import Tweaks
import TweaksWire

extension Executor {
    /// Lists all sessions that have not ended, oldest first; a window's connections count as one.
    func list(_ sessions: [Session], for own: Session) -> Reply {
        let living = sessions.filter { $0.credentials.lifecycle.state.reason == nil }
            .sorted { $0.id.number < $1.id.number }
        let entries = Dictionary(grouping: living, by: \.number).sorted { $0.key < $1.key }
        return .rows("sessions", entries.map { ([line($0.value, own)], json($0.value, own)) })
    }

    /// - Parameter connections: At least one, oldest first.
    private func line(_ connections: [Session], _ own: Session) -> String {
        let session = connections[0]
        let parts = [
            session.shownOrigin.description, session.identity.peer.text, session.identity.peer.transport.rawValue,
            session.credentials.lifecycle.state.word,
            "may \(session.grants.rights.text)", "watches \(connections.sum(\.watches.count))",
            "commits \(commits(connections))", "unsent \(connections.sum { $0.output.count })",
            TweakValue.duration(.seconds(age(of: session))).text + " old",
        ]
        return "\(session.number == own.number ? "→" : " ") \(session.number)  \(parts.joined(separator: ", "))"
    }

    func json(_ connections: [Session], _ own: Session) -> JSON {
        let session = connections[0]
        return .object(
            [
                ("session", .count(session.number)), ("identity", .string(session.shownOrigin.description)),
                ("state", .string(session.credentials.lifecycle.state.word)),
                ("transport", .string(session.identity.peer.transport.rawValue)),
                ("peer", .string(session.identity.peer.text)),
                ("scopes", session.grants.rights.json), ("watches", .count(connections.sum(\.watches.count))),
                ("commits", .count(commits(connections))), ("unsentBytes", .count(connections.sum { $0.output.count })),
                ("ageSeconds", .int(age(of: session))), ("own", .bool(session.number == own.number)),
            ] + (session.shownOrigin.name.map { [("person", .string($0))] } ?? []))
    }

    private func commits(_ connections: [Session]) -> UInt64 {
        connections.reduce(connections[0].identity.window?.earlierCommits ?? 0) { $0 + $1.changes.commits }
    }
}

extension Session {
    /// The origin to display: that of its window, if it has one.
    fileprivate var shownOrigin: TweakOrigin { identity.window?.origin ?? origin }
}

extension [Session] {
    fileprivate func sum(_ count: (Session) -> Int) -> Int { reduce(0) { $0 + count($1) } }
}
