// Handles the commands history, undo and redo.

import Tweaks
import TweaksWire

extension Executor {
    /// The last commits, newest first; collected off the I/O thread if there are many changes.
    func history(_ count: Int, _ session: Session) throws(TweakError) -> Outcome {
        let (registry, rights, hooks, id) = (registry, session.grants.rights, hooks, session.id)
        let encoder = session.encoder
        let reply = { @Sendable in Self.history(count, rights, registry, hooks, encoder) }
        if !registry.hasHistory(ofMoreThan: Sweep.short) { return .reply(reply()) }
        try refuseIfBusy(session)
        return runInBackground(session, on: planQueue) { .answered(id, reply()) }
    }

    private static func history(
        _ count: Int, _ rights: Rights, _ registry: TweakRegistry, _ hooks: TweakServerHooks,
        _ encoder: ReplyEncoder
    ) -> Reply {
        let entries = registry.history(last: count, seenWith: rights)
        let next = [HistoryStep.Direction.undo, .redo].map { direction in
            (direction.rawValue, registry.nextHistoryStep(direction, rights: rights))
        }
        let steps =
            next.map { ($0, JSON.bool($1 != nil)) }
            + next.compactMap { name, revision in revision.map { ("\(name)es", .count($0)) } }
        // Generated while it is sent: values may be long, and commits many.
        var reply = Reply(
            .ok(words: "", fields: steps), listName: "history",
            body: .stream { position in
                guard position < entries.count else { return nil }
                let entry = entries[position]
                let time = TimeText.seconds(hooks.wallClock(at: entry.time))
                return .row(
                    lines: encoder.writesText ? entry.lines(time) : [],
                    json: encoder.isJSON ? entry.json(time) : .null)
            })
        reply.streamBytes = entries.reduce(0) { $0 + $1.memorySize }
        return reply
    }

    /// Undoes or redoes a change, and reports its author.
    func undoOrRedo(
        _ direction: HistoryStep.Direction, _ request: Request, _ session: Session
    ) throws(TweakError) -> Outcome {
        let force = request.keywords.contains(.force)
        if session.batch != nil {
            throw TweakError(.usage, "a batch is open; commit or abort it first")
        }
        let (registry, rights) = (registry, session.grants.rights)
        let (owner, number) = (request.keywords.contains(.mine) ? session.origin : nil, session.number)
        return try commitStep(
            session, need: force ? .admin : .write,
            { () throws(TweakError) in
                try registry.historyStep(direction, force: force, of: owner, session: number, rights: rights)
            },
            { $0.reply(direction) })
    }

    /// Commits an undo or redo; it is determined off the I/O thread if the history has many changes.
    /// - Parameters:
    ///   - need: The right required on all its tweaks.
    ///   - find: Determines it.
    ///   - describe: Composes what its reply adds.
    func commitStep(
        _ session: Session, need: TweakScope.Kind = .write,
        _ find: @escaping @Sendable () throws(TweakError) -> HistoryStep,
        _ describe: @escaping @Sendable (HistoryStep) -> HistoryStep.Reply
    ) throws(TweakError) -> Outcome {
        if !registry.hasHistory(ofMoreThan: Sweep.short) {
            let step = try find()
            return try commit(Proposal(step, describe(step), need), session)
        }
        try refuseIfBusy(session)
        let (registry, id) = (registry, session.id)
        return runInBackground(session, on: planQueue) { () throws(TweakError) in
            let step = try find()
            let (prepared, reply) = (try registry.prepare(step.batch), describe(step))
            return .validated(id) { executor, session in
                var proposal = Proposal(step, reply, need)
                proposal.prepared = prepared
                return executor.commitPrepared(proposal, session)
            }
        }
    }

    private func commitPrepared(_ proposal: Proposal, _ session: Session) -> Outcome {
        do throws(TweakError) {
            return try commit(proposal, session)
        } catch {
            notifyDenied(error, "undo", session)
            return .reply(.error(error))
        }
    }
}

extension HistoryStep {
    /// What the reply to an undo or redo adds.
    struct Reply: Sendable {
        var note: (words: String, fields: [(String, JSON)])
        /// Fields that are there even if nothing changed.
        var remarks: [(String, JSON)] = []
    }

    /// The author of the change, and the change itself.
    fileprivate func reply(_ direction: Direction) -> Reply {
        let word = direction == .undo ? "undid" : "redid"
        let author = entry.origin.description
        return Reply(
            note: (
                "\(word) \(entry.revision) by \(author)",
                [
                    (word, .count(entry.revision)), ("of", .string(author)), ("by", .string(author)),
                    ("changes", entry.changesJSON),
                ]
            ))
    }
}

extension Proposal {
    fileprivate init(_ step: HistoryStep, _ reply: HistoryStep.Reply, _ need: TweakScope.Kind) {
        self.init(step.batch, nodes: step.nodes, ifUnchangedSince: step.revision)
        kind = step.kind
        self.need = need
        note = reply.note
        remarks = ([], reply.remarks)
    }
}

extension TweakHistoryEntry {
    /// The maximum number of changes to show of one commit.
    private static let maxChanges = 8

    /// `rev 44  2026-11-21T10:00:00Z  uid 1000: Content/Text/Size 72 → 80`, or a line for each part.
    fileprivate func lines(_ time: String) -> [String] {
        let head = "rev \(revision)  \(time)  \(origin)\(remark)"
        let parts = changes.prefix(Self.maxChanges).map(\.text)
        if changes.count == 1 { return ["\(head): \(parts[0])"] }
        let rest = changes.count > Self.maxChanges ? ["  … and \(changes.count - Self.maxChanges) more"] : []
        return ["\(head), \(changes.count) tweaks"] + parts.map { "  \($0)" } + rest
    }

    private var remark: String {
        let what =
            switch kind {
            case .change, .reload, .expiry: ""
            case .undo(let revision): " undid \(revision)"
            case .redo(let revision): " redid \(revision)"
            }
        return isUndone ? "\(what) (undone)" : what
    }

    fileprivate func json(_ time: String) -> JSON {
        var fields: [(String, JSON)] = [
            ("rev", .count(revision)), ("time", .string(time)), ("by", .string(origin.description)),
        ]
        switch kind {
        case .change: fields.append(("kind", .string("change")))
        case .reload: fields.append(("kind", .string("reload")))
        case .expiry: fields.append(("kind", .string("expiry")))
        case .undo(let revision): fields += [("kind", .string("undo")), ("of", .count(revision))]
        case .redo(let revision): fields += [("kind", .string("redo")), ("of", .count(revision))]
        }
        fields.append(("undone", .bool(isUndone)))
        return .object(fields + [("changes", changesJSON)])
    }

    fileprivate var changesJSON: JSON {
        .array(
            changes.map { change in
                .object(
                    [
                        ("path", .string(change.path.joined)), ("was", change.old.map(\.json) ?? .null),
                        ("value", change.new.map(\.json) ?? .null),
                        ("for", change.lifetime.map { .string(TimeLeft.text($0)) } ?? .null),
                    ] + (change.old == nil ? [("secret", .bool(true))] : []))
            })
    }
}

extension TweakHistoryEntry.Change {
    /// `Content/Text/Size 72 → 80`; for a secret only that it changed.
    fileprivate var text: String {
        guard let old, let new else { return "\(path.token) changed" }
        let end = lifetime.map { ", for \(TimeLeft.text($0))" } ?? ""
        return old == new
            ? "\(path.token) \(new.text), as before\(end)" : "\(path.token) \(old.text) → \(new.text)\(end)"
    }
}
