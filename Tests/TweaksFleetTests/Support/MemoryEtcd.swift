// Implements etcd in memory: revisions, transactions, leases, watches, and faults that tests inject.

import Synchronization

@testable import TweaksFleet

/// An etcd of one member, whose leases expire only when a test advances the time.
final class MemoryEtcd: Etcd {
    struct Faults {
        /// All calls fail, and watches end.
        var isUnreachable = false
        /// Watches are open but deliver no events.
        var isSilent = false
        /// The quota is reached: puts are rejected.
        var isFull = false
        /// Replies to reads are delayed; watches deliver.
        var isStalled = false
        /// Watches are rejected.
        var refusal: EtcdError?
        /// Watches end as soon as they are established.
        var breakage: EtcdError?
    }

    fileprivate struct Watcher {
        let keys: EtcdKeys
        /// The first revision that it has not received.
        var next: Int64
        let continuation: AsyncThrowingStream<EtcdWatchMessage, any Error>.Continuation
    }

    fileprivate struct State {
        var clusterID: UInt64 = 0xABC
        var revision: Int64 = 1
        var compacted: Int64 = 0
        var keys: [[UInt8]: EtcdKeyValue] = [:]
        var history: [(revision: Int64, events: [EtcdEvent])] = []
        var leases: [Int64: (granted: Int64, left: Int64)] = [:]
        var watchers: [Int: Watcher] = [:]
        var faults = Faults()
        var numbers = 100
        var (watchesAsked, watchesMade) = (0, 0)
        var stalled: [CheckedContinuation<Void, Never>] = []
    }

    private static let unreachable = EtcdError.unreachable("the test's etcd")
    private let state = Mutex(State())

    // MARK: Control by tests

    /// Changes the injected faults; watches end when the store becomes unreachable.
    func setFaults(_ change: (inout Faults) -> Void) {
        let (ended, resumed) = state.withLock { state -> ([Watcher], [CheckedContinuation<Void, Never>]) in
            change(&state.faults)
            let resumed = state.faults.isStalled ? [] : state.stalled
            if !state.faults.isStalled { state.stalled = [] }
            guard state.faults.isUnreachable else { return ([], resumed) }
            defer { state.watchers = [:] }
            return (Array(state.watchers.values), resumed)
        }
        for continuation in resumed { continuation.resume() }
        for watcher in ended { watcher.continuation.finish(throwing: Self.unreachable) }
        notifyWatchers()
    }

    /// Advances the time; expired leases are deleted with their keys.
    func advance(seconds: Int64) {
        state.withLock { state in
            for (id, lease) in state.leases.sorted(by: { $0.key < $1.key }) {
                state.leases[id]?.left = lease.left - seconds
                if lease.left <= seconds { state.end(id) }
            }
        }
        notifyWatchers()
    }

    /// Drops the history up to a revision.
    func compact(to revision: Int64? = nil) {
        state.withLock { state in
            state.compacted = revision ?? state.revision
            state.history.removeAll { $0.revision <= state.compacted }
        }
    }

    /// All keys, for `restore`.
    var snapshot: [EtcdKeyValue] { state.withLock { Array($0.keys.values) } }

    /// Replaces the store with one that holds these keys; watches end.
    func restore(_ pairs: [EtcdKeyValue], clusterID: UInt64? = nil, revision: Int64? = nil) {
        let ended = state.withLock { state in
            if let clusterID { state.clusterID = clusterID }
            state.revision = revision ?? pairs.map(\.modRevision).max() ?? 1
            (state.history, state.leases) = ([], [:])
            state.keys = Dictionary(pairs.map { ($0.key, $0) }) { $1 }
            defer { state.watchers = [:] }
            return state.watchers.values.map(\.continuation)
        }
        for continuation in ended { continuation.finish(throwing: EtcdError.unavailable("restored")) }
    }

    /// Puts a key as etcdctl does.
    func put(_ key: [UInt8], _ value: [UInt8], lease: Int64 = 0) {
        state.withLock { _ = $0.perform([.put(key: key, value: value, lease: lease)]) }
        notifyWatchers()
    }

