// The command sessions: who is connected.

import Tweaks
import TweaksWire

extension Executor {
    /// All that have not ended, by age.
    func list(_ sessions: [Session], for own: Session) -> Reply {
        let living = sessions.filter { $0.life.state.reason == nil }.sorted { $0.id.number < $1.id.number }
        return .rows("sessions", living.map { ([line($0, own)], json($0, own)) })
    }

    private func line(_ session: Session, _ own: Session) -> String {
        let parts = [
            session.origin.description, session.peer.text, session.peer.transport.rawValue, session.life.state.word,
            "may \(session.grants.rights.text)", "watches \(session.watches.count)", "commits \(session.commits)",
            "unsent \(session.output.count)", TweakValue.duration(.seconds(age(of: session))).text + " old",
        ]
        return "\(session === own ? "→" : " ") \(session.id.number)  \(parts.joined(separator: ", "))"
    }

    private func json(_ session: Session, _ own: Session) -> JSON {
        .object([
            ("session", .count(session.id.number)), ("identity", .string(session.origin.description)),
            ("state", .string(session.life.state.word)), ("transport", .string(session.peer.transport.rawValue)),
            ("peer", .string(session.peer.text)), ("scopes", session.grants.rights.json),
            ("watches", .count(session.watches.count)), ("commits", .count(session.commits)),
            ("unsentBytes", .count(session.output.count)), ("ageSeconds", .int(age(of: session))),
            ("own", .bool(session === own)),
        ])
    }
}
