// Provides operators of a fleet in memory, its keys as readable lines, and an etcd that fails or loses races.

import Synchronization
import Tweaks

@testable import TweaksFleet

/// The keys of one fleet, and operators of it.
struct OperatorHarness {
    let etcd = MemoryEtcd()
    let keys = FleetKeys(name: "api")

    /// Returns an operator at a fixed time, whose rollouts are `r1`.
    func fleet(by: String = "alice", on etcd: (any Etcd)? = nil) -> FleetOperator {
        FleetOperator(etcd ?? self.etcd, keys, by: by, now: { 1_000_000 }, makeID: { "r1" })
    }

    func assignment(_ path: String, _ value: TweakValue) throws -> FleetAssignment {
        FleetAssignment(try TweakPath(path), value)
    }

    func plan(_ path: String, _ value: TweakValue) throws -> RolloutPlan {
        RolloutPlan(id: "r1", assignments: [try assignment(path, value)])
    }

    func value(_ path: String) async throws -> TweakValue? { try await fleet().readState().value(TweakPath(path)) }

    func rollout() async throws -> VersionedRecord<Rollout>? { try await fleet().readState().rollouts["r1"] }

    /// Puts a value as etcdctl does.
    func put(_ path: String, _ value: TweakValue, lease: Int64 = 0) throws {
        etcd.put(keys.value(try TweakPath(path)), DesiredValue(value: value, by: "etcdctl", at: 0).bytes, lease: lease)
    }

    /// Registers a live process.
    func register(
        _ id: String, start: Int64 = 1, build: String = "b1", labels: Labels = [:],
        _ change: (inout FleetStatus) -> Void = { _ in }
    ) {
        var status = FleetStatus(build: build)
        status.labels = labels
        change(&status)
        etcd.put(keys.instance(id, start: start), status.bytes)
    }

    /// Describes the keys: the head, values, rollouts, the log.
    func state() async throws -> [String] {
        let view = try await fleet().readState()
        var lines = [view.head.map { "head \($0.value.counter) \($0.value.by): \($0.value.what)" } ?? "no head"]
        lines += view.values.map { "\($0.key) = \($0.value.value.value.text)" }.sorted()
        lines += view.ordered.map(line)
        lines += view.unreadable.keys.map { "malformed \(String(decoding: $0, as: UTF8.self))" }.sorted()
        lines += try await fleet().history().entries.map(line)
        return lines
    }

    private func line(_ record: VersionedRecord<Rollout>) -> String {
        let rollout = record.value
        let lease = record.lease == 0 ? "" : " leased"
        let next = rollout.next.map { " next \($0)" } ?? ""
        let confirm = rollout.confirmBy.map { " confirm \($0)" } ?? ""
        let changes = rollout.changes.map { "\($0.path) \($0.found.shown)→\($0.value.text)" }
        return "rollout \(rollout.id) \(rollout.state.rawValue) \(rollout.share.hundredths)\(next)\(confirm)\(lease): "
            + changes.joined(separator: ", ")
    }

    private func line(_ entry: FleetLogEntry) -> String {
        let rollout = entry.rollout.map { " \($0)" } ?? ""
        let changes = entry.changes.map { " \($0.path) \($0.old.shown)→\($0.new.shown)" }
        return "log \(entry.sequence) \(entry.by): \(entry.verb)\(rollout)" + changes.joined(separator: ",")
    }
}

/// Returns the text of the error of an operation that must be refused.
func refusal<Result>(_ body: () async throws -> Result) async -> String {
    do {
        _ = try await body()
        return "no error"
    } catch {
        return (error as? FleetRefusal)?.description ?? "\(error)"
    }
}

/// Runs a check before each call, which can fail in place of the underlying etcd.
struct InterposedEtcd: Etcd {
    let etcd: any Etcd
    /// Runs before each call.
    var beforeCall: @Sendable () throws(EtcdError) -> Void = { () throws(EtcdError) in }
    /// Runs before each transaction.
    var beforeCommit: @Sendable (EtcdTransaction) async throws(EtcdError) -> Void = { _ throws(EtcdError) in }

    var isSignedIn: Bool { etcd.isSignedIn }

    private var checked: any Etcd {
        get throws(EtcdError) {
            try beforeCall()
            return etcd
        }
    }

    func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult { try await checked.range(range) }
    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        try await beforeCommit(transaction)
        return try await checked.commit(transaction)
    }
    func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease {
        try await checked.grantLease(seconds: seconds)
    }
    func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? { try await checked.keepAlive(lease) }
    func revokeLease(_ lease: Int64) async throws(EtcdError) { try await checked.revokeLease(lease) }
    func status() async throws(EtcdError) -> EtcdStatus { try await checked.status() }
    func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        do throws(EtcdError) {
            return try checked.watch(range, from: revision)
        } catch {
            return AsyncThrowingStream { $0.finish(throwing: error) }
        }
    }

    /// An etcd that a process does not reach while it is cut off. An open watch goes on.
    static func behind(_ partition: Partition, _ etcd: any Etcd) -> InterposedEtcd {
        InterposedEtcd(
            etcd: etcd,
            beforeCall: { () throws(EtcdError) in
                if partition.isCut { throw .unreachable("the network of the test") }
            })
    }

    /// Runs an action before each of the first transactions, as another client that is faster.
    /// - Parameter action: Receives the number of actions that follow.
    static func raced(
        _ etcd: any Etcd, times: Int = 1, by action: @escaping @Sendable (Int) async throws(EtcdError) -> Void
    ) -> InterposedEtcd {
        let left = Countdown(times)
        return InterposedEtcd(
            etcd: etcd,
            beforeCommit: { _ throws(EtcdError) in if let number = left.next() { try await action(number) } })
    }

    /// Commits each transaction twice, as a client does after a lost reply.
    static func repeating(_ etcd: any Etcd) -> InterposedEtcd {
        InterposedEtcd(
            etcd: etcd, beforeCommit: { transaction throws(EtcdError) in _ = try await etcd.commit(transaction) })
    }
}

/// A network that a test cuts.
final class Partition: Sendable {
    private let state = Atomic(false)

    var isCut: Bool {
        get { state.load(ordering: .acquiring) }
        set { state.store(newValue, ordering: .releasing) }
    }
}

private final class Countdown: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    func next() -> Int? {
        left.withLock { left in
            if left == 0 { return nil }
            left -= 1
            return left
        }
    }
}
