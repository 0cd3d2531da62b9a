// A session as others are told of it.

import Tweaks
import TweaksWire

extension Session {
    /// For the program.
    var facts: TweakSession {
        TweakSession(
            id: number, transport: peer.transport, peer: peer.text, userID: peer.userID, processID: peer.processID,
            identity: origin, scopes: grants.rights.words, state: life.state)
    }

    /// Puts an error in the place of what was read for this session and not sent yet.
    func withhold(_ error: TweakError) {
        owed.withhold(error)
        guard let rest = remainder else { return }
        remainder = nil
        output.append { bytes in
            if let dialect { dialect.cut(rest, error, to: &bytes) } else { encoder.cut(rest, error, to: &bytes) }
        }
        if isOpen { sendPrompt() }
    }

    /// The time that a wrong token costs is over.
    func endPenalty() {
        guard penalty != nil else { return }
        (penalty, isAwaitingAction) = (nil, false)
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
