// Tracks one HTTP request until its response is complete.

import Tweaks
import TweaksWire

/// An HTTP request in progress, with the replies received so far. Its many fields are copied nowhere.
final class Exchange {
    /// How the replies are used.
    enum Purpose {
        /// The response is known without a reply.
        case response
        /// A token is verified before a long body is accepted.
        case bodyAdmission
        /// A token or a browser's sign-in is verified: the page gets a key, and a new sign-in a cookie.
        case login(Login)
        case script(PanelScript)
        /// Events follow.
        case events
    }

    /// A sign-in whose last message is verified.
    struct Login {
        /// The sign-in that was proven; nil for a new one.
        var known: SignIn?
        /// The key id of the token.
        var keyID: String
        /// The code that is shown in place of a token.
        var code: Request.Proof.Code?
        /// The sign-in that a new one replaces.
        var replaced: String?
        /// A text made for this proof, by which the page gets the key of open pages; nil if it has that key.
        var exchange: String?
    }

    var framing: ResponseFraming
    var purpose: Purpose
    /// The fingerprint of the credential that is being verified.
    var fingerprint: [UInt8]?
    /// The revision from which the client resumes; nil for a new stream.
    var resumeRevision: UInt64?
    /// The next reply is the result of authentication.
    var isAuthenticating = false
    /// The number of outstanding replies, including the last one.
    var repliesLeft = 0
    /// Fields and items of the replies before the last one, where the response includes them.
    private var fields: [(String, JSON)] = []
    private var items: [Reply.Item] = []
    /// Set once a response of unknown length has begun.
    var stream: ResponseFraming?
    /// The reply to `get`, where the one to `stats` follows.
    private(set) var listing: Reply?
    /// The flags so far, where the head of the response depends on all of them.
    var collected: OFREP.Flags?

    init(_ framing: ResponseFraming, _ purpose: Purpose = .response) {
        self.framing = framing
        self.purpose = purpose
    }

    /// The output of a script.
    var output: PanelScript.Output? { if case .script(let script) = purpose { script.output } else { nil } }

    /// Whether the response includes more than the last reply.
    private var showsAll: Bool {
        switch purpose {
        case .script(let script): script.output == .all
        case .events: true
        default: false
        }
    }

    /// Collects the fields and items of a reply, if the response includes them.
    func collect(_ reply: Reply) {
        if case .metrics? = output { listing = reply }
        guard showsAll, case .ok(_, let more) = reply.status else { return }
        for field in more {
            fields.removeAll { $0.0 == field.0 }
            fields.append(field)
        }
        if case .items(let more) = reply.body, !reply.listName.isEmpty { items += more }
    }

    /// The last reply, merged with the collected fields and items.
    func merged(_ reply: Reply) -> Reply {
        guard case .ok(let words, let own) = reply.status, !(fields.isEmpty && items.isEmpty) else { return reply }
        var result = reply
        let names = Set(own.map(\.0))
        result.status = .ok(words: words, fields: fields.filter { !names.contains($0.0) } + own)
        if case .items(let last) = reply.body, !items.isEmpty {
            let all = items + last
            // As a stream, so that a long list is written in parts as the client reads it.
            result.body = .stream { $0 < all.count ? all[$0] : nil }
        }
        return result
    }
}
