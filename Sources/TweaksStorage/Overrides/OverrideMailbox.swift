// The mailbox holds what the storage's thread is told by other threads, and what it tells them.

import Synchronization
import Tweaks

/// Orders for the storage's thread, and what it has achieved.
final class OverrideMailbox: Sendable {
    /// Something to do beside writing what the registry notes.
    enum Order: Sendable {
        case propose(OverrideChanges, @Sendable (String?) -> Void)
        case withdraw(OverrideChanges)
        /// Write what could have waited.
        case hurry
    }

    private struct State {
        weak var registry: TweakRegistry?
        var status = SaveStatus(saved: 0, tried: 0)
        var facts = OverrideStore.Facts()
        var found: (entries: [StoredEntry], revision: UInt64, records: [StoredRecord]) = ([], 0, [])
        var observers: [UInt64: @Sendable (SaveStatus) -> Void] = [:]
        var nextObserver: UInt64 = 0
    }

    private let state = Mutex(State())
    let worker: Worker<Order>
    /// Where the registry notes what changes.
    let journal: OverrideJournal
    /// Where it tells that its history has changed.
    let history: HistoryJournal

    init(time: any StorageTime) {
        let worker = Worker<Order>("tweaks.storage", time: time)
        self.worker = worker
        history = HistoryJournal { worker.wake() }
        journal = OverrideJournal { worker.wake() }
    }

    // MARK: From other threads

    var registry: TweakRegistry? { state.withLock { $0.registry } }
    var status: SaveStatus { state.withLock { $0.status } }
    var facts: OverrideStore.Facts { state.withLock { $0.facts } }

    func takeFound() -> (entries: [StoredEntry], revision: UInt64, records: [StoredRecord]) {
        state.withLock { state in
            defer { state.found = ([], 0, []) }
            return state.found
        }
    }

    func post(_ order: Order) {
        if !worker.post(order), case .propose(_, let body) = order { body(Self.closed) }
    }

    func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        let number = state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = body
            return state.nextObserver
        }
        return StoreObservation { [self] in
            // What the closure holds is let go of outside the lock.
            _ = state.withLock { $0.observers.removeValue(forKey: number) }
        }
    }

    // MARK: From the thread

    static let closed = "the storage is closed"

    func follow(_ registry: TweakRegistry?) { state.withLock { $0.registry = registry } }

    /// What there is to save of the overrides. Without the registry nobody notes anything any more.
    func takeNoted() -> OverrideJournal.Batch { registry?.takeNoted(journal) ?? journal.takeAll() }

    /// What there is to save of the history.
    func takeHistory(all: Bool) -> HistoryJournal.Batch {
        registry?.takeHistory(history, all: all) ?? history.takeLast() ?? HistoryJournal.Batch()
    }

    func found(_ entries: [StoredEntry], revision: UInt64, _ records: [StoredRecord]) {
        state.withLock { $0.found = (entries, revision, records) }
    }

    /// Says what has come of an attempt.
    func publish(_ status: SaveStatus, _ facts: OverrideStore.Facts) {
        let observers = state.withLock { state in
            (state.status, state.facts) = (status, facts)
            return Array(state.observers.values)
        }
        for observer in observers { observer(status) }
    }

    /// Figures that have nothing to do with an attempt.
    func note(_ facts: OverrideStore.Facts) { state.withLock { $0.facts = facts } }
}
