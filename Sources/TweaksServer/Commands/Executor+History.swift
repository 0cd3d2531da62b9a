// Handles history, undo, redo, and swap, which goes back by the history.

import Tweaks
import TweaksWire

extension Executor {
    /// The last commits, newest first; collected off the I/O thread if there are many changes.
    func history(_ count: Int, _ session: Session) throws(TweakError) -> Outcome {
        let rights = session.grants.rights
        let encoder = session.encoder
        let client = session.origin
        let reply = { @Sendable [registry, hooks] in
            registry.historyReply(
                last: count, seenWith: rights, for: client, encoder, wallClock: hooks.wallClock(at:))
        }
        if !registry.hasHistory(ofMoreThan: Sweep.short) { return .reply(reply()) }
        try refuseIfBusy(session)
        return runInBackground(session, on: planQueue) { .reply(reply()) }
    }

    /// Begins a gesture, whose changes are one step of the history however slowly they come, or ends it.
    func drag(_ isOn: Bool, _ session: Session) -> Reply {
        session.changes.gesture = isOn ? .random(in: 1 ... .max) : 0
        return .ok()
    }

    func undoOrRedo(
        _ direction: HistoryStep.Direction, _ request: Request, _ session: Session
    ) throws(TweakError) -> Outcome {
        let force = request.keywords.contains(.force)
        if session.batch != nil {
            throw TweakError(.usage, "a batch is open; commit or abort it first")
        }
        let rights = session.grants.rights
        let client = session.origin
        let owner = request.keywords.contains(.mine) ? client : nil
        let number = session.number
        let expected = request.number
        return try commitStep(
            session, need: force ? .admin : .write,
            { [registry] () throws(TweakError) in
                try registry.historyStep(
                    direction, force: force, of: owner, expecting: expected, session: number, rights: rights)
            },
            { $0.note(direction, for: client) })
    }

    /// Commits an undo or redo; it is determined off the I/O thread if the history has many changes.
    /// - Parameters:
    ///   - need: The right required on all its tweaks.
    ///   - find: Determines it.
    ///   - describe: Composes what its reply adds.
    func commitStep(
        _ session: Session, need: TweakScope.Kind = .write,
        _ find: @escaping @Sendable () throws(TweakError) -> HistoryStep,
        _ describe: @escaping @Sendable (HistoryStep) -> CommitNote
    ) throws(TweakError) -> Outcome {
        if !registry.hasHistory(ofMoreThan: Sweep.short) {
            let step = try find()
            return try commit(Proposal(step, describe(step), need), session)
        }
        try refuseIfBusy(session)
        return runInBackground(session, on: planQueue) { [registry] () throws(TweakError) in
            let step = try find()
            let prepared = try registry.prepare(step.batch)
            let note = describe(step)
            return .next { executor, session throws(TweakError) in
                var proposal = Proposal(step, note, need)
                proposal.prepared = prepared
                return try executor.commit(proposal, session)
            }
        }
    }
}

extension TweakRegistry {
    fileprivate func historyReply(
        last count: Int, seenWith rights: Rights, for client: TweakOrigin, _ encoder: ReplyEncoder,
        wallClock: @escaping @Sendable (Moment) -> Int64
    ) -> Reply {
        let entries = history(last: count, seenWith: rights)
        let next = [HistoryStep.Direction.undo, .redo].map { direction in
            (direction.rawValue, nextHistoryStep(direction, rights: rights))
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
                let time = TimeText.seconds(wallClock(entry.moment))
                return .row(
                    lines: encoder.writesText ? entry.lines(time) : [],
                    json: encoder.isJSON ? entry.json(time, for: client) : .null)
            })
        reply.streamBytes = entries.reduce(0) { $0 + $1.memorySize }
        return reply
    }
}

