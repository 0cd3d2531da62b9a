// Implements the commands that read the fleet's keys: ls, get, history, export.

import Tweaks
import TweaksFleet
import TweaksSystem

extension FleetClient {
    // MARK: ls

    /// Lists desired values with author and time, and the rollouts.
    func list() async throws(FleetRefusal) {
        let pattern = try pattern()
        let view = try await fleet.readState()
        let values = view.sortedValues.filter { pattern?.matches($0.path) ?? true }
        let rollouts = view.ordered.filter { record in
            record.value.changes.contains { pattern?.matches($0.path) ?? true }
        }
        let authors = try await fleet.authors()
        if console.isJSON {
            return console.print(
                .object([
                    ("cluster", .string(String(view.header.clusterID, radix: 16))),
                    ("revision", .int(view.header.revision)), ("values", .array(values.map(Self.json))),
                    ("rollouts", .array(rollouts.map { Self.json($0) })), ("garbage", json(view.unreadable)),
                ]))
        }
        console.print(
            rows: values.map { path, desired in
                .init(
                    path: path.token, value: desired.value.text,
                    note: FleetConsole.provenance(
                        desired.by, desired.at, now: now, author: view.author(of: path, authors)))
            })
        for record in rollouts { show(record.value) }
        printProblems(of: view.unreadable)
        if values.isEmpty, rollouts.isEmpty { console.output.printRemark("\(keys.name) has no desired values here") }
    }

    /// Prints the unreadable keys, the reasons and the remedies.
    func printProblems(of unreadable: [[UInt8]: String]) {
        for problem in keys.problems(of: unreadable) {
            console.output.reportProblem("\(problem.key): \(problem.reason); \(problem.remedy)")
        }
    }

    func json(_ unreadable: [[UInt8]: String]) -> JSON {
        .array(
            keys.problems(of: unreadable).map {
                .object([
                    ("key", .string($0.key)), ("reason", .string($0.reason)), ("remedy", .string($0.remedy)),
                ])
            })
    }

    /// Prints a rollout and its changes.
    func show(_ rollout: Rollout) {
        let selectorText = rollout.selector.isEmpty ? "" : " of \(rollout.selector.text)"
        let share = rollout.state == .done ? "standing rule" : "\(rollout.state.rawValue) at \(rollout.share.text)"
        let per = rollout.per.map { " per \($0)" } ?? ""
        let first =
            (rollout.canary.isEmpty ? "" : ", canaries \(rollout.canary.text)")
            + (rollout.seed.map { ", seed \($0)" } ?? "")
        let life = rollout.lifetime.map { ", under a lease of \($0) s" } ?? ""
        let confirm = rollout.confirmBy.map { ", to be finished until \(TimeText.seconds($0))" } ?? ""
        console.print([
            "rollout \(rollout.id): \(share)\(per)\(selectorText)\(first)\(life)\(confirm), "
                + FleetConsole.provenance(rollout.by, rollout.at, now: now)
        ])
        console.print(
            rows: rollout.changes.map {
                .init(path: "  " + $0.path.token, value: $0.value.text, note: "was \($0.found.shown)")
            })
    }

    static func json(_ value: (path: TweakPath, desired: DesiredValue)) -> JSON {
        .object([
            ("path", .string(value.path.joined)), ("kind", .string(value.desired.value.kind.rawValue)),
            ("value", value.desired.value.json), ("by", .string(value.desired.by)), ("at", .int(value.desired.at)),
        ])
    }

    /// - Parameter strata: The members of its strata, if they are known.
    static func json(_ record: VersionedRecord<Rollout>, strata: [StratumCount] = []) -> JSON {
        // The stored record is already JSON; reuse it so that its numbers stay exact.
        let storedJSON = (try? JSON(record.value.bytes)) ?? .null
        let fields: [(String, JSON)] = [
            ("id", .string(record.value.id)), ("createRevision", .int(record.createRevision)),
            ("modRevision", .int(record.modRevision)), ("lease", .int(record.lease)), ("record", storedJSON),
        ]
        return .object(fields + (strata.isEmpty ? [] : [("strata", .array(strata.map(\.json)))]))
    }

    // MARK: get

    /// Prints desired values, and how many processes have which value.
    func get() async throws(FleetRefusal) {
        var patterns: [TweakPattern] = []
        for word in arguments.words { patterns.append(try pattern(word)) }
        let view = try await fleet.readState()
        let live = try await fleet.instanceStatuses().live
        let distribution = ValueDistribution(view, live, try await fleet.builds(), keys: keys) { path in
            patterns.contains { $0.matches(path) }
        }
        let found = distribution.paths
        if found.isEmpty {
            throw FleetRefusal(
                .refused, "\(keys.name) has no desired value for \(arguments.words.joined(separator: ", ")); see ls")
        }
        if console.isJSON { return console.print(.array(found.map { distribution.json($0, view.value($0)) })) }
        let authors = try await fleet.authors()
        for path in found {
            let desired = view.values[path]?.value
            let note =
                desired.map {
                    FleetConsole.provenance($0.by, $0.at, now: now, author: view.author(of: path, authors))
                } ?? "rollouts alone"
            console.print(rows: [.init(path: path.token, value: desired?.value.text ?? "(none)", note: note)])
            console.print(
                distribution.of(path).map { "  \($0.count.processes): \($0.text)" })
        }
    }

