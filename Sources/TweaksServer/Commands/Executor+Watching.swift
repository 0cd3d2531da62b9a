// Commands that follow values: watch and unwatch.

import Tweaks
import TweaksWire

extension Executor {
    /// The values now, then an event for each change, with nothing lost in between: what is committed after the
    /// snapshot has a higher revision, and what is below it is not sent again.
    func watch(_ patterns: [String], since: UInt64?, _ session: Session) throws(TweakError) -> Reply {
        let known = session.watches.filter { !patterns.contains($0.text) }
        if known.count + patterns.count > limits.watchPatterns {
            throw TweakError(
                .tooMany, "a session watches at most \(limits.watchPatterns) patterns; unwatch some, or use a wider one"
            )
        }
        var nodes = try resolve(patterns)
        // The hub first: from here on every commit is noted. Then the snapshot, which tells old from new.
        session.watches = known + patterns.map { Watch($0, registry: registry, since: .max) }
        hub.update(session)
        let snapshot = registry.snapshot()
        session.watches = known + patterns.map { Watch($0, registry: registry, since: snapshot.revision) }
        if let since, since <= snapshot.revision { nodes = nodes.filter { snapshot.changedAt($0) > since } }
        let count = watchedCount(session)
        var reply = lines(nodes, .explained, snapshot)
        reply.status = .ok(
            words: "rev \(snapshot.revision) watching \(count)",
            fields: [("rev", .count(snapshot.revision)), ("watching", .count(count))])
        return reply
    }

    func unwatch(_ pattern: String?, _ session: Session) throws(TweakError) -> Reply {
        if let pattern {
            guard session.watches.contains(where: { $0.text == pattern }) else {
                let list = session.watches.map(\.text).joined(separator: ", ")
                throw TweakError(
                    .unknownTweak,
                    "\(Quoting.excerpt(pattern)) is not watched; \(list.isEmpty ? "nothing is" : "watched: \(list)")")
            }
            session.watches.removeAll { $0.text == pattern }
        } else {
            session.watches = []
        }
        hub.update(session)
        let count = watchedCount(session)
        return .ok("watching \(count)", [("watching", .count(count))])
    }

    private func watchedCount(_ session: Session) -> Int {
        if session.watches.isEmpty { return 0 }
        return registry.listing().nodes.count { node in session.watches.contains { $0.matches(node.path) } }
    }
}

extension Watch {
    fileprivate init(_ text: String, registry: TweakRegistry, since: UInt64) {
        self.text = text
        path = registry[text]?.path
        pattern = TweakPattern(text)
        self.since = since
    }
}

extension Sequence {
    fileprivate func count(where matches: (Element) -> Bool) -> Int { reduce(0) { matches($1) ? $0 + 1 : $0 } }
}
