// Takes from a registry what is to be stored: the newest overrides of touched tweaks, and new entries of the history.

/// What is to be stored.
package struct StoreBatch: Sendable {
    /// The overrides as they are now, or nil where there is none any more.
    package var changes: [OverrideKey: StoredEntry?] = [:]
    /// These are all that there are: the storage had fallen behind.
    package var isWhole = false
    /// The revision that these lead to.
    package var revision: UInt64 = 0
    /// Whether some of it is to be written at once; if not, more is about to come.
    package var isUrgent = false
    /// Whether the file is to be written, be it for the revision alone.
    package var hasNews = false
    package var history = HistoryBatch()

    package init() {}
}

/// What is taken of the history.
package enum HistoryShare: Sendable {
    case nothing
    /// What is new, or has changed.
    case news
    /// All that is remembered.
    case all
}

/// What is new in a history.
package struct HistoryBatch: Sendable {
    /// Oldest first.
    package var records: [History.Record] = []
    /// Those of which only the status has changed.
    package var marked: Set<UInt64> = []
    /// Whether there is something to save.
    package var hasNews = false
    /// These are all that there are.
    package var isWhole = false
    /// So many are remembered.
    package var limit = 0

    package init() {}
}

extension RegistryState {
    mutating func takeStored(_ follower: CommitFollower, _ share: HistoryShare) -> StoreBatch {
        let news = follower.take(&released)
        var batch = StoreBatch()
        batch.revision = revision
        batch.isWhole = !news.lost.isEmpty
        (batch.hasNews, batch.isUrgent) = (batch.isWhole, batch.isWhole)
        for record in news.records where record.concernsDisk {
            batch.hasNews = true
            batch.isUrgent = batch.isUrgent || record.isUrgent
            if !batch.isWhole { note(record, &batch) }
        }
        if batch.isWhole { noteAll(&batch) }
        if share != .nothing { batch.history = takeHistory(all: share == .all) }
        released.append(news.records)
        return batch
    }

    /// Takes the last of what is to be stored; nil without storage.
    mutating func endStoring() -> StoreBatch? {
        guard let follower = storeFollower else { return nil }
        // The file may have less than was taken.
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
        for held in held.values {
            for entry in layers.compactMap({ held[$0] }) { batch.changes[entry.key] = entry }
        }
    }

    /// Notes what the file is to hold for a path: of the tweak that has it, or for the one that will.
    private func note(_ path: TweakPath, _ layer: TweakLayer, _ batch: inout StoreBatch) {
        let node = node(path).flatMap { $0.path == path ? $0 : nil }
        let entry = node.map { $0.isSettable ? storedOverride($0, layer) : nil } ?? held[path]?[layer]
        batch.changes[OverrideKey(path, isTemporary: layer == .temporaryOverride)] = .some(entry)
    }

    private mutating func takeHistory(all: Bool) -> HistoryBatch {
        var batch = HistoryBatch()
        batch.hasNews = history.hasUnsaved
        let (records, marked) = history.takeUnsaved(all: all)
        batch.records = records.map { record in
            var record = record
            record.parts = record.parts.map { isSecretNow($0.subject) ? $0.redacted : $0 }
            return record
        }
        (batch.marked, batch.isWhole, batch.limit) = (marked, all, history.limit)
        return batch
    }

    /// What was no secret in an earlier run may be one in this.
    func isSecretNow(_ subject: CommitSubject) -> Bool {
        subject.isSecret || subject.node == nil && node(subject)?.isSecret ?? false
    }
}

extension CommitRecord {
    /// What tweaks take over from files is on disk already.
    fileprivate var concernsDisk: Bool { kind != nil || parts.isEmpty || parts.contains { $0.subject.node == nil } }
}
