// Handles commands that change values: set and assignment, check, keep, reset, and batches.

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
        let writable = WritableTweaks(session.grants.rights)
        return try sweep(patterns, session) { [registry] node in
            writable.note(node) && registry.timeLeft(node) != nil
        } _: { executor, session, temporary throws(TweakError) in
            // The commit throws for a single tweak without one.
            try executor.keep(try writable.single().map { [$0] } ?? temporary, of: writable.count, session)
        }
    }

    private func keep(_ nodes: [TweakNode], of count: Int, _ session: Session) throws(TweakError) -> Outcome {
        if nodes.isEmpty {
            throw TweakError(.conflict, "none of these \(count) tweaks has a temporary override to keep")
        }
        if session.batch != nil { return .reply(try queue(nodes.map { ($0, .keep) }, session)) }
        return try commit(Proposal(TweakBatch(.keep, of: nodes), nodes: nodes), session)
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
        let writable = WritableTweaks(session.grants.rights)
        return try sweep(patterns, session) { node in
            writable.note(node) && node.isSettable
        } _: { executor, session, settable throws(TweakError) in
            // A pattern skips figures and actions; naming one is an error.
            if let node = try writable.single(), !node.isSettable { throw node.notSettable }
            return try executor.reset(settable, session)
        }
    }

    private func reset(_ nodes: [TweakNode], _ session: Session) throws(TweakError) -> Outcome {
        if session.batch != nil { return .reply(try queue(nodes.map { ($0, .reset) }, session)) }
        return try commit(Proposal(TweakBatch(.reset, of: nodes), nodes: nodes), session)
    }

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
    func report(_ result: TweakCommitResult, _ nodes: [TweakNode], _ note: CommitNote) -> Reply {
        if !result.didStore { return unchanged(result.revision, note) }
        let outcomes = result.outcomes
        let nodes = Self.distinct(nodes, outcomes.count)
        // Commits may be large, so lines are made while they are sent.
        let stored = outcomes.indices.filter { outcomes[$0].didStore && $0 < nodes.count }
        let item: @Sendable (Int) -> Reply.Item? = { position in
            guard position < stored.count else { return nil }
            let outcome = outcomes[stored[position]]
            let node = nodes[stored[position]]
            return .tweak(
                TweakLine(node, outcome.new, .was(outcome.old, outcome.adjustment), timeLeft: outcome.lifetime))
        }
        var reply = Reply.revision(result.revision, note.words)
        if stored.count > 64 {
            reply.body = .stream(item)
            reply.streamBytes = outcomes.reduce(0) { $0 + $1.memorySize }
        } else {
            reply.list(stored.indices.compactMap(item))
        }
        return note.added(to: reply)
    }

    /// Each tweak once, in the order of the outcomes: where it first occurs.
    private static func distinct(_ nodes: [TweakNode], _ count: Int) -> [TweakNode] {
        if nodes.count == count { return nodes }
        var known: Set<ObjectIdentifier> = []
        return nodes.filter { known.insert(ObjectIdentifier($0)).inserted }
    }

    func unchanged(_ revision: UInt64, _ note: CommitNote = CommitNote()) -> Reply {
        let words = "rev \(revision) unchanged\(note.words.isEmpty ? "" : " \(note.words)")"
        return note.added(to: .ok(words, [("rev", .count(revision)), ("unchanged", .bool(true))]))
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

    private static let maxEchoes = 20

    func commit(_ session: Session) throws(TweakError) -> Outcome {
        guard let batch = session.batch else { throw noBatch("commit") }
        session.batch = nil
        do throws(TweakError) {
            if let failure = batch.failure { throw failure }
            var proposal = Proposal(batch.changes, nodes: batch.nodes, ifUnchangedSince: batch.revision)
            proposal.whenRefused = { Self.refusal($0, of: batch, $1) }
            return try commit(proposal, session)
        } catch {
            throw Self.refusal(error, of: batch, session)
        }
    }

    private static func refusal(_ error: TweakError, of batch: PendingBatch, _ session: Session) -> TweakError {
        if error.leavesBatchOpen { session.batch = batch }
        // A program knows that a batch is atomic, and may compare error texts.
        if !session.isInteractive { return error }
        return error.adding(
            "nothing has changed, and the batch is \(error.leavesBatchOpen ? "still open" : "closed")")
    }

    func abort(_ session: Session) throws(TweakError) -> Reply {
        guard let batch = session.batch else { throw noBatch("abort") }
        session.batch = nil
        return .ok("aborted \(batch.changes.count)", [("aborted", .count(batch.changes.count))])
    }

    private func noBatch(_ command: String) -> TweakError {
        TweakError(.usage, "\(command): no batch is open; begin opens one")
    }
}

