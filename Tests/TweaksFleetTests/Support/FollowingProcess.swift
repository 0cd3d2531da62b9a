// Runs followers as processes of a fleet do, each with its own registry, log and directory.

import Synchronization
import Tweaks
import TweaksInterface
import TweaksTestSupport

@testable import TweaksFleet

/// A process that follows a fleet.
final class FollowingProcess: Sendable {
    let registry = TweakRegistry()
    let size: Tweak<Double>
    let count: Tweak<Int>
    let follower: FleetFollower
    let log = LogLines()
    let identity: FleetIdentity
    private let running = Mutex<Task<Void, Never>?>(nil)

    init(
        _ etcd: any Etcd, _ keys: FleetKeys = FleetKeys(name: "api"), id: String? = "i1", labels: Labels = [:],
        directory: String? = nil, time: any FleetClock, timings: FleetTimings = FleetTimings()
    ) throws {
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        count = try registry.register("A", "B", "Count", 1, in: 0...9)
        identity = FleetIdentity(id, labels: labels, directory: directory)
        let file = directory.map { LastGoodFile(directory: $0, keys: keys) }
        var core = FleetCore(
            keys: keys, instance: identity.instance, sink: TweakSourceSink(.fleet, registry), time: time)
        if let saved = try file?.load() { core.restore(saved) }
        let log = log
        follower = FleetFollower(
            core, etcd: etcd, keys: keys, identity: identity, registry: registry, file: file,
            time: time, timings: timings, log: { log.note($0.description) })
    }

    func start() {
        let follower = follower
        registry.onInvalid { [weak follower] _, aside in
            if aside.layer == .fleet { Task { await follower?.recompose() } }
        }
        let task = Task { await follower.run() }
        running.withLock { $0 = task }
    }

    deinit { running.withLock { $0?.cancel() } }

    /// Ends as by `kill -9`: nothing more is written, and the status remains until its lease expires.
    func kill() async {
        await end()
        // A later write would go into the files of the next start.
        await follower.keeper?.discard()
    }

    func stop() async {
        await end()
        await follower.withdrawStatus()
    }

    private func end() async {
        let task = running.withLock { $0.take() }
        task?.cancel()
        await task?.value
    }

    /// Waits until a tweak has a value.
    func wait<Value: TweakConvertible & Equatable & Sendable>(_ tweak: Tweak<Value>, _ value: Value) async {
        for await current in tweak.values where current == value { return }
    }
}

extension [FollowingProcess] {
    /// Waits until the tweak Size has a value in each process.
    func wait(size: Double) async { for process in self { await process.wait(process.size, size) } }
    func stop() async { for process in self { await process.stop() } }
}

extension MemoryEtcd {
    /// Waits for an event below a prefix.
    func wait(_ prefix: [UInt8], until isMatch: @Sendable (EtcdEvent) -> Bool) async throws {
        for try await message in watch(.prefix(prefix), from: 1) {
            if case .events(_, let events) = message, events.contains(where: isMatch) { return }
        }
    }

    private func head(
        _ keys: FleetKeys, _ counter: UInt64, _ what: String, adopted: UInt64 = 0
    ) -> EtcdTransaction.Operation {
        var head = FleetHead(counter: counter, by: "ana", what: what, at: 1_700_000_000_000)
        head.adopted = adopted
        return .put(key: keys.head, value: head.bytes)
    }

    /// Sets values as an operator does: together with the head, at one revision.
    func set(
        _ values: [String: TweakValue], _ keys: FleetKeys, counter: UInt64, what: String = "set", adopted: UInt64 = 0
    ) async throws {
        var operations = [head(keys, counter, what, adopted: adopted)]
        for (path, value) in values.sorted(by: { $0.key < $1.key }) {
            let record = DesiredValue(value: value, by: "ana", at: 1_700_000_000_000)
            operations.append(.put(key: keys.value(try TweakPath(path)), value: record.bytes))
        }
        _ = try await commit(EtcdTransaction(then: operations))
    }

    /// Writes a rollout as an operator does.
    func roll(_ rollout: Rollout, _ keys: FleetKeys, counter: UInt64, lease: Int64 = 0) async throws {
        let put = EtcdTransaction.Operation.put(key: keys.rollout(rollout.id), value: rollout.bytes, lease: lease)
        _ = try await commit(EtcdTransaction(then: [head(keys, counter, "rollout"), put]))
    }
}

extension Rollout {
    /// A rollout for all processes, for tests to modify.
    init(_ id: String, _ changes: [String: TweakValue], share: Share = .all) throws {
        self.init(
            id: id,
            changes: try changes.sorted { $0.key < $1.key }.map {
                Change(path: try TweakPath($0.key), value: $0.value, found: nil)
            }, share: share, by: "bob", at: 1_700_000_000_000)
    }
}
