// Tells the storage that the history has changed, and keeps the last of it when nobody follows the registry any more.

import Synchronization

/// The storage's ear at the history.
package final class HistoryJournal: Sendable {
    /// What has changed since the last look.
    package struct Batch: Sendable {
        /// Oldest first.
        package var records: [StoredRecord] = []
        /// Those of which only the status has changed.
        package var marked: Set<UInt64> = []
        /// Something has changed since the last look.
        package var hasNews = false
        /// These are all that there are.
        package var isWhole = false
        /// So many are remembered.
        package var limit = 0

        package init() {}
    }

    private let isRung = Atomic(false)
    private let last = Mutex<Batch?>(nil)
    private let onReady: @Sendable () -> Void

    /// - Parameter onReady: Runs after the first change since the last look, outside all locks; it only wakes the storage.
    package init(onReady: @escaping @Sendable () -> Void) { self.onReady = onReady }

    /// Whether there is something to take.
    package var hasNews: Bool { isRung.load(ordering: .acquiring) }

    /// Wakes the storage, unless it was woken since its last look.
    func wake() {
        if isRung.load(ordering: .relaxed) { return }
        if !isRung.exchange(true, ordering: .acquiringAndReleasing) { onReady() }
    }

    fileprivate func looked() { isRung.store(false, ordering: .sequentiallyConsistent) }

    fileprivate func keep(_ batch: Batch) { last.withLock { $0 = batch } }

    /// What was there to be taken when the registry was let go of.
    package func takeLast() -> Batch? { last.withLock { $0.take() } }
}

extension TweakRegistry {
    /// Takes what the storage has to save of the history: all, or what has changed.
    package func takeHistory(_ journal: HistoryJournal, all: Bool) -> HistoryJournal.Batch {
        journal.looked()
        return state.withLock { state in
            guard state.historyJournal === journal else { return journal.takeLast() ?? HistoryJournal.Batch() }
            return state.takeHistory(all: all)
        }
    }

    /// Puts commits of earlier runs before those of this one, which could not be read when it began.
    package func loadHistory(_ journal: HistoryJournal, _ records: [StoredRecord]) {
        state.withLock { state in
            if state.historyJournal === journal {
                state.history.load(records.map { History.Record($0) }, revision: 0)
            }
        }
    }
}

extension RegistryState {
    /// Begins to save the history, behind what was saved of it.
    mutating func follow(_ journal: HistoryJournal, _ records: [StoredRecord]) {
        historyJournal = journal
        history.load(records.map { History.Record($0) }, revision: revision)
    }

    /// Leaves the last of it to be taken.
    mutating func endHistory() {
        guard let journal = historyJournal else { return }
        // The file may have less than was taken.
        journal.keep(takeHistory(all: true))
        history.endSaving()
        historyJournal = nil
    }

    fileprivate mutating func takeHistory(all: Bool) -> HistoryJournal.Batch {
        let hasNews = history.hasUnsaved
        let (records, marked) = history.takeUnsaved(all: all)
        var batch = HistoryJournal.Batch()
        batch.records = records.map { record in StoredRecord(record, secrets: { isSecretNow($0) }) }
        (batch.marked, batch.hasNews, batch.isWhole, batch.limit) = (marked, hasNews, all, history.limit)
        return batch
    }

    /// What was no secret in an earlier run may be one in this.
    func isSecretNow(_ subject: History.Subject) -> Bool {
        if case .earlier = subject, let node = node(subject) { return node.isSecret || subject.isSecret }
        return subject.isSecret
    }
}
