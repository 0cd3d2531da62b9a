// The mailbox holds what the storage's thread is told by other threads, and what it tells them.

import Synchronization
import Tweaks

/// Orders for the storage's thread, and what it has achieved.
final class OverrideMailbox: Sendable {
    /// Something to do beside writing what is committed.
    enum Order: Sendable {
        case propose(OverrideChanges, @Sendable (String?) -> Void)
        case withdraw(OverrideChanges)
        /// Write what could have waited.
        case hurry
    }

    private struct State {
        weak var registry: TweakRegistry?
        var follower: CommitFollower?
        /// What there was to be stored when the registry stopped to have a storage.
        var last: StoreBatch?
        var facts = OverrideStore.Facts()
        var found: (entries: [StoredEntry], revision: UInt64, records: [History.Record]) = ([], 0, [])
    }

    private let state = Mutex(State())
    let worker: Worker<Order>
    let status = StatusBoard(SaveStatus(saved: 0, tried: 0))

    init(time: any StorageTime) { worker = Worker("tweaks.storage", time: time) }

    // MARK: From other threads

    var registry: TweakRegistry? { state.withLock { $0.registry } }
    var facts: OverrideStore.Facts { state.withLock { $0.facts } }

    func takeFound() -> (entries: [StoredEntry], revision: UInt64, records: [History.Record]) {
        state.withLock { state in
            defer { state.found = ([], 0, []) }
            return state.found
        }
    }

    /// Begins to take from a registry what there is to store.
    func follow(_ registry: TweakRegistry, _ follower: CommitFollower) {
        state.withLock { ($0.registry, $0.follower) = (registry, follower) }
        // A commit that came before this could not be taken.
        worker.wake()
    }

    /// Takes the last of what there is to store.
    func keep(_ last: StoreBatch) {
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

    /// What there is to store. Without the registry that is the last of it.
    func takeStored(_ history: HistoryShare) -> StoreBatch {
        let (registry, follower) = state.withLock { ($0.registry, $0.follower) }
        if let follower, let batch = registry?.takeStored(follower, history) { return batch }
        return state.withLock { state in
            defer { state.last = nil }
            return state.last ?? StoreBatch()
        }
    }

    /// Puts commits of earlier runs into the history, which could not be read at the start.
    /// - Returns: False where there is no registry any more.
    func load(_ records: [History.Record]) -> Bool {
        let (registry, follower) = state.withLock { ($0.registry, $0.follower) }
        guard let registry, let follower else { return false }
        registry.loadHistory(follower, records)
        return true
    }

    func found(_ entries: [StoredEntry], revision: UInt64, _ records: [History.Record]) {
        state.withLock { $0.found = (entries, revision, records) }
    }

    /// Says what has come of an attempt.
    func publish(_ status: SaveStatus, _ facts: OverrideStore.Facts) {
        note(facts)
        self.status.publish(status)
    }

    /// Figures that have nothing to do with an attempt.
    func note(_ facts: OverrideStore.Facts) { state.withLock { $0.facts = facts } }
}
