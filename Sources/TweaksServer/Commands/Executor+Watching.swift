// Handles commands that follow values: watch and unwatch.

import Tweaks
import TweaksWire

extension Executor {
    /// Shows the current values, then an event for each change, without gaps: later commits have a higher sequence than
    /// the snapshot, and earlier ones are not sent again.
    func watch(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        try checkCount(of: subjects(of: request), session)
        if request.words.isEmpty { return .reply(try watch(request, [], session)) }
        return try sweep(request.words, session) { executor, session, named throws(TweakError) in
            .reply(try executor.watch(request, named, session))
        }
    }

    private func watch(
        _ request: Request, _ named: [TweakNode], _ session: Session
    ) throws(TweakError) -> Reply {
        let since = request.number
        let modified = request.keywords.contains(.modified)
        let subjects = subjects(of: request)
        let known = session.watches.filter { !subjects.contains($0.subject) }
        let view = view(session)
        // The hub first, so that it follows every commit from here on; then the snapshot, which separates old from new.
        let added = subjects.map { Watch($0, view, since: .max) }
        session.watches = known + added
        hub.update(session)
        let snapshot = registry.snapshot()
        session.watches = known + added.map { $0.answered(at: snapshot.sequence) }
        let isResumed = since.map { $0 <= snapshot.revision } ?? false
        var nodes = modified ? withModified(named, snapshot, view, isResumed: isResumed) : named
        if let since, isResumed {
            // Figures change without a revision, so the time of their change is unknown.
            nodes = nodes.filter { $0.definition.flags.contains(.readOnly) || snapshot.changedAt($0) > since }
        }
        let isFirst = known.isEmpty && !modified
        let count = isFirst ? named.count : watchedCount(session, snapshot)
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
        throw TweakError(
            .tooMany, "a session watches at most \(limits.watchPatterns) patterns; unwatch some, or use a wider one",
            limit: .watchPatterns)
    }

    /// The named tweaks and the modified ones, in listing order.
    ///
    /// A client that resumes from an earlier revision also needs the tweaks that stopped being modified since.
    private func withModified(
        _ named: [TweakNode], _ snapshot: TweakSnapshot, _ view: TweakView, isResumed: Bool
    ) -> [TweakNode] {
        let named = Set(named.map { ObjectIdentifier($0) })
        return view.listing.nodes.filter { node in
            named.contains(ObjectIdentifier(node)) || (isResumed ? node.isSettable : snapshot.isModified(node))
        }
    }

    func unwatch(_ request: Request, _ session: Session) throws(TweakError) -> Reply {
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
        let count = watchedCount(session, registry.snapshot())
        return .ok("watching \(count)", [("watching", .count(count))])
    }

    private func watchedCount(_ session: Session, _ snapshot: TweakSnapshot) -> Int {
        if session.watches.isEmpty { return 0 }
        let patterns = session.watches.compactMap(\.pattern)
        let view = view(session)
        let single = session.watches.compactMap { $0.path.flatMap { view[$0.joined] } }
        let named = view.listing.nodes(
            matching: patterns, and: Set(single.map { ObjectIdentifier($0.node) })
        ).nodes
        let watchesModified = session.watches.contains { $0.subject == .modified }
        return watchesModified ? withModified(named, snapshot, view, isResumed: false).count : named.count
    }
}
