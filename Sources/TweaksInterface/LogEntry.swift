// Describes one line of the log: its text, and its facts for programs that read it.

package import Tweaks

/// One line of a log. The text is for people; `event` and the facts are for programs, and keep their names.
package struct LogEntry: Sendable {
    /// A word for the kind of event: `changed`.
    package let event: String
    /// The line as text; nothing in it needs escaping for a terminal.
    package let message: String
    /// What it is about, without secret values.
    package let facts: [(String, JSON)]

    package init(_ event: String, _ message: String, _ facts: [(String, JSON)] = []) {
        self.event = event
        // Names of files and variables can have any characters.
        self.message = Quoting.sanitized(message)
        self.facts = facts
    }
}

extension LogEntry {
    /// The maximum length of a text, for values of up to 64 kB. Scalars are counted, of which one character can have
    /// thousands. The middle is cut, because in a line the origin and the revision are at the end.
    private static let maxLength = 1_000

    /// The text with its middle cut out if it is long.
    static func cut(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let excess = scalars.count - maxLength
        if excess <= 0 { return text }
        let head = scalars.prefix(maxLength * 2 / 3)
        let tail = scalars.suffix(maxLength / 3)
        return "\(Substring(head)) … \(excess) more … \(Substring(tail))"
    }

    /// The values of a change, which a secret does not have.
    static func values(_ old: TweakValue, _ new: TweakValue, isSecret: Bool) -> [(String, JSON)] {
        isSecret ? [("secret", .bool(true))] : [("old", value(old)), ("new", value(new))]
    }

    /// A value; of a long one its shortened text.
    static func value(_ value: TweakValue) -> JSON {
        let text = value.text
        return text.utf8.count > maxLength ? .string(cut(text)) : value.json
    }

    /// The line that stands for further ones.
    static func more(_ event: String, _ count: Int, _ facts: [(String, JSON)]) -> [LogEntry] {
        count > 0 ? [LogEntry(event, "… and \(count) more", facts + [("more", .count(count))])] : []
    }
}

extension TweakSessionEvent {
    /// The entry of the log; nil for events that are not logged, such as an opening session.
    var entry: LogEntry? {
        guard let line, let (word, facts) = facts else { return nil }
        let session: [(String, JSON)] = [
            ("session", .count(session.id)), ("by", .string(session.identity.description)),
            ("peer", .string(session.peer)),
        ]
        return LogEntry(word, line, session + facts)
    }

    /// The word for the event, and what only this event has.
    private var facts: (event: String, facts: [(String, JSON)])? {
        switch kind {
        case .state: stateFacts
        case .authenticated(let token): ("authenticated", [("token", .string(token))])
        case .authenticationFailed: ("authenticationFailed", [])
        case .denied(let command, let path):
            ("denied", [("command", .string(command))] + (path.map { [("path", .string($0.joined))] } ?? []))
        case .refused: nil
        case .requested(let scopes): ("requested", Self.facts(scopes))
        case .granted(let scopes): ("granted", Self.facts(scopes))
        case .declined(let scopes): ("declined", Self.facts(scopes))
        case .dropped(let scopes): ("dropped", Self.facts(scopes))
        case .revoked: ("revoked", [("scopes", .array(session.scopes.map { .string($0) }))])
        case .kicked(let number): ("kicked", [("of", .count(number))])
        }
    }

    private var stateFacts: (event: String, facts: [(String, JSON)])? {
        switch session.state {
        case .created, .opening: nil
        case .open: ("sessionOpened", [])
        case .closed(let reason): ("sessionClosed", [("reason", .string(reason.rawValue))])
        case .failed(let reason): ("sessionFailed", [("reason", .string(reason.rawValue))])
        }
    }

    private static func facts(_ scopes: [TweakScope]) -> [(String, JSON)] {
        [("scopes", .array(scopes.map { .string($0.token) }))]
    }
}
