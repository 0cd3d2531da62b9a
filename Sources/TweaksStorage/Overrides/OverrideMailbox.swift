// What other threads and the storage's thread have to say to each other.

import Dispatch
import Synchronization
import Tweaks
import TweaksSystem

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
        var isFollowing = false
        var isClosing = false
        var hasEnded = false
        var orders: [Order] = []
        var status = SaveStatus(saved: 0, tried: 0)
        var facts = OverrideStore.Facts()
        var found: (entries: [StoredEntry], revision: UInt64, records: [StoredRecord]) = ([], 0, [])
        var observers: [UInt64: @Sendable (SaveStatus) -> Void] = [:]
        var nextObserver: UInt64 = 0
        var thread: SystemThread?
    }

    private let state = Mutex(State())
    private let bell = Bell()
    private let time: any StorageTime
    private let life = DispatchGroup()
    /// Where the registry notes what changes.
    let journal: OverrideJournal
    /// Where it tells that its history has changed.
    let history: HistoryJournal

    init(time: any StorageTime) {
        self.time = time
        history = HistoryJournal { [bell] in bell.ring() }
        journal = OverrideJournal { [bell] in bell.ring() }
    }

    // MARK: From other threads

    /// False when that was done already.
    func follow(_ registry: TweakRegistry) -> Bool {
        state.withLock { state in
            if state.isFollowing || state.isClosing { return false }
            (state.isFollowing, state.registry) = (true, registry)
            // Here, so that whoever closes waits for a thread that is only about to start.
            life.enter()
            return true
        }
    }

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
        let isTaken = state.withLock { state in
            if !state.hasEnded { state.orders.append(order) }
            return !state.hasEnded
        }
        if isTaken { return bell.ring() }
        if case .propose(_, let body) = order { body(Self.closed) }
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

    /// The thread writes once more, and ends.
    func close() {
        state.withLock { $0.isClosing = true }
        bell.ring()
    }

    /// Waits until the thread has let go of everything; not on the thread itself.
    func waitForEnd() {
        let thread = state.withLock { $0.thread }
        if thread == SystemThread.current { return }
        life.wait()
    }

    // MARK: From the thread

    static let closed = "the storage is closed"

    func belongsToThisThread() {
        let thread = SystemThread.current
        state.withLock { $0.thread = thread }
    }

    /// Sleeps until somebody rings or the time has come.
    func wait(until deadline: ContinuousClock.Instant?) { bell.wait(until: deadline, time) }

    /// All that there is to do.
    func take() -> (orders: [Order], batch: OverrideJournal.Batch, isClosing: Bool) {
        let (orders, registry, isClosing) = state.withLock { state in
            defer { state.orders = [] }
            return (state.orders, state.registry, state.isClosing)
        }
        // Without the registry nobody notes anything any more.
        return (orders, registry?.takeNoted(journal) ?? journal.takeAll(), isClosing)
    }

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

    /// The thread has nothing more to do. Whoever waits for it is told.
    func end() {
        let orders = state.withLock { state in
            defer { state.orders = [] }
            state.hasEnded = true
            // Another thread may be given the same identity later.
            state.thread = nil
            return state.orders
        }
        for case .propose(_, let body) in orders { body(Self.closed) }
        life.leave()
    }
}

/// Wakes one thread; many calls before it wakes are one.
final class Bell: Sendable {
    private let isRung = Atomic(false)
    private let semaphore = DispatchSemaphore(value: 0)

    func ring() {
        if !isRung.exchange(true, ordering: .acquiringAndReleasing) { semaphore.signal() }
    }

    func wait(until deadline: ContinuousClock.Instant?, _ time: any StorageTime) {
        time.wait(for: semaphore, until: deadline)
        // Before the thread looks what there is to do: who rings from now on wakes it again.
        isRung.store(false, ordering: .sequentiallyConsistent)
    }
}
