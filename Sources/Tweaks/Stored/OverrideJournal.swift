// What a storage has not seen yet: the newest override of each tweak that was touched.

import Synchronization

/// Collects changed overrides until the storage takes them. Holds one entry for each tweak at most.
package final class OverrideJournal: Sendable {
    /// What happened since the last look.
    package struct Batch: Sendable {
        /// The overrides as they are now, or nil where there is none any more.
        package var changes: [OverrideKey: StoredEntry?] = [:]
        /// The revision that these changes lead to.
        package var revision: UInt64 = 0
        /// Whether the revision has risen.
        package var hasRisen = false
        /// Whether some of it is to be written at once; if not, more is about to come.
        package var isUrgent = false
    }

    private let batch = Mutex(Batch())
    private let onReady: @Sendable () -> Void

    /// - Parameter onReady: Runs after a commit, outside all locks, on the thread that made it; it only wakes the storage.
    package init(onReady: @escaping @Sendable () -> Void) { self.onReady = onReady }

    /// Notes that a commit was made. Called under the registry's lock, in order of revision.
    func note(_ revision: UInt64, isUrgent: Bool) {
        batch.withLock { batch in
            batch.revision = revision
            if isUrgent { batch.isUrgent = true }
            batch.hasRisen = true
        }
    }

    /// Notes an override, or that there is none. Called under the registry's lock.
    func note(_ key: OverrideKey, _ entry: StoredEntry?) {
        batch.withLock { $0.changes[key] = .some(entry) }
    }

    /// Wakes the storage.
    func wake() { onReady() }

    /// Takes all that was noted. While the registry lives, go through its `takeNoted`, or it may be half a commit.
    package func takeAll() -> Batch {
        batch.withLock { batch in
            defer { batch = Batch(revision: batch.revision) }
            return batch
        }
    }
}