    /// Deletes keys as etcdctl does.
    func delete(_ keys: EtcdKeys) {
        state.withLock { _ = $0.perform([.delete(keys)]) }
        notifyWatchers()
    }

    var revision: Int64 { state.withLock { $0.revision } }
    /// The number of watches that were established.
    var watchesMade: Int { state.withLock { $0.watchesMade } }
    /// The number of requested watches, including rejected ones.
    var watchesAsked: Int { state.withLock { $0.watchesAsked } }
    /// The number of delayed replies to reads.
    var stalled: Int { state.withLock { $0.stalled.count } }

    func value(_ key: [UInt8]) -> EtcdKeyValue? { state.withLock { $0.keys[key] } }

    func all(_ prefix: [UInt8]) -> [EtcdKeyValue] { state.withLock { $0.select(.prefix(prefix)) } }

    // MARK: Etcd

    /// It believes all users.
    var isSignedIn: Bool { true }

    private func reply<Value>(_ body: (inout State) -> Result<Value, EtcdError>) throws(EtcdError) -> Value {
        let result = state.withLock { state -> Result<Value, EtcdError> in
            state.faults.isUnreachable ? .failure(Self.unreachable) : body(&state)
        }
        notifyWatchers()
        return try result.get()
    }

    func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult {
        let result = try reply { .success($0.range(range.keys, limit: range.limit)) }
        await stall()
        return result
    }

    private func stall() async {
        await withCheckedContinuation { continuation in
            let isStalled = state.withLock { state in
                if state.faults.isStalled { state.stalled.append(continuation) }
                return state.faults.isStalled
            }
            if !isStalled { continuation.resume() }
        }
    }

    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        let result = try reply { state -> Result<EtcdTransactionResult, EtcdError> in
            let succeeds = transaction.compares.allSatisfy { state.holds($0) }
            let operations = succeeds ? transaction.success : transaction.failure
            if operations.count > 128 { return .failure(.tooLarge("more than 128 operations")) }
            for case .put(_, _, let lease) in operations {
                if state.faults.isFull { return .failure(.noSpace("mvcc: database space exceeded")) }
                if lease != 0, state.leases[lease] == nil { return .failure(.leaseNotFound) }
            }
            let responses = state.perform(operations)
            return .success(EtcdTransactionResult(header: state.header, succeeded: succeeds, responses: responses))
        }
        if transaction.isReading { await stall() }
        return result
    }

    func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease {
        try reply { state -> Result<EtcdLease, EtcdError> in
            state.numbers += 1
            let id = Int64(state.numbers)
            state.leases[id] = (seconds, seconds)
            return .success(EtcdLease(id: id, seconds: seconds))
        }
    }

    func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? {
        try reply { state -> Result<EtcdLease?, EtcdError> in
            guard let known = state.leases[lease] else { return .success(nil) }
            state.leases[lease] = (known.granted, known.granted)
            return .success(EtcdLease(id: lease, seconds: known.granted))
        }
    }

    func revokeLease(_ lease: Int64) async throws(EtcdError) {
        try reply { state -> Result<Void, EtcdError> in
            guard state.leases[lease] != nil else { return .failure(.leaseNotFound) }
            state.end(lease)
            return .success(())
        }
    }

    func status() async throws(EtcdError) -> EtcdStatus {
        try reply { state in
            let alarms: [EtcdAlarm] = state.faults.isFull ? [.noSpace] : []
            return .success(
                EtcdStatus(header: state.header, version: "3.4.23", leader: 1, size: 4_096, alarms: alarms))
        }
    }

    func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        let (stream, continuation) = AsyncThrowingStream<EtcdWatchMessage, any Error>.makeStream()
        let problem = state.withLock { state -> EtcdError? in
            state.watchesAsked += 1
            if state.faults.isUnreachable { return Self.unreachable }
            if let refusal = state.faults.refusal { return refusal }
            if revision <= state.compacted { return .compacted(state.compacted) }
            state.numbers += 1
            state.watchesMade += 1
            let id = state.numbers
            state.watchers[id] = Watcher(keys: range, next: revision, continuation: continuation)
            continuation.onTermination = { [weak self] _ in self?.removeWatcher(id) }
            continuation.yield(.created(state.header))
            return state.faults.breakage
        }
        if let problem { continuation.finish(throwing: problem) }
        notifyWatchers()
        return stream
    }

    /// Removes a watcher in a task, since a stream may end while the lock is held.
    private func removeWatcher(_ id: Int) { Task { self.state.withLock { state in state.watchers[id] = nil } } }

    /// Sends each watcher the events that it has not received.
    private func notifyWatchers() {
        state.withLock { state in
            if state.faults.isSilent || state.faults.isUnreachable { return }
            for id in Array(state.watchers.keys) {
                guard let watcher = state.watchers[id] else { continue }
                if watcher.next <= state.compacted {
                    // The next events for it are compacted.
                    state.watchers[id] = nil
                    watcher.continuation.finish(throwing: EtcdError.compacted(state.compacted))
                    continue
                }
                let events = state.history.filter { $0.revision >= watcher.next }.flatMap(\.events)
                    .filter { watcher.keys.contains($0.pair.key) }
                state.watchers[id]?.next = max(watcher.next, state.revision + 1)
                if !events.isEmpty { watcher.continuation.yield(.events(state.header, events)) }
            }
        }
    }
}

