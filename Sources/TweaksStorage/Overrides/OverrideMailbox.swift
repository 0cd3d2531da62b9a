// Exchanges orders and results between the storage thread and other threads.

import Synchronization
import Tweaks

/// Orders for the storage thread, and its results.
final class OverrideMailbox: Sendable {
    /// An order other than writing committed changes.
    enum Order: Sendable {
        case propose(OverrideChanges, @Sendable (String?) -> Void)
        case withdraw(OverrideChanges)
        /// Writes delayed changes now.
        case flush
    }

    typealias Loaded = (entries: [StoredEntry], revision: UInt64, records: [History.Record])

    private struct State {
        weak var registry: TweakRegistry?
        var follower: CommitFollower?
        /// The remaining changes when the registry detached from the storage.
        var last: StoreBatch?
        var info = OverrideStore.Info()
        var loaded: Loaded?
    }

    private let state = Mutex(State())
    let worker: Worker<Order>
    let status = StatusPublisher(SaveStatus(saved: 0, attempted: 0))

    init(time: any StorageTime) { worker = Worker("tweaks.storage", time: time) }

    // MARK: From other threads

    var registry: TweakRegistry? { state.withLock { $0.registry } }
    var info: OverrideStore.Info { state.withLock { $0.info } }

    /// What was read from the disk; nil if it was taken already.
    func takeLoaded() -> Loaded? { state.withLock { $0.loaded.take() } }

    /// Starts reading changes from a registry.
    func follow(_ registry: TweakRegistry, _ follower: CommitFollower) {
        state.withLock { ($0.registry, $0.follower) = (registry, follower) }
        // A commit before this call could not be read yet.
        worker.wake()
    }

    /// Stores the last batch of changes.
    func storeLast(_ last: StoreBatch) {
        let follower = state.withLock { state in
            state.last = last
            return state.follower.take()
        }
        withExtendedLifetime(follower) {}
        worker.wake()
    }

    func post(_ order: Order) {
        if !worker.post(order), case .propose(_, let body) = order { body(Self.closed) }
    }

    // MARK: From the thread

    static let closed = "the storage is closed"

    /// The changes to store; without a registry, the last batch.
    func takeStored(_ history: HistorySelection) -> StoreBatch {
        let (registry, follower) = state.withLock { ($0.registry, $0.follower) }
        if let follower, let batch = registry?.read(follower, history, { StoreBatch($0) }) { return batch }
        return state.withLock { state in
            defer { state.last = nil }
            return state.last ?? StoreBatch()
        }
    }

    /// Adds commits of earlier runs, which were unreadable at the start, to the history.
    /// - Returns: False if the registry no longer exists.
    func load(_ records: [History.Record]) -> Bool {
        let (registry, follower) = state.withLock { ($0.registry, $0.follower) }
        guard let registry, let follower else { return false }
        registry.loadHistory(follower, records)
        return true
    }

    func setLoaded(_ entries: [StoredEntry], revision: UInt64, _ records: [History.Record]) {
        state.withLock { $0.loaded = (entries, revision, records) }
    }

    /// Publishes the result of an attempt.
    func publish(_ status: SaveStatus, _ info: OverrideStore.Info) {
        update(info)
        self.status.publish(status)
    }

    /// Publishes information that is independent of an attempt.
    func update(_ info: OverrideStore.Info) { state.withLock { $0.info = info } }
}
