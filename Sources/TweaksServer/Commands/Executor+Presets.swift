// Handles the commands save, load, presets, delete and diff.

import Dispatch
import Tweaks
import TweaksWire

extension Executor {
    func save(_ name: String, _ pattern: String?, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        return try sweep([pattern ?? "*"], session) { executor, session, nodes throws(TweakError) in
            try executor.save(nodes, as: name, of: pattern, session)
        }
    }

    private func save(
        _ nodes: [TweakNode], as name: PresetName, of pattern: String?, _ session: Session
    ) throws(TweakError) -> Outcome {
        let snapshot = registry.snapshot()
        let origin = session.origin
        let limit = limits.lineBytes
        // The preset may hold more than this session sees.
        let mayReplace = session.grants.rights.isWhole(.write)
        let isLimited = !session.grants.rights.isWhole(.admin)
        let quota = limits.presetsPerPeer
        let peer = session.account.name
        return try withPresets(session) { store throws(TweakError) in
            if isLimited { try Self.check(quota: quota, of: peer, for: name, in: store) }
            let draft = snapshot.draft(of: nodes, pattern: pattern, origin: origin, lineLimit: limit)
            return .saved(name, draft, replaced: try store.write(draft, as: name, mayReplace: mayReplace))
        }
    }

    /// Presets of an address name its port as well.
    private static func check(
        quota limit: Int, of peer: String, for name: PresetName, in store: any PresetStore
    ) throws(TweakError) {
        let own = try store.list().filter { $0.heading.by == peer || $0.heading.by?.hasPrefix("\(peer):") == true }
        if own.count < limit || own.contains(where: { $0.name == name }) { return }
        throw .tooMany(
            .presetsPerPeer,
            "\(own.count) presets were saved by \(peer); delete one of them, or save under its name")
    }

    func presets(_ session: Session) throws(TweakError) -> Outcome {
        let isWhole = session.grants.rights.isWhole(.read)
        return try withPresets(session) { store throws(TweakError) in .presets(try store.list(), isWhole: isWhole) }
    }

    func delete(_ name: String, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        return try withPresets(session) { store throws(TweakError) in
            try store.delete(name)
            return .ok("deleted \(name)", [("deleted", .string(name.text))])
        }
    }

    func diff(_ name: String, _ other: String?, _ session: Session) throws(TweakError) -> Outcome {
        let name = try PresetName(name)
        var second: PresetName?
        if let other { second = try PresetName(other) }
        let view = view(session)
        return try withPresets(session) { [second] store throws(TweakError) in
            let preset = try store.read(name)
            guard let second else {
                return .difference(PresetDifference(comparingCurrentTo: preset, view), "in force", name.text)
            }
            let difference = PresetDifference(preset, try store.read(second), view)
            return .difference(difference, name.text, second.text)
        }
    }

    // MARK: Loading

    /// Reads and validates a preset off the I/O thread, then commits it.
    func load(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        return try read(
            try PresetName(request.word), isOnly: request.keywords.contains(.only),
            isPartly: request.keywords.contains(.partly), session)
    }

    func read(
        _ name: PresetName, isSwap: Bool = false, isOnly: Bool, isPartly: Bool = false, _ session: Session
    ) throws(TweakError) -> Outcome {
        let store = try presetStore(session)
        let view = view(session)
        return runInBackground(session) { [registry] () throws(TweakError) in
            let plan = PresetPlan(try store.read(name), view)
            let reading = PresetReading(
                name, plan, isSwap: isSwap, isOnly: isOnly, isPartly: isPartly, registry)
            return .next { executor, session throws(TweakError) in try executor.finish(reading, session) }
        }
    }

    private func finish(_ reading: PresetReading, _ session: Session) throws(TweakError) -> Outcome {
        if !reading.plan.problems.isEmpty, !reading.isPartly { return .reply(.refused(reading)) }
        if reading.isSwap { return try swap(to: reading, session) }
        return try commit(proposal(reading, session), session)
    }

    /// The changes of a preset. Two presets in quick succession are two steps in the history.
    func proposal(_ reading: PresetReading, _ session: Session) -> Proposal {
        var proposal = Proposal(reading.batch, nodes: reading.nodes)
        proposal.prepared = reading.prepared
        proposal.kind = .change(session: session.number, isStep: true)
        proposal.note = reading.note
        return proposal
    }

    // MARK: Background work

