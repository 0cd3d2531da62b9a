// What the panel adds to replies.

import Tweaks
import TweaksWire

extension Exchange {
    /// Keeps a reply, where the last one does not stand alone.
    mutating func keepIfShown(_ reply: Reply) {
        switch purpose {
        case .script(let script) where script.shows == .all: keep(reply)
        case .events: keep(reply)
        default: break
        }
    }
}

extension Reply {
    /// The same without what goes without saying: a page that shows a thousand tweaks loads half as much.
    var snapshot: Reply {
        var reply = self
        switch body {
        case .none: break
        case .items(let items): reply.body = .items(items.map(\.brief))
        case .stream(let next): reply.body = .stream { next($0)?.brief }
        }
        if case .ok(let words, let fields) = status {
            let shown = ["rev", "watching", "resumed"]
            reply.status = .ok(words: words, fields: fields.filter { shown.contains($0.0) })
        }
        return reply
    }
}

extension Reply.Item {
    fileprivate var brief: Reply.Item {
        guard case .tweak(var line) = self else { return self }
        line.isBrief = true
        return .tweak(line)
    }
}
