// Collects what the storage must write: the newest overrides of changed tweaks, and new history.

package import Tweaks

/// Data to write to storage.
package struct StoreBatch: Sendable {
    /// The current overrides; nil for a removed one.
    package var changes: OverrideChanges = [:]
    /// `changes` has all overrides, because the storage had fallen behind.
    package var isWhole = false
    /// The revision that these changes lead to.
    package var revision: UInt64 = 0
    /// Whether to write at once; otherwise the write may wait for further changes.
    package var isUrgent = false
    /// Whether the file must be written, even if only for the revision.
    package var hasUpdates = false
    package var history = HistoryBatch()

    package init() {}

    /// Collects the overrides that the commits of an update concern, in their present state.
    package init(_ update: OverrideUpdate) {
        revision = update.revision
        history = update.history
        isWhole = !update.commits.lost.isEmpty
        let records = update.commits.records.filter(\.concernsDisk)
        hasUpdates = isWhole || !records.isEmpty
        isUrgent = isWhole || records.contains(where: \.isUrgent)
        if isWhole {
            for entry in update.all { changes[entry.key] = entry }
            return
        }
        for record in records {
            for part in record.parts {
                for key in part.changedOverrides(record) { changes[key] = .some(update[key]) }
            }
        }
    }
}

extension CommitRecord {
    /// False for values that tweaks adopted from files, which are on disk already.
    fileprivate var concernsDisk: Bool { kind != nil || parts.isEmpty || parts.contains { $0.subject.node == nil } }
}

extension CommitPart {
    /// The overrides that it may have changed.
    fileprivate func changedOverrides(_ record: CommitRecord) -> [OverrideKey] {
        let path = subject.path
        guard subject.node != nil else { return [OverrideKey(path, isTemporary: layer == .temporaryOverride)] }
        // A preview sets nothing; only its revision is written, some time.
        if record.kind == nil || record.kind == .preview { return [] }
        return isTemporary ? [OverrideKey(path), OverrideKey(path, isTemporary: true)] : [OverrideKey(path)]
    }
}
