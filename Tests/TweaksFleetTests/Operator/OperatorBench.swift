// A fleet's keys in memory for the tests of operators, and what stands in them as lines.

import Synchronization
import Testing
import Tweaks

@testable import TweaksFleet

/// The keys of one fleet, and operators of it.
struct OperatorBench {
    let etcd = FaultyEtcd(MemoryEtcd())
    let keys = FleetKeys(name: "api")

    /// An operator at a fixed time, whose rollouts are `r1`.
    func fleet(by: String = "alice", on etcd: (any Etcd)? = nil, id: String = "r1") -> FleetOperator {
        FleetOperator(etcd ?? self.etcd, keys, by: by, now: { 1_000_000 }, makeID: { id })
    }

    func put(_ key: [UInt8], _ value: [UInt8], lease: Int64 = 0) async throws {
        _ = try await etcd.commit(EtcdTransaction(then: [.put(key: key, value: value, lease: lease)]))
    }

    func assignment(_ path: String, _ value: TweakValue) throws -> FleetAssignment {
        FleetAssignment(try TweakPath(path), value)
    }

    func delete(_ key: [UInt8]) async throws {
        _ = try await etcd.commit(EtcdTransaction(then: [.delete(.key(key))]))
    }

    /// A process that lives.
    func register(
        _ id: String, start: Int64 = 1, build: String = "b1", labels: Labels = [:],
        _ change: (inout FleetStatus) -> Void = { _ in }
    ) async throws {
        var status = FleetStatus(build: build)
        status.labels = labels
        change(&status)
        try await put(keys.instance(id, start: start), status.bytes)
    }

    /// What stands in the keys: the head, values, rollouts, the log.
    func state() async throws -> [String] {
        let view = try await fleet().look()
        var lines = [view.head.map { "head \($0.value.counter) \($0.value.by): \($0.value.what)" } ?? "no head"]
        lines += view.values.map { "\($0.key) = \($0.value.value.value.text)" }.sorted()
        lines += view.ordered.map(line)
        lines += view.garbage.keys.map { "garbage \(String(decoding: $0, as: UTF8.self))" }.sorted()
        lines += try await fleet().history().entries.map(line)
        return lines
    }

    private func line(_ held: Held<Rollout>) -> String {
        let rollout = held.value
        let lease = held.lease == 0 ? "" : " leased"
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

/// Another etcd behind this one, which answers before it or in its place.
struct InterposedEtcd: Etcd {
    let etcd: any Etcd
    /// Runs before each transaction; what it throws is the answer.
    let beforeCommit: @Sendable (EtcdTransaction) async throws(EtcdError) -> Void

    func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult { try await etcd.range(range) }
    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        try await beforeCommit(transaction)
        return try await etcd.commit(transaction)
    }
    func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease {
        try await etcd.grantLease(seconds: seconds)
    }
    func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? { try await etcd.keepAlive(lease) }
    func revokeLease(_ lease: Int64) async throws(EtcdError) { try await etcd.revokeLease(lease) }
    func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        etcd.watch(range, from: revision)
    }
    func status() async throws(EtcdError) -> EtcdStatus { try await etcd.status() }
}

extension InterposedEtcd {
    /// One where somebody else is faster, so many times.
    static func raced(
        _ etcd: any Etcd, times: Int = 1, by: @escaping @Sendable (Int) async throws(EtcdError) -> Void
    ) -> InterposedEtcd {
        let left = Counter(times)
        return InterposedEtcd(etcd: etcd) { _ throws(EtcdError) in
            if let number = left.next() { try await by(number) }
        }
    }
}

extension InterposedEtcd {
    /// One whose answers to writes are lost, so that the client asks again.
    static func forgetful(_ etcd: any Etcd) -> InterposedEtcd {
        InterposedEtcd(etcd: etcd) { transaction throws(EtcdError) in _ = try await etcd.commit(transaction) }
    }
}

/// Counts down to nothing.
private final class Counter: Sendable {
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

/// An etcd that fails when a test says so.
final class FaultyEtcd: Etcd {
    enum Fault { case none, full, unreachable }

    private typealias Continuation = AsyncThrowingStream<EtcdWatchMessage, any Error>.Continuation

    private let etcd: any Etcd
    private let state = Mutex<(fault: Fault, watches: [Continuation])>((.none, []))

    init(_ etcd: any Etcd) { self.etcd = etcd }

    /// Watches end when it becomes unreachable.
    func set(_ fault: Fault) {
        let ended = state.withLock { state -> [Continuation] in
            state.fault = fault
            guard fault == .unreachable else { return [] }
            defer { state.watches = [] }
            return state.watches
        }
        for watch in ended { watch.finish(throwing: EtcdError.unreachable("the test's etcd")) }
    }

    private func check(isPut: Bool = false) throws(EtcdError) {
        switch state.withLock({ $0.fault }) {
        case .unreachable: throw .unreachable("the test's etcd")
        case .full where isPut: throw .noSpace("mvcc: database space exceeded")
        case .none, .full: break
        }
    }

    func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult {
        try check()
        return try await etcd.range(range)
    }

    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        try check(isPut: transaction.success.contains { if case .put = $0 { true } else { false } })
        return try await etcd.commit(transaction)
    }

    func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease {
        try check()
        return try await etcd.grantLease(seconds: seconds)
    }

    func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? {
        try check()
        return try await etcd.keepAlive(lease)
    }

    func revokeLease(_ lease: Int64) async throws(EtcdError) {
        try check()
        try await etcd.revokeLease(lease)
    }

    func status() async throws(EtcdError) -> EtcdStatus {
        try check()
        return try await etcd.status()
    }

    func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: EtcdWatchMessage.self)
        let inner = etcd.watch(range, from: revision)
        let task = Task {
            do {
                for try await message in inner { continuation.yield(message) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        let isOpen = state.withLock { state in
            if state.fault != .unreachable { state.watches.append(continuation) }
            return state.fault != .unreachable
        }
        if !isOpen { continuation.finish(throwing: EtcdError.unreachable("the test's etcd")) }
        return stream
    }
}
