// Defines a request: a command and its arguments.

package import Tweaks

/// One parsed request; the server looks up the names in it.
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
        self.command = command
        self.words = words
        self.keywords = keywords
        self.number = number
        self.change = change
        self.lifetime = lifetime
        self.payload = payload
    }

    /// The text at a position; nil beyond the last one.
    package subscript(position: Int) -> String? { position < words.count ? words[position] : nil }

    /// The text of a command that takes one.
    package var word: String { self[0] ?? "" }

    /// The required permission: that of a keyword, or else of the command.
    package var permission: RequiredPermission {
        if keywords.isEmpty { return command.permission }
        let argument = command.entry.arguments.first {
            $0.permission != nil && $0.keywords.contains(where: keywords.contains)
        }
        return argument?.permission ?? command.permission
    }

    /// Whether it has any of the keywords.
    func has(_ some: [Keyword]) -> Bool { some.contains(where: keywords.contains) }

    /// Whether it attempts to change values: then its refusal is an event.
    package var wantsChange: Bool { command.effect != .none && !keywords.contains(.dry) }

    /// The proof of a token.
    package var proof: Proof {
        if case .proof(let proof) = payload { return proof }
        return keywords.contains(.scram) ? .scram(word) : .plain(word)
    }

    /// Content that no line of the protocol can carry.
    package enum Payload: Equatable, Sendable {
        case proof(Proof)
        /// The assignments of a text, and its invalid lines.
        case assignments([AssignmentLines.Assignment], problems: [ConfigProblem])
    }

    /// The way in which a client proves that it has a token.
    package enum Proof: Equatable, Sendable {
        /// The token itself.
        case plain(String)
        /// A SCRAM message, the first or the last one of a client.
        case scram(String)
        /// A complete SCRAM exchange, held by the panel. The reply has the field ``sessionKey``. With a code, the
        /// exchange proves that one in place of a token.
        case exchange(Scram.Server, last: String, code: Code? = nil)
        /// A key id from a sign-in that was verified before: only expiry and revocation are checked.
        case keyID(String)

        /// A code that admits a client as if it had shown a token.
        package struct Code: Equatable, Sendable {
            package let verifier: ScramVerifier
            /// The key id of the token.
            package let keyID: String

            package init(_ verifier: ScramVerifier, keyID: String) {
                self.verifier = verifier
                self.keyID = keyID
            }
        }

        /// A field of a reply that is not sent to the client.
        package static let sessionKey = "sessionKey"
    }

    /// The requested change of one tweak.
    package enum Change: Equatable, Sendable {
        /// A value as a user types it, which may be a sum or have a unit.
        case assign(String)
        /// A value as a program or a file writes it.
        case assignExactly(String)
        /// A JSON value that is not a text, such as a list or null.
        case assignJSON(JSON)
        case add(String)
        case subtract(String)
        case toggle
        /// The word `toggle`: it flips a bool, and is the value of a text or a choice.
        case toggleOrWord
    }
}
