// Handles commands that follow values: watch and unwatch.

import Tweaks
import TweaksWire

extension Executor {
    /// Shows the current values, then an event for each change, without gaps: later commits have a higher sequence than
    /// the snapshot, and earlier ones are not sent again.
    func watch(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        try checkCount(of: subjects(of: request), session)
        if request.words.isEmpty { return try watch(request, [], session) }
        return try sweep(request.words, session) { executor, session, named throws(TweakError) in
            try executor.watch(request, named, session)
        }
    }

    private func watch(
        _ request: Request, _ named: [TweakNode], _ session: Session
    ) throws(TweakError) -> Outcome {
        let subjects = subjects(of: request)
        let known = session.watches.filter { !subjects.contains($0.subject) }
        let view = view(session)
        // The hub first, so that it follows every commit from here on; then the snapshot, which separates old from new.
        let added = subjects.map { Watch($0, view, since: .max) }
        session.watches = known + added
        hub.update(session)
        let snapshot = registry.snapshot()
        session.watches = known + added.map { $0.answered(at: snapshot.sequence) }
        let since = request.number.flatMap { $0 <= snapshot.revision ? $0 : nil }
        let isPlain = known.isEmpty && !request.keywords.contains(.modified)
        if isPlain, since == nil {
            return .reply(watching(named.count, named, snapshot, session))
        }
        let selection = WatchSelection(added: added, all: session.watches, since: since, snapshot: snapshot)
        var count = 0
        let outcome = try sweep(
            .nodes(isPlain ? named : view.listing.nodes), session, patterns: selection.patternCount
        ) { node in
            if selection.counts(node) { count += 1 }
            return selection.shows(node)
        } _: { executor, session, shown in
            .reply(executor.watching(count, shown, snapshot, session))
        }
        if case .sweep(let sweep) = outcome { sweep.isContinuation = true }
        return outcome
    }

    private func watching(
        _ count: Int, _ nodes: [TweakNode], _ snapshot: TweakSnapshot, _ session: Session
    ) -> Reply {
        var reply = lines(nodes, .explained, snapshot, for: session)
        reply.status = .ok(
            words: "rev \(snapshot.revision) watching \(count)",
            fields: [("rev", .count(snapshot.revision)), ("watching", .count(count))])
        return reply
    }

    private func subjects(of request: Request) -> [Watch.Subject] {
        request.words.map(Watch.Subject.pattern) + (request.keywords.contains(.modified) ? [.modified] : [])
    }

    private func checkCount(of subjects: [Watch.Subject], _ session: Session) throws(TweakError) {
        let known = session.watches.count { !subjects.contains($0.subject) }
        if known + subjects.count <= limits.watchPatterns { return }
        throw .tooMany(
            .watchPatterns,
            "a session watches at most \(limits.watchPatterns) patterns; unwatch some, or use a wider one")
    }

    func unwatch(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        let isModified = request.keywords.contains(.modified)
        if let subject = isModified ? Watch.Subject.modified : request[0].map(Watch.Subject.pattern) {
            guard session.watches.contains(where: { $0.subject == subject }) else {
                let list = session.watches.map(\.subject.text).joined(separator: ", ")
                throw TweakError(
                    .unknownTweak,
                    "\(Quoting.excerpt(subject.text)) is not watched; "
                        + (list.isEmpty ? "nothing is" : "watched: \(list)"))
            }
            session.watches.removeAll { $0.subject == subject }
        } else {
            session.watches = []
        }
        hub.update(session)
        if session.watches.isEmpty { return .reply(Self.watching(0)) }
        let selection = WatchSelection(all: session.watches, snapshot: registry.snapshot())
        var count = 0
        return try sweep(.nodes(view(session).listing.nodes), session, patterns: selection.patternCount) { node in
            if selection.counts(node) { count += 1 }
            return false
        } _: { _, _, _ in
            .reply(Self.watching(count))
        }
    }

    private static func watching(_ count: Int) -> Reply { .ok("watching \(count)", [("watching", .count(count))]) }
}
