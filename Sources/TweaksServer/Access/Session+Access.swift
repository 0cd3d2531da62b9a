// Presents a session and its rights to the program and in replies.

import Tweaks
import TweaksWire

extension Session {
    /// The session as the program sees it.
    var info: TweakSession {
        TweakSession(
            id: number, transport: identity.peer.transport, peer: identity.peer.text, userID: identity.peer.userID,
            processID: identity.peer.processID,
            identity: origin, scopes: grants.rights.words, state: credentials.lifecycle.state)
    }

    /// Ends the delay that follows a wrong token.
    func endAuthenticationDelay() {
        if case .authenticationDelay = work { work = .idle }
    }
}

extension Rights {
    /// The rights in protocol syntax, on one line.
    var text: String {
        words.isEmpty ? "nothing" : words.map { Quoting.needsQuotes($0) ? Quoting.json($0) : $0 }.joined(separator: " ")
    }

    var json: JSON { .array(words.map(JSON.string)) }
}

extension [TweakScope] {
    /// Parses the scopes that a request names, without duplicates.
    init(_ words: [String]) throws(TweakError) {
        self = []
        for word in words {
            let scope = try TweakScope(word)
            if !contains(scope) { append(scope) }
        }
    }

    /// The scopes on one line.
    var text: String { map(\.token).joined(separator: " ") }

    var json: JSON { .array(map { .string($0.description) }) }
}
