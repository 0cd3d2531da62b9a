// Commands that change values: set and assignment, check, reset, and batches.

import Tweaks
import TweaksWire

extension Executor {
    func set(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        let node = try lookUp(request.word, session).node
        try require(.write, node, session)
        let change = try node.change(request.change)
        let duration = try request.lifetime.map { text throws(TweakError) in try Self.lifetime(text, node) }
        if session.batch != nil { return .reply(try queue([(node, change)], for: duration, session)) }
        var batch = TweakBatch()
        batch.append(node, change, for: duration)
        return try commit(Proposal(batch, nodes: [node]), session)
    }

    private static func lifetime(_ text: String, _ node: TweakNode) throws(TweakError) -> Duration {
        if let nanoseconds = DurationText.parse(text) { return .nanoseconds(nanoseconds) }
        throw TweakError(
            .badValue, "\(node.path.token): \(Quoting.excerpt(text)) is not a duration; write 90s, 10m or 1h30m",
            path: node.path)
    }

    /// Makes temporary overrides permanent. Skips tweaks without one, except a single named tweak, which is an error.
    func keep(_ patterns: [String], _ session: Session) throws(TweakError) -> Outcome {
        try sweep(patterns, session) { executor, session, nodes throws(TweakError) in
            try executor.keep(nodes, session)
        }
    }

    private func keep(_ nodes: [TweakNode], _ session: Session) throws(TweakError) -> Outcome {
        let nodes = try writable(nodes, session)
        let temporary = nodes.count == 1 ? nodes : nodes.filter { registry.timeLeft($0) != nil }
        if temporary.isEmpty {
            throw TweakError(.conflict, "none of these \(nodes.count) tweaks has a temporary override to keep")
        }
        if session.batch != nil { return .reply(try queue(temporary.map { ($0, .keep) }, session)) }
        var batch = TweakBatch()
        for node in temporary { batch.append(node, .keep) }
        return try commit(Proposal(batch, nodes: temporary), session)
    }

    func check(_ request: Request, _ session: Session) throws(TweakError) -> Reply {
        let node = try lookUp(request.word, session).node
        try require(.write, node, session)
        var batch = TweakBatch()
        batch.append(node, try node.change(request.change))
        guard let forecast = try registry.forecast(batch).first else { return .ok() }
        let line = TweakLine(node, forecast.new, .was(forecast.old, forecast.adjustment))
        return .revision(registry.revision, "checked", .items([.tweak(line)]))
    }

    func reset(_ patterns: [String], _ session: Session) throws(TweakError) -> Outcome {
        if let reply = try resetPendingOverride(patterns, session) { return .reply(reply) }
        return try sweep(patterns, session) { executor, session, nodes throws(TweakError) in
            try executor.reset(nodes, session)
        }
    }

    private func reset(_ nodes: [TweakNode], _ session: Session) throws(TweakError) -> Outcome {
        let nodes = try writable(nodes, session)
        // A pattern skips figures and actions; naming one is an error.
        if nodes.count == 1, !nodes[0].isSettable { throw nodes[0].notSettable }
        let settable = nodes.filter(\.isSettable)
        if session.batch != nil { return .reply(try queue(settable.map { ($0, .reset) }, session)) }
        var batch = TweakBatch()
        for node in settable { batch.append(node, .reset) }
        return try commit(Proposal(batch, nodes: settable), session)
    }

    /// Resets a stored override whose path has no tweak.
    private func resetPendingOverride(_ patterns: [String], _ session: Session) throws(TweakError) -> Reply? {
        let view = view(session)
        guard patterns.count == 1, session.batch == nil, view[patterns[0]] == nil,
            let path = try? TweakPath(patterns[0]), view.canSee(path)
        else { return nil }
        if !session.may(.write, path) {
            if registry.pendingEntries(path).isEmpty { return nil }
            throw session.grants.rights.denied(.write, path)
        }
        guard let revision = registry.forgetPendingOverride(path) else { return nil }
        return awaiting(.revision(revision), revision, session)
    }