    // MARK: history, export

    func history() async throws(FleetRefusal) {
        let pattern = try pattern()
        let history = try await wholeHistory()
        let lines = pattern.map { history.lines(matching: $0) } ?? history.lines
        let authors = try await fleet.authors()
        func author(_ entry: FleetLogEntry) -> FleetAuthors.Verdict? {
            authors.verdict(at: history.revision(of: entry))
        }
        if console.isJSON { return console.print(.array(lines.map { Self.json($0, author) })) }
        for line in lines {
            switch line {
            case .end(let end): console.print(["- \(end.text)"])
            case .entry(let entry): show(entry, pattern, author(entry))
            }
        }
        printProblems(of: Dictionary(history.unreadable.map { ($0.key, $0.reason) }) { first, _ in first })
    }

    /// The log, with the entries of an export before it.
    private func wholeHistory() async throws(FleetRefusal) -> FleetHistory {
        guard let file = arguments.value(.all) else { return try await fleet.history() }
        let bytes = try reading { () throws(Failure) in try InputFile(file, sizeLimit: 1 << 30).read() }
        let (history, missing) = try await fleet.history(after: bytes)
        for gap in missing {
            console.output.printRemark("entries between \(gap.after) and \(gap.before) are missing in \(file)")
        }
        return history
    }

    private func show(_ entry: FleetLogEntry, _ pattern: TweakPattern?, _ author: FleetAuthors.Verdict?) {
        let who = FleetConsole.provenance(entry.by, entry.at, now: now, author: author)
        console.print(["\(entry.sequence) \(entry.actionText) \(who)"])
        console.print(
            rows: entry.changes.filter { pattern?.matches($0.path) ?? true }.map {
                .init(path: "  " + $0.path.token, value: $0.new.shown, note: "was \($0.old.shown)")
            })
    }

    static func json(
        _ line: FleetHistory.Line, _ author: (FleetLogEntry) -> FleetAuthors.Verdict?
    ) -> JSON {
        switch line {
        case .entry(let entry):
            .object([
                ("entry", .unsigned(entry.sequence)), ("verb", .string(entry.verb)), ("rollout", .text(entry.rollout)),
                ("why", .text(entry.why)), ("by", .string(entry.by)), ("at", .int(entry.at)),
                ("user", FleetConsole.json(author(entry))),
                ("changes", .array(entry.changes.map(FleetConsole.json))), ("derived", .bool(false)),
            ])
        case .end(let end):
            .object([
                ("entry", .null), ("verb", .string("end")), ("rollout", .string(end.rollout)),
                ("why", .string(end.reason)), ("after", .int(end.after)),
                ("before", end.before.map { .int($0) } ?? .null), ("derived", .bool(true)),
            ])
        }
    }

    /// Prints values in the format of a config file.
    /// - Returns: A failure if values cannot be read, since an import with `--prune` elsewhere would remove them.
    func export() async throws(FleetRefusal) -> ExitCode {
        let pattern = try pattern()
        let view = try await fleet.readState()
        let values = view.sortedValues.filter { pattern?.matches($0.path) ?? true }
        if console.isJSON {
            console.print(.array(values.map(Self.json)))
        } else {
            console.output.print(values.map { "\($0.path.token) = \($0.desired.value.text)" })
        }
        let open = view.ordered.map(\.value.id)
        if !open.isEmpty { console.output.printRemark("rollouts are not exported: \(open.joined(separator: ", "))") }
        let missing = Set(view.unreadableValues.filter { pattern?.matches($0) ?? true }.map(keys.value))
        if missing.isEmpty { return .ok }
        printProblems(of: view.unreadable.filter { missing.contains($0.key) })
        console.output.reportProblem("the export is incomplete: it lacks what cannot be read")
        return .refused
    }
}

extension OperatorView {
    /// Who has written a value.
    fileprivate func author(of path: TweakPath, _ authors: FleetAuthors) -> FleetAuthors.Verdict? {
        values[path].flatMap { authors.verdict(at: $0.modRevision) }
    }

    /// Desired values sorted by the bytes of their paths.
    var sortedValues: [(path: TweakPath, desired: DesiredValue)] {
        values.map { ($0.key, $0.value.value) }
            .sorted { $0.0.joined.utf8.lexicographicallyPrecedes($1.0.joined.utf8) }
    }
}

extension DerivedEnd {
    var reason: String {
        switch cause {
        case .time: "its time was over"
        case .driver: "its driver was gone"
        case .deletion: "it was deleted without an entry, as by abort on a full etcd, or by etcdctl"
        }
    }

    /// `rollout k3x9mp ended: its time was over, after 2026-11-25T10:03:10Z`
    var text: String {
        let time = before.map { "between \(TimeText.seconds(after)) and \(TimeText.seconds($0))" }
        return "rollout \(rollout) ended: \(reason), \(time ?? "after \(TimeText.seconds(after))")"
    }
}

extension FleetLogEntry {
    /// A description of the action: `rollout k3x9mp`, `set as rollout k3x9mp`.
    var actionText: String {
        let actionText = rollout.map { verb == "set" ? "set as rollout \($0)" : "\(verb) \($0)" } ?? verb
        return why.map { "\(actionText) (\($0))" } ?? actionText
    }
}
