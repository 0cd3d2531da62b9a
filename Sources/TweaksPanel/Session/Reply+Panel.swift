// Adapts replies for HTTP: collects several into one response, and shortens snapshots.

import Tweaks
import TweaksWire

extension Exchange {
    /// Collects a reply if the response includes more than the last one.
    mutating func collectIfShown(_ reply: Reply) {
        switch purpose {
        case .script(let script) where script.output == .all: collect(reply)
        case .events: collect(reply)
        default: break
        }
    }
}

extension Reply {
    /// The reply without fields that have their default values, which halves the size for a thousand tweaks.
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
