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
        var added = subjects.map { Watch($0, view, since: .max) }
        session.watches = known + added
        hub.update(session)
        let snapshot = registry.snapshot()
        for index in added.indices { added[index].since = snapshot.sequence }
        session.watches = known + added
        let since = request.number.flatMap { $0 <= snapshot.revision ? $0 : nil }
        let isPlain = known.isEmpty && !request.keywords.contains(.modified)
        if isPlain, since == nil {
            return .reply(watching(named.count, showing: named, of: snapshot, session))
        }
        let selection = WatchSelection(added: added, all: session.watches, since: since, snapshot: snapshot)
        var count = 0
        let outcome = try sweep(
            .nodes(isPlain ? named : view.listing.nodes), session, patterns: selection.patternCount
        ) { node in
            if selection.counts(node) { count += 1 }
            return selection.shows(node)
        } _: { executor, session, shown in
            .reply(executor.watching(count, showing: shown, of: snapshot, session))
        }
        if case .sweep(let sweep) = outcome { sweep.isContinuation = true }
        return outcome
    }

    private func watching(
        _ count: Int, showing nodes: [TweakNode], of snapshot: TweakSnapshot, _ session: Session
    ) -> Reply {
        var reply = lines(nodes, .explained, snapshot, for: session)
        reply.status = .ok(
            words: "rev \(snapshot.revision) watching \(count)",
            fields: [("rev", .count(snapshot.revision)), ("watching", .count(count))])
        return reply
    }

    private func subjects(of request: Request) -> [Watch.Subject] {
        request.words.map(Watch.Subject.init(pattern:)) + (request.keywords.contains(.modified) ? [.modified] : [])
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
        if let subject = isModified ? Watch.Subject.modified : request[0].map(Watch.Subject.init(pattern:)) {
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

/// Selects the tweaks that the reply to `watch` shows and counts.
struct WatchSelection {
    var added: [Watch] = []
    let all: [Watch]
    /// The revision from which the client resumes; nil if it has seen no values.
    var since: UInt64?
    let snapshot: TweakSnapshot

    /// The number of patterns to which each tweak is compared.
    var patternCount: Int { added.count + all.count }

    /// Whether the reply shows a tweak.
    ///
    /// A client that resumes from an earlier revision also needs the tweaks that stopped being modified since.
    func shows(_ node: TweakNode) -> Bool {
        guard let since else { return names(node, added) { snapshot.isModified(node) } }
        // Figures change without a revision, so the time of their change is unknown.
        let isNew = node.definition.flags.contains(.readOnly) || snapshot.changedAt(node) > since
        return isNew && names(node, added) { node.isSettable }
    }

    func counts(_ node: TweakNode) -> Bool { names(node, all) { snapshot.isModified(node) } }

    private func names(_ node: TweakNode, _ watches: [Watch], _ isModified: () -> Bool) -> Bool {
        watches.contains { $0.subject == .modified ? isModified() : $0.matches(node) }
    }
}
