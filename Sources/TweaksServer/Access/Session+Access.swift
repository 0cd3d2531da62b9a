// A session as others are told of it.

import Tweaks
import TweaksWire

extension Session {
    /// For the program.
    var facts: TweakSession {
        TweakSession(
            id: number, transport: identity.peer.transport, peer: identity.peer.text, userID: identity.peer.userID,
            processID: identity.peer.processID,
            identity: origin, scopes: grants.rights.words, state: credentials.life.state)
    }

    /// The time that a wrong token costs is over.
    func endPenalty() {
        if case .penalty = work { work = .idle }
    }
}

extension Rights {
    /// For one line: what may be done, in words of the protocol.
    var text: String {
        words.isEmpty ? "nothing" : words.map { Quoting.needsQuotes($0) ? Quoting.json($0) : $0 }.joined(separator: " ")
    }

    var json: JSON { .array(words.map(JSON.string)) }
}

extension [TweakScope] {
    /// Scopes from the words of a request.
    init(_ words: [String]) throws(TweakError) {
        self = []
        for word in words {
            let scope = try TweakScope(word)
            if !contains(scope) { append(scope) }
        }
    }

    /// For one line.
    var text: String { map(\.token).joined(separator: " ") }

    var json: JSON { .array(map { .string($0.description) }) }
}