/// The tweaks of a pattern that a session may write, counted while they are visited.
private final class WritableTweaks {
    private let rights: Rights
    private var first: TweakNode?
    private var last: TweakNode?
    private(set) var count = 0

    init(_ rights: Rights) { self.rights = rights }

    /// Counts a tweak. Returns whether it is writable.
    func note(_ node: TweakNode) -> Bool {
        if first == nil { first = node }
        guard rights.allows(.write, node.path) else { return false }
        last = node
        count += 1
        return true
    }

    /// The tweak, if there is only one.
    /// - Throws: `denied` if there are only others.
    func single() throws(TweakError) -> TweakNode? {
        if count == 0, let first { throw rights.denied(.write, first.path) }
        return count == 1 ? last : nil
    }
}

extension TweakNode {
    /// The kind of its values, but for `none`.
    private var valueKind: TweakKind? {
        definition.kind == .optional ? definition.component?.kind : definition.kind
    }

    /// Whether its values may be any words.
    var takesWords: Bool { valueKind == .string }
    /// Whether its values are lists.
    var takesList: Bool { valueKind == .list }
    /// Whether it can be toggled.
    var isSwitch: Bool { valueKind == .bool }

    /// Converts a request into a change, its value parsed by this tweak's kind.
    func change(_ wanted: Request.Change?) throws(TweakError) -> TweakBatch.Change {
        switch wanted {
        case .toggle?: return .toggle
        // The word is also a text, and may be a choice.
        case .toggleOrWord?:
            return [.string, .choice].contains(valueKind) ? .set(try read("toggle", from: .typed)) : .toggle
        case .assign("toggle")? where definition.kind == .bool:
            throw TweakError(
                .badValue, "\(path.token) takes true or false; set \(path.token) toggle flips it", path: path)
        case .assign(let text)?: return .set(try read(text, from: .typed))
        case .assignExactly(let text)?: return .set(try read(literal: text))
        case .assignJSON(let json)?: return .set(try read(json))
        case .add(let text)?: return .add(try read(text, from: .typed), exactly: decimal(text))
        case .subtract(let text)?: return .subtract(try read(text, from: .typed), exactly: decimal(text))
        case nil: throw TweakError(.usage, "\(path.token): the value is missing; write it", path: path)
        }
    }
}

/// An open batch.
struct PendingBatch {
    /// The commit is refused if one of its tweaks changed after this revision.
    let revision: UInt64?
    private(set) var changes = TweakBatch()
    private(set) var nodes: [TweakNode] = []
    /// The first error; `commit` answers it and changes nothing.
    private(set) var failure: TweakError?
    /// The expected value of each tweak after the changes so far, so that a `+=` is validated against it.
    private var expected: [TweakPath: TweakBatch.Change] = [:]

    private(set) var memorySize = 0

    init(revision: UInt64?) { self.revision = revision }

    /// Validates a change and adds it to the batch.
    /// - Returns: The change in words.
    mutating func append(
        _ node: TweakNode, _ change: TweakBatch.Change, for lifetime: Duration?, registry: TweakRegistry, limit: Int
    ) throws(TweakError) -> String {
        if changes.count >= limit {
            throw .tooMany(.batchChanges, "a batch holds at most \(limit) changes; commit, then begin again")
        }
        var trial = TweakBatch()
        if let before = expected[node.path] { trial.append(node, before) }
        trial.append(node, change, for: lifetime)
        // Validated again at the commit, when the underlying values of a `+=` may differ.
        let forecast = try registry.forecast(trial).first
        if case .reset = change {
            expected[node.path] = .reset
        } else if let forecast {
            expected[node.path] = .set(forecast.new)
        }
        changes.append(node, change, for: lifetime)
        nodes.append(node)
        memorySize += 512 + (change.textBytes ?? 0)
        switch change {
        case .reset: return "reset \(node.path.token)"
        case .keep: return "keep \(node.path.token)"
        default: return "\(node.path.token) = \(forecast.map { node.shown($0.new).text } ?? "")"
        }
    }

    mutating func fail(_ error: TweakError) {
        if failure == nil { failure = error }
    }
}

extension TweakError {
    /// Whether the error is temporary, so that the batch stays open and need not be typed again.
    package var leavesBatchOpen: Bool { code == .tooMany || limit == .abandonedRequests }

    /// Returns the error with its consequence for the batch appended.
    func adding(_ consequence: String) -> TweakError {
        TweakError(code, "\(message); \(consequence)", path: path, limit: limit, isMissing: isMissing)
    }
}
