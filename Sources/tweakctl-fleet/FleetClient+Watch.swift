// Implements the command watch: prints desired values, rollouts and the log, one line for each change.

import Tweaks
import TweaksFleet
import TweaksSystem

extension FleetClient {
    /// Runs until it is interrupted or etcd stays unreachable.
    func watch() async throws(FleetRefusal) -> ExitCode {
        let pattern = try pattern()
        System.succeedOnInterrupt()
        var revision = try await fleet.readState().header.revision
        var failures = 0
        while !Output.hasNoReader {
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
                    if Output.hasNoReader { return .ok }
                }
                throw EtcdError.unavailable("the watch has ended")
            } catch {
                failures += 1
                revision = try await afterFailure(error, failures, revision)
            }
        }
        return .ok
    }

    /// Returns the revision to continue from: the current one if etcd has compacted the changes.
    private func afterFailure(
        _ error: any Error, _ failures: Int, _ revision: Int64
    ) async throws(FleetRefusal) -> Int64 {
        let error = error as? EtcdError ?? .unavailable("\(error)")
        if case .compacted = error {
            console.output.printRemark("etcd has compacted the missed changes; see history")
            return try await fleet.readState().header.revision
        }
        let refusal = FleetRefusal(error)
        if refusal.kind != .unreachable || failures > 10 { throw refusal }
        if failures == 1 { console.output.printRemark("\(refusal.description); trying again") }
        try? await Task.sleep(for: .seconds(1))
        return revision
    }

    private func show(_ event: EtcdEvent, _ pattern: TweakPattern?) {
        guard let line = FleetChange(event, keys), pattern.map(line.matches) ?? true else { return }
        if console.isJSON { return console.print(line.json) }
        console.print([line.text])
    }
}

/// A change of a key, as text and JSON.
struct FleetChange: Equatable {
    var revision: Int64
    /// The kind of the key: `value`, `rollout`, `log`.
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

    /// Returns nil for keys that are not shown: statuses, builds, drivers, and the head, which the log describes.
    init?(_ event: EtcdEvent, _ keys: FleetKeys) {
        let (key, bytes) = (event.pair.key, event.pair.value)
        revision = event.pair.modRevision
        let isDeleted = event.kind == .delete
        if key.starts(with: keys.log) {
            guard !isDeleted, let entry = try? FleetLogEntry(bytes) else { return nil }
            (kind, paths) = ("log", entry.changes.map(\.path))
            text = "entry \(entry.sequence): \(entry.actionText) by \(entry.by)"
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
            (kind, text) = ("foreign", "\(String(decoding: key, as: UTF8.self)) is not a key of a fleet")
        }
    }
}