extension HistoryStep {
    fileprivate func note(_ direction: Direction, for client: TweakOrigin) -> CommitNote {
        let word = direction == .undo ? "undid" : "redid"
        let author = entry.origin.description
        return CommitNote(
            words: "\(word) \(entry.revision) by \(author)", lines: secretLines,
            fields: [
                (word, .count(entry.revision)), ("of", .string(author)), ("by", .string(author)),
                ("own", .bool(entry.origin.isSameOwner(as: client))), ("changes", entry.changesJSON),
            ])
    }

    fileprivate var secretLines: [String] {
        let more = skippedSecrets.count > 8 ? ["… and \(skippedSecrets.count - 8) more"] : []
        return skippedSecrets.prefix(8).map { "\($0.token) is a secret, and stays as it is" } + more
    }
}

extension Proposal {
    fileprivate init(_ step: HistoryStep, _ note: CommitNote, _ need: TweakScope.Kind) {
        self.init(step.batch, nodes: step.nodes, ifUnchangedSince: step.revision)
        kind = step.kind
        self.need = need
        self.note = note
    }
}

extension TweakHistoryEntry {
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

    fileprivate func json(_ time: String, for client: TweakOrigin) -> JSON {
        var fields: [(String, JSON)] = [
            ("rev", .count(revision)), ("time", .string(time)), ("by", .string(origin.description)),
            ("own", .bool(origin.isSameOwner(as: client))),
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

extension Executor {
    private static let maxSwaps = 64

    /// Switches to a preset exactly; a second call restores the earlier overrides.
    func swap(_ name: String, force: Bool, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        if let revision = try swapRevision(name) { return try swapBack(name, revision, force: force, session) }
        if registry.historyLimit == 0 {
            throw TweakError(
                .conflict,
                "swap goes back by the history, which this program disables (historyLimit 0); load --only \(name) "
                    + "replaces all overrides, without a way back")
        }
        return try read(name, isSwap: true, isOnly: true, session)
    }

    func swap(to reading: PresetReading, _ session: Session) throws(TweakError) -> Outcome {
        let name = reading.name
        // Another session has swapped to it meanwhile, so this call restores.
        if let revision = try swapRevision(name) { return try swapBack(name, revision, force: false, session) }
        var proposal = proposal(reading, session)
        // The way back is that of this commit alone: no gesture extends it.
        proposal.kind = .change(session: session.number, isStep: true)
        proposal.whenCommitted = { [weak self] in if $0.didStore { self?.remember($0.revision, for: name) } }
        return try commit(proposal, session)
    }

    private func swapBack(
        _ name: PresetName, _ revision: UInt64, force: Bool, _ session: Session
    ) throws(TweakError) -> Outcome {
        let rights = session.grants.rights
        let number = session.number
        let remedy = "swap \(name) force goes back anyway"
        return try commitStep(
            session,
            { [registry] () throws(TweakError) in
                try registry.historyStep(
                    undoing: revision, force: force, remedy: remedy, session: number, rights: rights)
            },
            { CommitNote(words: "back from \(name)", lines: $0.secretLines, fields: [("back", .string(name.text))]) })
    }

    /// The revision of the commit that switched to a preset; nil without one. A swap that was undone counts as if it had
    /// not happened.
    /// - Throws: `conflict` if the history has forgotten the commit. The next swap switches to the preset again.
    private func swapRevision(_ name: PresetName) throws(TweakError) -> UInt64? {
        guard let revision = swaps[name] else { return nil }
        let isUndone = registry.isUndone(revision)
        if isUndone == false { return revision }
        swaps[name] = nil
        if isUndone == true { return nil }
        throw TweakError(
            .conflict,
            "the history has forgotten the swap to \(name), in revision \(revision), among newer changes, so there is no "
                + "way back; set or load the values that you want, or swap \(name) again to switch to it")
    }

    /// Remembers the commit of a swap. Clients may use any number of names, so the oldest swap is forgotten.
    private func remember(_ revision: UInt64, for name: PresetName) {
        swaps[name] = revision
        guard swaps.count > Self.maxSwaps, let oldest = swaps.min(by: { $0.value < $1.value }) else { return }
        swaps[oldest.key] = nil
    }
}
