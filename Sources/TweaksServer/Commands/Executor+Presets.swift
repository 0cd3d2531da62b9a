// Handles the commands save, load, presets, delete and diff.

import Dispatch
import Tweaks
import TweaksWire

extension Executor {
    /// Saves the current values of all overridden tweaks.
    func save(_ name: String, _ pattern: String?, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let name = try PresetName(name)
        return try sweep([pattern ?? "*"], session) { executor, session, nodes throws(TweakError) in
            try executor.save(nodes, name, pattern, session)
        }
    }

    private func save(
        _ nodes: [TweakNode], _ name: PresetName, _ pattern: String?, _ session: Session
    ) throws(TweakError) -> Outcome {
        let (snapshot, origin, limit) = (registry.snapshot(), session.origin, limits.lineBytes)
        // The preset may hold more than this session sees.
        let mayReplace = session.grants.rights.isWhole(.write)
        let isLimited = !session.grants.rights.isWhole(.admin)
        let share = isLimited ? PresetQuota(session.account.name, limits.presetsPerPeer) : nil
        return try withPresets(session) { store throws(TweakError) in
            try share?.check(name, store)
            let draft = snapshot.draft(of: nodes, pattern: pattern, origin: origin, lineLimit: limit)
            return .saved(name, draft, replaced: try store.write(draft, as: name, mayReplace: mayReplace))
        }
    }

    /// Limits the number of presets that one peer has saved.
    private struct PresetQuota {
        let peer: String
        let limit: Int

        init(_ peer: String, _ limit: Int) { (self.peer, self.limit) = (peer, limit) }

        func check(_ name: PresetName, _ store: any PresetStore) throws(TweakError) {
            let own = try store.list().filter { isOwn($0) }
            if own.count < limit || own.contains(where: { $0.name == name }) { return }
            throw TweakError(
                .tooMany, "\(own.count) presets were saved by \(peer); delete one of them, or save under its name",
                limit: .presetsPerPeer)
        }

        /// Presets of an address name its port as well.
        private func isOwn(_ preset: PresetSummary) -> Bool {
            preset.heading.by.map { $0 == peer || $0.hasPrefix("\(peer):") } ?? false
        }
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

    /// Compares a preset with the current values, or with another preset.
    func diff(_ name: String, _ other: String?, _ session: Session) throws(TweakError) -> Outcome {
        let name = try PresetName(name)
        var second: PresetName?
        if let other { second = try PresetName(other) }
        let (view, other) = (view(session), second)
        return try withPresets(session) { store throws(TweakError) in
            let preset = try store.read(name)
            guard let other else {
                return .difference(PresetDifference(comparingCurrentTo: preset, view), "in force", name.text)
            }
            let difference = PresetDifference(preset, try store.read(other), view)
            return .difference(difference, name.text, other.text)
        }
    }

    // MARK: Loading

    /// Reads and validates a preset off the I/O thread, then commits it.
    func load(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        try refuseInBatch(session)
        let (only, partly) = (request.keywords.contains(.only), request.keywords.contains(.partly))
        return try read(.load(only: only, partly: partly), try PresetName(request.word), session)
    }

    /// Reads a preset for this session.
    func read(_ purpose: PresetReading.Purpose, _ name: PresetName, _ session: Session) throws(TweakError) -> Outcome {
        let (store, view, registry, id) = (try presetStore(session), view(session), registry, session.id)
        return runInBackground(session) { () throws(TweakError) in
            let plan = PresetPlan(try store.read(name), view)
            let reading = PresetReading(name: name, purpose: purpose, plan: plan, registry)
            return .validated(id) { executor, session in executor.finish(reading, session) }
        }
    }

    /// Commits a preset; the reply may still have to wait for the disk.
    private func finish(_ reading: PresetReading, _ session: Session) -> Outcome {
        if !reading.plan.problems.isEmpty, !reading.isPartly { return .reply(.refused(reading)) }
        do throws(TweakError) {
            if case .swap = reading.purpose { return try swap(to: reading, session) }
            return try commit(proposal(reading, session), session)
        } catch {
            notifyDenied(error, "load", session)
            return .reply(.error(error))
        }
    }

    /// The changes of a preset. Two presets in quick succession are two steps in the history.
    func proposal(_ reading: PresetReading, _ session: Session) -> Proposal {
        var proposal = Proposal(reading.batch, nodes: reading.nodes)
        proposal.prepared = reading.prepared
        proposal.kind = .change(session: session.number, isStep: true)
        proposal.note = (reading.words, [])
        proposal.remarks = (reading.remarks, reading.fields)
        return proposal
    }

    // MARK: Background work

    /// Replies with the result of `body`, which runs off the I/O thread and may wait for disks.
    private func withPresets(
        _ session: Session, _ body: @escaping @Sendable (any PresetStore) throws(TweakError) -> Reply
    ) throws(TweakError) -> Outcome {
        let (store, id) = (try presetStore(session), session.id)
        return runInBackground(session) { () throws(TweakError) in .answered(id, try body(store)) }
    }