    /// Reports a commit: the new and old value of each tweak.
    func report(
        _ result: TweakCommitResult, _ nodes: [TweakNode], _ note: (words: String, fields: [(String, JSON)])
    ) -> Reply {
        if !result.didStore { return unchanged(result.revision, note) }
        let byPath = Dictionary(nodes.map { ($0.path, $0) }) { first, _ in first }
        let items = result.outcomes.filter(\.didStore).compactMap { outcome in
            byPath[outcome.path].map { line($0, outcome) }
        }
        var reply = Reply.revision(result.revision, note.words)
        reply.list(items)
        if case .ok(let words, let fields) = reply.status {
            reply.status = .ok(words: words, fields: fields + note.fields)
        }
        return reply
    }

    private func line(_ node: TweakNode, _ outcome: TweakOutcome) -> Reply.Item {
        .tweak(TweakLine(node, outcome.new, .was(outcome.old, outcome.adjustment), timeLeft: outcome.lifetime))
    }

    func unchanged(_ revision: UInt64, _ note: (words: String, fields: [(String, JSON)]) = ("", [])) -> Reply {
        let words = "rev \(revision) unchanged\(note.words.isEmpty ? "" : " \(note.words)")"
        return Reply(
            .ok(words: words, fields: [("rev", .count(revision)), ("unchanged", .bool(true))] + note.fields))
    }

    // MARK: Batches

    func begin(_ revision: UInt64?, _ session: Session) throws(TweakError) -> Reply {
        if session.batch != nil {
            throw TweakError(.usage, "a batch is open already; commit or abort it first")
        }
        session.batch = PendingBatch(revision: revision)
        return .revision(registry.revision)
    }

    private func queue(
        _ changes: [(TweakNode, TweakBatch.Change)], for lifetime: Duration? = nil, _ session: Session
    ) throws(TweakError) -> Reply {
        var understood: [String] = []
        for (node, change) in changes {
            let words = try session.batch?.append(
                node, change, for: lifetime, registry: registry, limit: limits.batchChanges)
            // An interactive user sees what the commit will do; a program knows what it has sent.
            if session.isInteractive, understood.count < Self.maxEchoes, let words { understood.append(words) }
        }
        var reply = Reply.ok("queued", [("queued", .bool(true))])
        if session.isInteractive, !session.encoder.isJSON {
            if changes.count > understood.count { understood.append("and \(changes.count - understood.count) more") }
            reply.list(understood.map { .row(lines: [$0], json: .string($0)) })
        }
        return reply
    }

    /// The maximum number of changes of one line to echo.
    private static let maxEchoes = 20

    func commit(_ session: Session) throws(TweakError) -> Outcome {
        guard let batch = session.batch else { throw noBatch("commit") }
        session.batch = nil
        do throws(TweakError) {
            if let failure = batch.failure { throw failure }
            return try commit(Proposal(batch.changes, nodes: batch.nodes, ifUnchangedSince: batch.revision), session)
        } catch {
            if error.leavesBatchOpen { session.batch = batch }
            // A program knows that a batch is atomic, and may compare error texts.
            if !session.isInteractive { throw error }
            throw error.adding(
                "nothing has changed, and the batch is \(error.leavesBatchOpen ? "still open" : "closed")")
        }
    }

    func abort(_ session: Session) throws(TweakError) -> Reply {
        guard let batch = session.batch else { throw noBatch("abort") }
        session.batch = nil
        return .ok("aborted \(batch.changes.count)", [("aborted", .count(batch.changes.count))])
    }

    private func noBatch(_ command: String) -> TweakError {
        TweakError(.usage, "\(command): no batch is open; write begin first")
    }
}

extension TweakNode {
    /// Whether its values are true and false, so that it can be toggled.
    private var canToggle: Bool {
        ![.string, .choice].contains(definition.kind == .optional ? definition.component?.kind : definition.kind)
    }

    /// Converts a request into a change, its value parsed by this tweak's kind.
    func change(_ wanted: Request.Change?) throws(TweakError) -> TweakBatch.Change {
        switch wanted {
        case .toggle?: return .toggle
        // The word is also a text, and may be a choice.
        case .toggleOrWord?: return canToggle ? .toggle : .set(try read("toggle", from: .typed))
        case .assign(let text)?: return .set(try read(text, from: .typed))
        case .assignExactly(let text)?: return .set(try read(literal: text))
        case .assignJSON(let json)?: return .set(try read(json))
        case .add(let text)?: return .add(try read(text, from: .typed), exactly: decimal(text))
        case .subtract(let text)?: return .subtract(try read(text, from: .typed), exactly: decimal(text))
        case nil: throw TweakError(.usage, "\(path.token): the value is missing; write it", path: path)
        }
    }
}
