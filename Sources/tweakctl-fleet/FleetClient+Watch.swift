// The verb watch: follows desired values, rollouts and the log, one line a change.

import Tweaks
import TweaksFleet
import TweaksTerminal

extension FleetClient {
    /// Until it is interrupted, or etcd is away for good.
    func watch() async throws(FleetRefusal) -> ExitCode {
        let pattern = try pattern()
        System.succeedOnInterrupt()
        var revision = try await fleet.look().header.revision
        var failures = 0
        while !Output.isUnread {
            do {
                for try await message in fleet.etcd.watch(.prefix(keys.all), from: revision + 1) {
                    guard case .events(let header, let events) = message else {
                        if failures == 0, !console.isJSON { console.print(["watching \(keys.prefix)/\(keys.name)"]) }
                        failures = 0
                        continue
                    }
                    // The header may be newer than events that are still to come.
                    revision = max(revision, events.last?.pair.modRevision ?? header.revision)
                    for event in events { show(event, pattern) }
                    if Output.isUnread { return .ok }
                }
                throw EtcdError.unavailable("the watch has ended")
            } catch {
                failures += 1
                revision = try await afterFailure(error, failures, revision)
            }
        }
        return .ok
    }

    /// Where to go on: from what is there now, where etcd has forgotten the rest.
    private func afterFailure(
        _ error: any Error, _ failures: Int, _ revision: Int64
    ) async throws(FleetRefusal) -> Int64 {
        let error = error as? EtcdError ?? .unavailable("\(error)")
        if case .compacted = error {
            console.output.remark("etcd has compacted what came meanwhile; history has it")
            return try await fleet.look().header.revision
        }
        let refusal = FleetRefusal(error)
        if refusal.kind != .unreachable || failures > 10 { throw refusal }
        if failures == 1 { console.output.remark("\(refusal.description); trying again") }
        try? await Task.sleep(for: .seconds(1))
        return revision
    }

    private func show(_ event: EtcdEvent, _ pattern: TweakPattern?) {
        guard let line = FleetChange(event, keys), pattern.map(line.matches) ?? true else { return }
        if console.isJSON { return console.print(line.json) }
        console.print([line.text])
    }
}

/// A change of the keys, for people and programs.
struct FleetChange: Equatable {
    var revision: Int64
    /// What the key holds: `value`, `rollout`, `log`.
    var kind: String
    var text: String
    private var paths: [TweakPath] = []

    func matches(_ pattern: TweakPattern) -> Bool { paths.contains(where: pattern.matches) }

    var json: JSON {
        .object([
            ("revision", .int(revision)), ("kind", .string(kind)), ("text", .string(text)),
            ("paths", .array(paths.map { .string($0.joined) })),
        ])
    }

    /// Nil for what is of no interest: statuses, builds, drivers, and the head, which the log explains.
    init?(_ event: EtcdEvent, _ keys: FleetKeys) {
        let (key, bytes) = (event.pair.key, event.pair.value)
        revision = event.pair.modRevision
        let isDeleted = event.kind == .delete
        if key.starts(with: keys.log) {
            guard !isDeleted, let entry = try? FleetLogEntry(bytes) else { return nil }
            (kind, paths) = ("log", entry.changes.map(\.path))
            text = "entry \(entry.sequence): \(entry.deed) by \(entry.by)"
            return
        }
        guard key.starts(with: keys.desired) else { return nil }
        switch keys.desired(key) {
        case .head: return nil
        case .value(let path):
            (kind, paths) = ("value", [path])
            let desired = isDeleted ? nil : try? DesiredValue(bytes)
            let value = desired.map { "= \($0.value.text)" } ?? "cannot be read"
            text = isDeleted ? "\(path.token) is reset" : "\(path.token) \(value)"
        case .rollout(let id):
            kind = "rollout"
            let rollout = isDeleted ? nil : try? Rollout(bytes)
            paths = rollout?.changes.map(\.path) ?? []
            let state = rollout.map { "is \($0.state.rawValue) at \($0.share.text)" } ?? "cannot be read"
            text = "rollout \(id) \(isDeleted ? "is gone" : state)"
        case .foreign:
            (kind, text) = ("foreign", "\(String(decoding: key, as: UTF8.self)) is no key of a fleet")
        }
    }
}
