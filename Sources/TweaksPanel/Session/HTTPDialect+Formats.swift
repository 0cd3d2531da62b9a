// Writes replies in the formats of other projects: metrics of Prometheus, flags of OpenFeature.

import Tweaks
import TweaksServer
import TweaksWire

extension HTTPDialect {
    /// The reply to `stats`, with the figures of the listing before it, as metrics.
    func metrics(_ stats: Reply, _ format: MetricsFormat) -> Reply {
        let listing = exchange?.listing ?? stats
        let readiness = readiness
        var fields: [(String, JSON)] = []
        if case .ok(_, let all) = stats.status { fields = all }
        var reply = listing
        reply.status = .ok(words: "", fields: [])
        reply.body = .stream { [fields] position in
            var text = MetricsText(format)
            if position == 0 {
                text.begin(readiness)
            } else if let item = listing.body.item(position - 1) {
                if case .tweak(let line) = item { text.add(line.node, line.value) }
            } else if position == 1 || listing.body.item(position - 2) != nil {
                text.add(stats: fields)
                text.end()
            } else {
                return nil
            }
            return .bytes(text.bytes)
        }
        return reply
    }

    /// Writes the flag with a key.
    func writeFlag(_ key: String, _ reply: Reply, _ bytes: inout [UInt8]) {
        let none =
            Quoting.excerpt(key) + " is no flag; write the whole path of a tweak that has a value and is no secret"
        write(OFREP.flag(key, in: reply).map { OFREP.response($0) } ?? OFREP.unknown(key, none), &bytes)
    }

    /// Collects a slice of all flags: the head of the response has their tag. Writes the response after the last one.
    func collectFlags(
        _ rest: ReplyEncoder.Remainder, budget: Int, known: String?, to bytes: inout [UInt8]
    ) -> ReplyEncoder.Remainder? {
        // Taken out, so that nothing is copied.
        guard var flags = exchange?.collected.take() else { return nil }
        let more = Self.file.append(rest, budget: budget, to: &flags.bytes)
        flags.note()
        if let more {
            exchange?.collected = flags
            return more
        }
        write(flags.response(unless: known), &bytes)
        return nil
    }
}
