// Defines a request: a command and its arguments.

package import Tweaks

/// One request, parsed; what it names is looked up by the server.
package struct Request: Equatable, Sendable {
    package let command: Command
    /// Paths, patterns, names and other texts, in their order.
    package var words: [String]
    package var keywords: [Keyword]
    /// A revision, a count, a session, or a version.
    package var number: UInt64?
    package var change: Change?
    /// How long the change lasts.
    package var lifetime: String?
    package var payload: Payload?

    package init(
        _ command: Command, _ words: [String] = [], _ keywords: [Keyword] = [], number: UInt64? = nil,
        change: Change? = nil, lifetime: String? = nil, payload: Payload? = nil
    ) {
        (self.command, self.words, self.keywords, self.number) = (command, words, keywords, number)
        (self.change, self.lifetime, self.payload) = (change, lifetime, payload)
    }

    /// The text in a place; nil where there are fewer.
    package subscript(position: Int) -> String? { position < words.count ? words[position] : nil }

    /// The text of a command that takes one.
    package var word: String { self[0] ?? "" }

    /// What it takes: as its command says, or one of its keywords.
    package var permission: RequiredPermission {
        if keywords.isEmpty { return command.permission }
        let argument = command.entry.arguments.first {
            $0.permission != nil && $0.keywords.contains(where: keywords.contains)
        }
        return argument?.permission ?? command.permission
    }

    /// Whether it has one of some keywords.
    func has(_ some: [Keyword]) -> Bool { some.contains(where: keywords.contains) }

    /// Whether it is meant to change values: then its refusal is an event.
    package var wantsChange: Bool { command.effect != .none && !keywords.contains(.dry) }

    /// How a token is shown.
    package var proof: Proof {
        if case .proof(let proof) = payload { return proof }
        return keywords.contains(.scram) ? .scram(word) : .plain(word)
    }

    /// What no line of the protocol says.
    package enum Payload: Equatable, Sendable {
        case proof(Proof)
        /// The assignments of a text, and its lines that are no assignments.
        case assignments([AssignmentLines.Assignment], problems: [ConfigProblem])
    }

    /// How a token is shown.
    package enum Proof: Equatable, Sendable {
        /// As it is.
        case plain(String)
        /// By a message of SCRAM, the first or the last one of a client.
        case scram(String)
        /// By a whole exchange that was led elsewhere. The reply has the field ``sessionKey``.
        case exchange(Scram.Server, last: String)
        /// To who keeps the key id for it: nothing is left to be looked at but whether it is still good.
        case keyID(String)

        /// A field of a reply that is not for the client.
        package static let sessionKey = "sessionKey"
    }

    /// What is asked of one tweak.
    package enum Change: Equatable, Sendable {
        /// As a person writes it: also a sum, or with a unit.
        case assign(String)
        /// As a program or a file writes it.
        case assignExactly(String)
        /// As JSON has what is no text, such as a list or null.
        case assignJSON(JSON)
        case add(String)
        case subtract(String)
        case toggle
    }
}
