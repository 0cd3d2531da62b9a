// Collects from a registry what the storage must write: the newest overrides of changed tweaks, and new history.

/// Data to write to storage.
package struct StoreBatch: Sendable {
    /// The current overrides; nil for a removed one.
    package var changes: [OverrideKey: StoredEntry?] = [:]
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
}

/// Selects which history records to collect.
package enum HistorySelection: Sendable {
    case nothing
    /// New and changed records.
    case news
    /// All records in memory.
    case all
}

/// History records to save.
package struct HistoryBatch: Sendable {
    /// Oldest first.
    package var records: [History.Record] = []
    /// Revisions of which only the status changed.
    package var marked: Set<UInt64> = []
    /// Whether there is something to save.
    package var hasUpdates = false
    /// `records` is the complete history.
    package var isWhole = false
    /// The number of records kept in memory.
    package var limit = 0

    package init() {}
}

extension RegistryState {
    mutating func takeStored(_ follower: CommitFollower, _ share: HistorySelection) -> StoreBatch {
        let news = follower.drain(&released)
        var batch = StoreBatch()
        batch.revision = revision
        batch.isWhole = !news.lost.isEmpty
        (batch.hasUpdates, batch.isUrgent) = (batch.isWhole, batch.isWhole)
        for record in news.records where record.concernsDisk {
            batch.hasUpdates = true
            batch.isUrgent = batch.isUrgent || record.isUrgent
            if !batch.isWhole { note(record, &batch) }
        }
        if batch.isWhole { noteAll(&batch) }
        if share != .nothing { batch.history = takeHistory(all: share == .all) }
        released.append(news.records)
        return batch
    }

    /// Collects the final batch and detaches the storage; nil without storage.
    mutating func endStoring() -> StoreBatch? {
        guard let follower = storeFollower else { return nil }
        // The file may lack records that were collected before.
        let last = takeStored(follower, .all)
        history.endSaving()
        (store, storeFollower) = (nil, nil)
        released.append(follower)
        return last
    }

    private func note(_ record: CommitRecord, _ batch: inout StoreBatch) {
        for part in record.parts {
            let isNode = part.subject.node != nil
            if isNode, record.kind == nil { continue }
            if isNode || part.layer == .override { note(part.subject.path, .override, &batch) }
            if isNode ? part.isTemporary : part.layer == .temporaryOverride {
                note(part.subject.path, .temporaryOverride, &batch)
            }
        }
    }

    private func noteAll(_ batch: inout StoreBatch) {
        let layers = [TweakLayer.override, .temporaryOverride]
        for node in nodes.compactMap(\.self) where node.isSettable {
            for entry in layers.compactMap({ storedOverride(node, $0) }) { batch.changes[entry.key] = entry }
        }
        for (path, values) in pending where values.hasOverride {
            for entry in layers.compactMap({ values.entry($0, of: path) }) { batch.changes[entry.key] = entry }
        }
    }

    /// Adds the value to store for a path: of its registered tweak, or else the pending one.
    private func note(_ path: TweakPath, _ layer: TweakLayer, _ batch: inout StoreBatch) {
        let node = node(path).flatMap { $0.path == path ? $0 : nil }
        let entry =
            node.map { $0.isSettable ? storedOverride($0, layer) : nil }
            ?? pending[path]?.entry(layer, of: path)
        batch.changes[OverrideKey(path, isTemporary: layer == .temporaryOverride)] = .some(entry)
    }

    private mutating func takeHistory(all: Bool) -> HistoryBatch {
        var batch = HistoryBatch()
        batch.hasUpdates = history.hasUnsaved
        let (records, marked) = history.takeUnsaved(all: all)
        batch.records = records.map { record in
            var record = record
            record.parts = record.parts.map { isSecretNow($0.subject) ? $0.redacted : $0 }
            return record
        }
        (batch.marked, batch.isWhole, batch.limit) = (marked, all, history.limit)
        return batch
    }

    /// Whether a tweak is a secret now, even if it was not in an earlier run.
    func isSecretNow(_ subject: CommitSubject) -> Bool {
        subject.isSecret || subject.node == nil && node(subject)?.isSecret ?? false
    }
}

extension CommitRecord {
    /// False for values that tweaks adopted from files, which are on disk already.
    fileprivate var concernsDisk: Bool { kind != nil || parts.isEmpty || parts.contains { $0.subject.node == nil } }
}