    /// Runs work for a session off the I/O thread, where it may wait for disks and the program's checks.
    /// - Parameter queue: By default, that of presets.
    func runInBackground(
        _ session: Session, on queue: DispatchQueue? = nil,
        _ body: @escaping @Sendable () throws(TweakError) -> Mailbox.Message
    ) -> Outcome {
        let (id, mailbox, cancellation) = (session.id, mailbox, CancellationFlag())
        (queue ?? presetQueue).async {
            do throws(TweakError) {
                if let refusal = cancellation.refusal { throw refusal }
                mailbox.post(try body())
            } catch {
                mailbox.post(.answered(id, .error(error)))
            }
        }
        return .running(.init(.request, cancellation))
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

/// The result of reading a preset.
struct PresetReading: Sendable {
    enum Purpose: Sendable {
        case load(only: Bool, partly: Bool)
        case swap
    }

    /// The maximum number of kept overrides to list in text mode; JSON lists all.
    private static let maxListed = 20

    let name: PresetName
    let purpose: Purpose
    let plan: PresetPlan
    /// The changes and their tweaks.
    let batch: TweakBatch
    let nodes: [TweakNode]
    /// Nil if the commit will have to validate them again.
    let prepared: PreparedBatch?
    /// The skipped lines and the overrides that stay, as lines and as JSON fields.
    private(set) var remarks: [String] = []
    private(set) var fields: [(String, JSON)] = []

    /// Prepares the commit and its reply, so that little is left for the I/O thread.
    init(name: PresetName, purpose: Purpose, plan: PresetPlan, _ registry: TweakRegistry) {
        self.name = name
        self.purpose = purpose
        self.plan = plan
        let isOnly = if case .load(let only, _) = purpose { only } else { true }
        (batch, nodes) = plan.batch(only: isOnly)
        prepared = try? registry.prepare(batch)
        remarks = remarkLines
        fields = remarkFields
    }

    /// Whether invalid lines are skipped.
    var isPartly: Bool { if case .load(_, let partly) = purpose { partly } else { false } }

    /// Whether all other overrides are reset.
    var isOnly: Bool { if case .load(let only, _) = purpose { only } else { true } }

    /// The words after the revision in the status line.
    var words: String {
        if case .swap = purpose { return "swapped to \(name); swap \(name) goes back" }
        if plan.problems.isEmpty { return "loaded \(name)" }
        return "loaded \(name), without \(plan.badLines.of("line"))"
    }

    /// The overrides that the preset does not name, in listing order.
    private var lacking: [(node: TweakNode, value: TweakValue)] {
        if plan.protectedOverrides.isEmpty { return plan.overridesNotInPreset }
        return (plan.overridesNotInPreset + plan.protectedOverrides).sorted { TweakListing.precedes($0.node, $1.node) }
    }

    private var remarkLines: [String] {
        var lines = plan.problems.map { "left out, line \($0.line): \($0.error)" }
        if isOnly { return lines + untouched }
        for (node, value) in lacking.prefix(Self.maxListed) {
            lines.append("\(node.path.token) keeps its override \(value.text); \(name) does not name it")
        }
        let rest = lacking.count - Self.maxListed
        if rest > 0 { lines.append("… and \(rest) more keep their overrides; diff \(name) lists them") }
        return lines
    }

    /// The overrides that should have been reset, and which the session may not change.
    private var untouched: [String] {
        let names = plan.protectedOverrides.prefix(Self.maxListed).map {
            "\($0.node.path.token) keeps its override \($0.value.text); this session may not reset it"
        }
        let rest = plan.protectedOverrides.count - Self.maxListed
        return rest > 0 ? names + ["… and \(rest) more keep their overrides"] : names
    }

    private var remarkFields: [(String, JSON)] {
        var fields: [(String, JSON)] = [("loaded", .string(name.text))]
        if case .swap = purpose { fields = [("swapped", .string(name.text))] }
        if !plan.problems.isEmpty { fields.append(("leftOut", .array(plan.problems.map(\.json)))) }
        let kept = isOnly ? plan.protectedOverrides : lacking
        if !kept.isEmpty { fields.append(("lacking", .array(kept.map { .string($0.node.path.joined) }))) }
        return fields
    }
}

extension Int {
    /// `1 line`, `2 lines`.
    func of(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }
}

extension ConfigProblem {
    /// The JSON form of a problem.
    var json: JSON {
        .object([
            ("line", .count(line)), ("code", .string(error.code.rawValue)), ("message", .string(error.message)),
        ])
    }
}

extension Reply {
    /// The reply to save.
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
        let width = all.map(\.name.text.utf8.count).max() ?? 0
        let rows = all.map { summary in
            let padding = String(repeating: " ", count: width - summary.name.text.utf8.count)
            if isWhole { return Item.row(lines: ["\(summary.name)\(padding)  \(summary.words)"], json: summary.json) }
            let words = summary.outside.isEmpty ? "" : "\(padding)  \(summary.outside)"
            return Item.row(lines: ["\(summary.name)\(words)"], json: summary.outsideJSON)
        }
        return Reply(
            .ok(words: all.count.of("preset"), fields: [("count", .count(all.count))]), listName: "presets",
            list: rows)
    }

    /// The list of all problems of a preset; nothing has changed.
    static func refused(_ reading: PresetReading) -> Reply {
        let problems = reading.plan.problems
        let remedy =
            if case .swap = reading.purpose { "fix them" } else {
                "load \(reading.isOnly ? "--only " : "")\(reading.name) partly takes the rest"
            }
        let count = "\(reading.plan.badLines.of("line")) \(reading.plan.badLines == 1 ? "does" : "do")"
        let error = TweakError(
            problems.first?.error.code ?? .internal, "\(reading.name): \(count) not fit; nothing has changed; \(remedy)"
        )
        let rows = problems.map { Item.row(lines: ["line \($0.line): \($0.error)"], json: $0.json) }
        return Reply(.error(error), listName: "problems", list: rows)
    }

    /// The differences between two sets of values.
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

    /// What can be shown without its contents.
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
            leftName == "in force"
                ? "\(path.token) \(left), in force only" : "\(path.token) \(left), in \(leftName) only"
        case (nil, let right?): "\(path.token) \(right), in \(rightName) only"
        case (nil, nil): path.token
        }
    }
}
