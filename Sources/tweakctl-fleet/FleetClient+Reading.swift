// Verbs that show what the fleet's keys hold: ls, get, history, export.

import Tweaks
import TweaksFleet
import TweaksTerminal

extension FleetClient {
    // MARK: ls

    /// Desired values with who and when, and the rollouts.
    func list() async throws(FleetRefusal) {
        let pattern = try pattern()
        let view = try await fleet.look()
        let values = view.sortedValues.filter { pattern?.matches($0.path) ?? true }
        let rollouts = view.ordered.filter { held in
            held.value.changes.contains { pattern?.matches($0.path) ?? true }
        }
        if console.isJSON {
            return console.print(
                .object([
                    ("cluster", .string(String(view.header.clusterID, radix: 16))),
                    ("revision", .int(view.header.revision)), ("values", .array(values.map(Self.json))),
                    ("rollouts", .array(rollouts.map { Self.json($0) })), ("garbage", Self.json(view.garbage)),
                ]))
        }
        console.print(
            rows: values.map { path, desired in
                .init(
                    path: path.token, value: desired.value.text,
                    note: FleetConsole.provenance(desired.by, desired.at, now: now))
            })
        for held in rollouts { show(held.value) }
        complain(of: view.garbage)
        if values.isEmpty, rollouts.isEmpty { console.output.remark("\(keys.name) has no desired values here") }
    }

    /// Names the keys that cannot be read, and why.
    func complain(of garbage: [[UInt8]: String]) {
        for (key, reason) in Self.sorted(garbage) {
            let remedy = reason.contains(";") ? "" : "; delete it with etcdctl del"
            console.output.complain("\(key): \(reason)\(remedy)")
        }
    }

    static func json(_ garbage: [[UInt8]: String]) -> JSON {
        .array(sorted(garbage).map { .object([("key", .string($0.key)), ("reason", .string($0.reason))]) })
    }

    private static func sorted(_ garbage: [[UInt8]: String]) -> [(key: String, reason: String)] {
        garbage.map { (String(decoding: $0.key, as: UTF8.self), $0.value) }.sorted { $0.key < $1.key }
    }

    /// A rollout with its changes, in lines.
    func show(_ rollout: Rollout) {
        let whom = rollout.selector.isEmpty ? "" : " of \(rollout.selector.text)"
        let share = rollout.state == .done ? "standing rule" : "\(rollout.state.rawValue) at \(rollout.share.text)"
        let life = rollout.lifetime.map { ", under a lease of \($0) s" } ?? ""
        let confirm = rollout.confirmBy.map { ", to be finished until \(TimeText.seconds($0))" } ?? ""
        console.print([
            "rollout \(rollout.id): \(share)\(whom)\(life)\(confirm), "
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

    static func json(_ held: Held<Rollout>) -> JSON {
        // The record is JSON already, and numbers in it stay as they are.
        let record = (try? JSON(held.value.bytes)) ?? .null
        return .object([
            ("id", .string(held.value.id)), ("createRevision", .int(held.createRevision)),
            ("modRevision", .int(held.modRevision)), ("lease", .int(held.lease)), ("record", record),
        ])
    }

    // MARK: get

    /// Desired values, and who holds what.
    func get() async throws(FleetRefusal) {
        var patterns: [TweakPattern] = []
        for word in arguments.words { patterns.append(try pattern(word)) }
        let view = try await fleet.look()
        let live = try await fleet.population().live
        let holdings = FleetHoldings(view, live, try await fleet.builds(), keys: keys) { path in
            patterns.contains { $0.matches(path) }
        }
        let found = holdings.paths
        if found.isEmpty {
            throw FleetRefusal(
                .refused, "\(keys.name) has no desired value for \(arguments.words.joined(separator: ", ")); see ls")
        }
        if console.isJSON { return console.print(.array(found.map { holdings.json($0, view.value($0)) })) }
        for path in found {
            let desired = view.values[path]?.value
            let note = desired.map { FleetConsole.provenance($0.by, $0.at, now: now) } ?? "rollouts alone"
            console.print(rows: [.init(path: path.token, value: desired?.value.text ?? "(none)", note: note)])
            console.print(
                holdings.of(path).map { "  \($0.count.processes): \($0.text)" })
        }
    }

    // MARK: history, export

    func history() async throws(FleetRefusal) {
        let pattern = try pattern()
        let history = try await fleet.history()
        let entries = pattern.map { history.entries(matching: $0) } ?? history.entries
        if console.isJSON { return console.print(.array(entries.map(Self.json))) }
        for entry in entries {
            console.print([
                "\(entry.sequence) \(entry.deed) \(FleetConsole.provenance(entry.by, entry.at, now: now))"
            ])
            console.print(
                rows: entry.changes.filter { pattern?.matches($0.path) ?? true }.map {
                    .init(path: "  " + $0.path.token, value: $0.new.shown, note: "was \($0.old.shown)")
                })
        }
        for (key, reason) in history.garbage {
            console.output.complain("\(key): \(reason); delete it with etcdctl del")
        }
    }

    private static func json(_ entry: FleetLogEntry) -> JSON {
        .object([
            ("entry", .unsigned(entry.sequence)), ("verb", .string(entry.verb)), ("rollout", .text(entry.rollout)),
            ("by", .string(entry.by)), ("at", .int(entry.at)),
            ("changes", .array(entry.changes.map(FleetConsole.json))),
        ])
    }

    /// Lines as a config file has them.
    func export() async throws(FleetRefusal) {
        let pattern = try pattern()
        let view = try await fleet.look()
        let values = view.sortedValues.filter { pattern?.matches($0.path) ?? true }
        if console.isJSON { return console.print(.array(values.map(Self.json))) }
        console.output.print(values.map { "\($0.path.token) = \($0.desired.value.text)" })
        let open = view.ordered.map(\.value.id)
        if !open.isEmpty { console.output.remark("rollouts are not exported: \(open.joined(separator: ", "))") }
    }
}

extension OperatorView {
    /// Desired values by path, byte by byte.
    var sortedValues: [(path: TweakPath, desired: DesiredValue)] {
        values.map { ($0.key, $0.value.value) }
            .sorted { $0.0.joined.utf8.lexicographicallyPrecedes($1.0.joined.utf8) }
    }
}

extension FleetLogEntry {
    /// What was done, as one would say it: `rollout k3x9mp`, `set as rollout k3x9mp`.
    var deed: String {
        guard let rollout else { return verb }
        let deed = verb == "set" ? "set as rollout \(rollout)" : "\(verb) \(rollout)"
        return why.map { "\(deed) (\($0))" } ?? deed
    }
}
