// One request that is being carried out, and what has been answered of it so far.

import Tweaks
import TweaksWire

/// From a request to its response.
struct Exchange {
    /// What the replies are for.
    enum Purpose {
        /// It is known without asking.
        case response
        /// A token is looked at before the body is taken, which is long.
        case admission
        /// A token, or the sign-in of a browser, is looked at: the page gets a key, and a new sign-in a cookie.
        case login(SignIn?, keyID: String)
        case script(PanelScript)
        /// Events follow.
        case events
    }

    var framing: HTTPExchange
    var purpose: Purpose
    /// Tells what is looked at.
    var fingerprint: [UInt8]?
    /// The sign-in that a new one takes the place of.
    var replaced: String?
    /// The revision from which the client goes on; nil: it begins.
    var since: UInt64?
    /// A token is looked at first: so the next reply is about that.
    var isAuthenticating = false
    /// How many replies are still to come, the last one included.
    var repliesLeft = 0
    /// What the replies before the last one have said, where that is shown.
    private var fields: [(String, JSON)] = []
    private var items: [Reply.Item] = []
    /// The response has begun, and its rest comes later.
    var stream: HTTPStream?

    init(_ framing: HTTPExchange, _ purpose: Purpose = .response) { (self.framing, self.purpose) = (framing, purpose) }

    /// Keeps what a reply says for the last one.
    mutating func keep(_ reply: Reply) {
        guard case .ok(_, let more) = reply.status else { return }
        for field in more {
            fields.removeAll { $0.0 == field.0 }
            fields.append(field)
        }
        if case .items(let more) = reply.body, !reply.listName.isEmpty { items += more }
    }

    /// The last reply with what was kept.
    func merged(_ reply: Reply) -> Reply {
        guard case .ok(let words, let own) = reply.status, !(fields.isEmpty && items.isEmpty) else { return reply }
        var result = reply
        let names = Set(own.map(\.0))
        result.status = .ok(words: words, fields: fields.filter { !names.contains($0.0) } + own)
        if case .items(let last) = reply.body, !items.isEmpty {
            let all = items + last
            // As long ones are written: part by part, as they are read.
            result.body = .stream { $0 < all.count ? all[$0] : nil }
        }
        return result
    }
}