extension MemoryEtcd.State {
    var header: EtcdHeader { EtcdHeader(clusterID: clusterID, revision: revision) }

    func select(_ range: EtcdKeys) -> [EtcdKeyValue] {
        keys.values.filter { range.contains($0.key) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    func range(_ range: EtcdKeys, limit: Int) -> EtcdRangeResult {
        let all = select(range)
        return EtcdRangeResult(
            header: header, keys: limit > 0 ? Array(all.prefix(limit)) : all, count: Int64(all.count))
    }

    func holds(_ compare: EtcdTransaction.Compare) -> Bool {
        switch compare {
        case .modRevision(let key, let revision): (keys[key]?.modRevision ?? 0) == revision
        case .createRevision(let key, let revision): (keys[key]?.createRevision ?? 0) == revision
        case .absent(let prefix): !keys.keys.contains { $0.starts(with: prefix) }
        case .noneCreated(let prefix, let revision):
            select(.prefix(prefix)).allSatisfy { $0.createRevision <= revision }
        }
    }

    /// Executes operations, at one new revision if one of them changes a key.
    mutating func perform(_ operations: [EtcdTransaction.Operation]) -> [EtcdTransactionResult.Response] {
        let new = revision + 1
        var events: [EtcdEvent] = []
        var responses: [EtcdTransactionResult.Response] = []
        for operation in operations {
            switch operation {
            case .put(let key, let value, let lease):
                var pair = keys[key] ?? EtcdKeyValue(key: key, createRevision: new)
                (pair.value, pair.modRevision, pair.lease) = (value, new, lease)
                pair.version += 1
                keys[key] = pair
                events.append(EtcdEvent(.put, pair))
                responses.append(.put)
            case .delete(let range):
                let gone = select(range)
                for pair in gone {
                    keys[pair.key] = nil
                    events.append(EtcdEvent(.delete, EtcdKeyValue(key: pair.key, modRevision: new)))
                }
                responses.append(.delete(count: Int64(gone.count)))
            case .range(let range, let limit, _): responses.append(.range(self.range(range, limit: limit)))
            }
        }
        if !events.isEmpty {
            revision = new
            history.append((new, events))
        }
        return responses
    }

    /// Ends a lease; its keys are deleted at one revision.
    mutating func end(_ lease: Int64) {
        leases[lease] = nil
        let gone = keys.values.filter { $0.lease == lease }.map(\.key)
        _ = perform(gone.map { .delete(.key($0)) })
    }
}

extension EtcdTransaction {
    fileprivate var isReading: Bool {
        success.allSatisfy { if case .range = $0 { true } else { false } }
    }
}

extension EtcdKeys {
    func contains(_ key: [UInt8]) -> Bool {
        switch self {
        case .key(let own): own == key
        case .prefix(let prefix): key.starts(with: prefix)
        }
    }
}