    /// Replies with the result of `body`, which runs off the I/O thread and may wait for disks.
    private func withPresets(
        _ session: Session, _ body: @escaping @Sendable (any PresetStore) throws(TweakError) -> Reply
    ) throws(TweakError) -> Outcome {
        let store = try presetStore(session)
        return runInBackground(session) { () throws(TweakError) in .reply(try body(store)) }
    }

    private func presetStore(_ session: Session) throws(TweakError) -> any PresetStore {
        if registry.isFrozen {
            throw TweakError(.readOnly, "this process is frozen (TWEAKS_FROZEN); it has no presets")
        }
        guard let store = hooks.presets else {
            throw TweakError(
                .io,
                "presets need a state directory, and this process has none; name one in TWEAKS_STATE_DIR, or in "
                    + "the program")
        }
        try refuseIfBusy(session)
        return store
    }

    func refuseInBatch(_ session: Session) throws(TweakError) {
        if session.batch != nil { throw TweakError(.usage, "a batch is open; commit or abort it first") }
    }
}

/// A preset that was read and validated, with the reply to its commit.
struct PresetReading: Sendable {
    let name: PresetName
    /// Whether it is read by `swap`.
    let isSwap: Bool
    /// Whether all other overrides are reset.
    let isOnly: Bool
    /// Whether invalid lines are skipped.
    let isPartly: Bool
    let plan: PresetPlan
    let batch: TweakBatch
    let nodes: [TweakNode]
    /// Nil if the commit will have to validate them again.
    let prepared: PreparedBatch?
    /// The skipped lines and the overrides that stay, too.
    private(set) var note = CommitNote()

    /// The maximum number of kept overrides to list in text mode; JSON lists all.
    private static let maxListed = 20

    /// Prepares the commit and its reply, so that little is left for the I/O thread.
    init(
        _ name: PresetName, _ plan: PresetPlan, isSwap: Bool, isOnly: Bool, isPartly: Bool, _ registry: TweakRegistry
    ) {
        self.name = name
        self.plan = plan
        self.isSwap = isSwap
        self.isOnly = isOnly
        self.isPartly = isPartly
        (batch, nodes) = plan.batch(only: isOnly)
        prepared = try? registry.prepare(batch)
        note = CommitNote(words: words, lines: remarkLines, fields: remarkFields)
    }

    private var words: String {
        if isSwap { return "swapped to \(name); swap \(name) goes back" }
        if plan.problems.isEmpty { return "loaded \(name)" }
        return "loaded \(name), without \(plan.badLines.of("line"))"
    }

    /// The overrides that stay: those that the preset does not name, or that the session may not reset.
    private var kept: [(node: TweakNode, value: TweakValue)] {
        if isOnly { return plan.protectedOverrides }
        if plan.protectedOverrides.isEmpty { return plan.overridesNotInPreset }
        return (plan.overridesNotInPreset + plan.protectedOverrides).sorted { TweakListing.precedes($0.node, $1.node) }
    }

    private var remarkLines: [String] {
        var lines = plan.problems.map { "left out, line \($0.line): \($0.error)" }
        let kept = kept
        let reason = isOnly ? "this session may not reset it" : "\(name) does not name it"
        for (node, value) in kept.prefix(Self.maxListed) {
            lines.append("\(node.path.token) keeps its override \(value.text); \(reason)")
        }
        let rest = kept.count - Self.maxListed
        if rest > 0 {
            let remedy = isOnly ? "" : "; diff \(name) lists them"
            lines.append("… and \(rest) more keep their overrides\(remedy)")
        }
        return lines
    }

    private var remarkFields: [(String, JSON)] {
        var fields: [(String, JSON)] = [(isSwap ? "swapped" : "loaded", .string(name.text))]
        if !plan.problems.isEmpty { fields.append(("leftOut", .array(plan.problems.map(\.json)))) }
        let kept = kept
        if !kept.isEmpty { fields.append(("lacking", .array(kept.map { .string($0.node.path.joined) }))) }
        return fields
    }
}

extension Int {
    /// `1 line`, `2 lines`.
    func of(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }
}

extension ConfigProblem {
    var json: JSON {
        .object([
            ("line", .count(line)), ("code", .string(error.code.rawValue)), ("message", .string(error.message)),
        ])
    }
}

extension Reply {
    static func saved(_ name: PresetName, _ draft: PresetDraft, replaced: PresetSummary?) -> Reply {
        var words = "saved \(name), \(draft.lines.count.of("tweak"))"
        if draft.secrets > 0 { words += ", without \(draft.secrets.of("secret"))" }
        if let replaced {
            words += ", in place of \(replaced.words)"
        }
        var reply = Reply.ok(
            words,
            [
                ("saved", .string(name.text)), ("count", .count(draft.lines.count)),
                ("secrets", .count(draft.secrets)), ("replaced", .bool(replaced != nil)),
                ("tooLong", .array(draft.tooLong.map { .string($0.joined) })),
            ])
        reply.remarks = draft.tooLong.map { "\($0.token) is left out: its value is longer than a line may be" }
        return reply
    }

