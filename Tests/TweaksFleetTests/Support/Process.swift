// Runs followers as processes of a fleet would, with a registry and a directory of their own.

import Synchronization
import Testing
import Tweaks
import TweaksInterface

@testable import TweaksFleet

/// One process that follows: its tweaks, its log, and what wakes a test.
final class FollowingProcess: Sendable {
    let registry = TweakRegistry()
    let size: Tweak<Double>
    let count: Tweak<Int>
    let follower: FleetFollower
    let board = FleetBoard()
    let log = FleetLog()
    let identity: FleetIdentity
    private let running = Mutex<Task<Void, Never>?>(nil)

    init(
        _ etcd: any Etcd, _ keys: FleetKeys = FleetKeys(name: "api"), id: String? = "i1", labels: Labels = [:],
        directory: String? = nil, time: any FleetTime, timings: FleetTimings = FleetTimings()
    ) throws {
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        count = try registry.register("A", "B", "Count", 1, in: 0...9)
        identity = FleetIdentity(id, labels: labels, directory: directory)
        let file = directory.map { LastGoodFile(directory: $0, keys: keys) }
        var core = FleetCore(keys: keys, instance: identity.instance, registry: registry, time: time)
        if let kept = try file?.load() { core.take(kept) }
        let log = log
        follower = FleetFollower(
            core, etcd: etcd, keys: keys, identity: identity, registry: registry, file: file, board: board, time: time,
            timings: timings, log: { log.add($0.description) })
    }

    func start() {
        let follower = follower
        registry.onUnfit { [weak follower] _, aside in
            if aside.layer == .fleet { Task { await follower?.recompose() } }
        }
        let task = Task { await follower.run() }
        running.withLock { $0 = task }
    }

    /// Ends as by `kill -9`: nothing is written any more, and its status stays for as long as its lease.
    func kill() async {
        let task = running.withLock { $0.take() }
        task?.cancel()
        await task?.value
    }

    func stop() async {
        await kill()
        await follower.retract()
    }

    /// Waits until a tweak has a value.
    func wait<Value: TweakConvertible & Equatable & Sendable>(_ tweak: Tweak<Value>, _ value: Value) async {
        for await current in tweak.values where current == value { return }
    }
}

/// What was logged, and who waits for it.
final class FleetLog: Sendable {
    private struct State {
        var lines: [String] = []
        var waiting: [(text: String, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var lines: [String] { state.withLock { $0.lines } }

    func add(_ line: String) {
        let awake = state.withLock { state in
            state.lines.append(line)
            defer { state.waiting.removeAll { line.contains($0.text) } }
            return state.waiting.filter { line.contains($0.text) }
        }
        for waiter in awake { waiter.continuation.resume() }
    }

    /// Waits for a line that holds a text.
    func wait(for text: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.lines.contains(where: { $0.contains(text) }) { return true }
                state.waiting.append((text, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

extension MemoryEtcd {
    /// Waits until a key below a prefix has a value that a test looks for.
    func wait(_ prefix: [UInt8], until isRight: @Sendable (EtcdEvent) -> Bool) async throws {
        for try await message in watch(.prefix(prefix), from: 1) {
            if case .events(_, let events) = message, events.contains(where: isRight) { return }
        }
    }

    func head(
        _ keys: FleetKeys, _ counter: UInt64, _ what: String = "set", by: String = "ana", adopted: UInt64 = 0
    ) -> EtcdTransaction.Operation {
        var head = FleetHead(counter: counter, by: by, what: what, at: 1_700_000_000_000)
        head.adopted = adopted
        return .put(key: keys.head, value: head.bytes)
    }

    /// Sets values as an operator does: with the head, at one revision.
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

    func roll(_ rollout: Rollout, _ keys: FleetKeys, counter: UInt64, lease: Int64 = 0) async throws {
        _ = try await commit(
            EtcdTransaction(then: [
                head(keys, counter, "rollout"), .put(key: keys.rollout(rollout.id), value: rollout.bytes, lease: lease),
            ]))
    }
}

extension Rollout {
    /// A rollout of everything to everybody, to be changed by tests.
    init(_ id: String, _ changes: [String: TweakValue], share: Share = .all) throws {
        self.init(
            id: id,
            changes: try changes.sorted { $0.key < $1.key }.map {
                Change(path: try TweakPath($0.key), value: $0.value, found: nil)
            }, share: share, by: "bob", at: 1_700_000_000_000)
    }
}