    /// The list of presets, each line starting with its name.
    /// - Parameter isWhole: Whether the session sees every tweak; otherwise the contents are not shown.
    static func presets(_ all: [PresetSummary], isWhole: Bool) -> Reply {
        let width = all.map(\.name.text.count).max() ?? 0
        let rows = all.map { summary in
            let words = isWhole ? summary.words : summary.outside
            let line = words.isEmpty ? summary.name.text : "\(summary.name.text.padded(to: width))  \(words)"
            return Item.row(lines: [line], json: isWhole ? summary.json : summary.outsideJSON)
        }
        return Reply(
            .ok(words: all.count.of("preset"), fields: [("count", .count(all.count))]), listName: "presets",
            list: rows)
    }

    static func refused(_ reading: PresetReading) -> Reply {
        let problems = reading.plan.problems
        let remedy =
            reading.isSwap
            ? "fix them" : "load \(reading.isOnly ? "--only " : "")\(reading.name) partly takes the rest"
        let count = "\(reading.plan.badLines.of("line")) \(reading.plan.badLines == 1 ? "does" : "do")"
        var error = TweakError(
            problems.first?.error.code ?? .internal, "\(reading.name): \(count) not fit; nothing has changed; \(remedy)"
        )
        error.canBeForced = !reading.isSwap
        let rows = problems.map { Item.row(lines: ["line \($0.line): \($0.error)"], json: $0.json) }
        return Reply(.error(error), listName: "problems", list: rows)
    }

    static func difference(_ difference: PresetDifference, _ left: String, _ right: String) -> Reply {
        let rows = difference.rows.map { row in
            Item.row(
                lines: [row.text(left, right)],
                json: .object([
                    ("path", .string(row.path.joined)), ("left", .text(row.left)), ("right", .text(row.right)),
                ]))
        }
        let problems = difference.leftProblems.map { (left, $0) } + difference.rightProblems.map { (right, $0) }
        var fields: [(String, JSON)] = [
            ("left", .string(left)), ("right", .string(right)), ("count", .count(rows.count)),
        ]
        if !problems.isEmpty { fields.append(("problems", .array(problems.map(\.1.json)))) }
        var reply = Reply(
            .ok(words: rows.count.of("difference"), fields: fields), listName: "differences", list: rows)
        reply.remarks = problems.map { "\($0), line \($1.line), cannot be compared: \($1.error)" }
        return reply
    }
}

extension PresetSummary {
    /// `12 tweaks, saved 2026-11-21T19:10:00Z by uid 1000`, as far as it is known.
    fileprivate var words: String {
        if let failure { return failure }
        var words = tweaks.of("tweak")
        if badLines > 0 { words += " and \(badLines.of("bad line"))" }
        if let saved = heading.saved { words += ", saved \(saved)" }
        if let by = heading.by { words += " by \(by)" }
        if let pattern = heading.pattern { words += ", of \(pattern)" }
        return words
    }

    fileprivate var outside: String {
        guard let saved = heading.saved else { return "" }
        return "saved \(saved)\(heading.by.map { " by \($0)" } ?? "")"
    }

    fileprivate var outsideJSON: JSON {
        .object([("name", .string(name.text)), ("saved", .text(heading.saved)), ("by", .text(heading.by))])
    }

    fileprivate var json: JSON {
        .object([
            ("name", .string(name.text)), ("tweaks", .count(tweaks)), ("badLines", .count(badLines)),
            ("saved", .text(heading.saved)), ("by", .text(heading.by)), ("pattern", .text(heading.pattern)),
            ("program", .text(heading.program)), ("error", .text(failure)),
        ])
    }
}

extension PresetDifference.Row {
    /// `Content/Text/Size 60 → 72`.
    fileprivate func text(_ leftName: String, _ rightName: String) -> String {
        switch (left, right) {
        case (let left?, let right?): "\(path.token) \(left) → \(right)"
        case (let left?, nil):
            "\(path.token) \(left)" + (leftName == "in force" ? " now, not in the preset" : ", in \(leftName) only")
        case (nil, let right?): "\(path.token) \(right), in \(rightName) only"
        case (nil, nil): path.token
        }
    }
}
