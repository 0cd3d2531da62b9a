// Connects a registry to the storage of its overrides: restores them, and hands out what has changed.

import Synchronization

/// The unread commits of a follower that mirrors the overrides, and the state that they lead to: no commit is split.
package struct OverrideUpdate {
    package let commits: CommitStream.Batch
    package let history: HistoryBatch
    fileprivate let state: RegistryState

    /// The revision that these commits lead to.
    package var revision: UInt64 { state.revision }

    /// The override in effect; without one a quarantined or pending one.
    package subscript(key: OverrideKey) -> StoredEntry? {
        let node = state.node(key.path).flatMap { $0.path == key.path && $0.isSettable ? $0 : nil }
        return node.flatMap { state.storedOverride($0, key.layer) }
            ?? state.pending[key.path]?[key.layer]?.entry(key.path)
    }

    /// All overrides, also the quarantined and pending ones.
    package var all: [StoredEntry] {
        let layers = [LayerIndex.override, .temporaryOverride]
        let own = state.nodes.compactMap(\.self).filter(\.isSettable).flatMap { node in
            layers.compactMap { state.storedOverride(node, $0) }
        }
        return own + state.pending.flatMap { path, values in layers.compactMap { values[$0]?.entry(path) } }
    }
}

/// Selects which history records to hand out.
package enum HistorySelection: Sendable {
    case nothing
    /// New and changed records.
    case news
    /// All records in memory.
    case all
}

/// The records of the history that were not handed out before.
package struct HistoryBatch: Sendable {
    /// Oldest first.
    package var records: [History.Record] = []
    /// Revisions of which only the status changed.
    package var marked: Set<UInt64> = []
    /// Whether there is something new.
    package var hasUpdates = false
    /// `records` is the complete history.
    package var isWhole = false
    /// The number of records kept in memory.
    package var limit = 0

    package init() {}
}

extension TweakRegistry {
    /// The attached storage; nil without one.
    package var store: (any TweakStore)? { storage.withLock { $0 } }

    /// Restores stored overrides, and starts to keep later ones.
    ///
    /// Overrides that the program has already set in this run are newer than stored ones, and stay.
    /// - Parameters:
    ///   - store: Reports to the server what is on disk.
    ///   - overrides: The stored overrides. Unregistered tweaks get theirs when they register.
    ///   - revision: The stored revision; counting continues from it.
    ///   - records: The saved history, oldest first; nil if it is not saved.
    ///   - wake: Called outside all locks when there are changes to collect; it must only wake the storage.
    /// - Returns: The follower to collect changes with. Nil, and nothing is done, when another storage is attached to
    ///   this registry: that one would no longer receive changes, and replies that wait for it would never be sent.
    package func attach(
        _ store: any TweakStore, overrides: [StoredEntry], revision: UInt64, records: [History.Record]? = nil,
        wake: @escaping CommitStream.Wake
    ) -> CommitFollower? {
        var commit = PendingCommit(nil, .code, currentTime)
        let isFree = storage.withLock { attached in
            if let attached, attached !== store { return false }
            attached = store
            return true
        }
        guard isFree else { return nil }
        let follower = state.withLock { $0.restore(overrides, revision: revision, records, wake, &commit) }
        adoptPending()
        setAlarm()
        deliver(commit, .caller)
        return follower
    }

    /// Reads the unread commits of the storage's follower, and the overrides that they have changed.
    /// - Parameter body: Runs under the registry's lock.
    /// - Returns: Nil if another storage is attached, or none.
    package func read<Result>(
        _ follower: CommitFollower, _ history: HistorySelection, _ body: (OverrideUpdate) -> Result
    ) -> Result? {
        var result: Result?
        state.withLock { state in
            if state.mirror === follower { result = body(state.update(follower, history)) }
        }
        return result
    }

    /// Inserts commits of earlier runs before those of this run, if they could not be read at the start.
    package func loadHistory(_ follower: CommitFollower, _ records: [History.Record]) {
        state.withLock { if $0.mirror === follower { $0.history.load(records, raisingBy: 0) } }
    }

    /// Ends storing. Values stay as they are.
    package func detach(_ store: any TweakStore) { endStoring(if: { $0 === store }) }

    /// Hands out the last changes and detaches the storage.
    func endStoring(if isMeant: (any TweakStore) -> Bool = { _ in true }) {
        guard let store, isMeant(store) else { return }
        // The storage may lack records that were collected before.
        let last = state.withLock { state -> OverrideUpdate? in
            guard let mirror = state.mirror else { return nil }
            let update = state.update(mirror, .all)
            state.history.endSaving()
            state.mirror = nil
            state.released.append(mirror)
            return update
        }
        // Only now another storage can be attached.
        storage.withLock { if $0 === store { $0 = nil } }
        if let last { store.storeLast(last) }
    }
}

extension RegistryState {
    /// Makes stored overrides pending, and adds the follower of later ones.
    fileprivate mutating func restore(
        _ overrides: [StoredEntry], revision stored: UInt64, _ records: [History.Record]?,
        _ wake: @escaping CommitStream.Wake, _ commit: inout PendingCommit
    ) -> CommitFollower {
        let follower = stream.follow(.restarts, after: sequence, wake)
        mirror = follower
        // Temporary overrides that expired while the program was down are removed, from the storage too.
        for entry in overrides where entry.isExpired(commit.time) { commit.touch(entry.key) }
        let raise = continueRevision(from: stored, records ?? [], &commit)
        if let records { history.load(records, raisingBy: raise) }
        finish(&commit)
        for entry in overrides where !entry.isExpired(commit.time) {
            addPending(.entry(entry), entry.key.layer, entry.path)
        }
        return follower
    }

    /// Continues the revision from the stored one: what the program has changed before comes after it.
    /// - Returns: By how much the revisions of this run's commits are raised.
    private mutating func continueRevision(
        from stored: UInt64, _ records: [History.Record], _ commit: inout PendingCommit
    ) -> UInt64 {
        let own = nodes.compactMap { $0 }.filter { $0.isSettable && overlays[$0.slot].isSet }
        // If the overrides were lost but the history was not, counting continues from its newest revision. Implausibly
        // large revisions are ignored.
        let known = records.map(\.revision).filter { $0 < 1 << 60 }.max() ?? 0
        let raise = max(stored, known)
        revision += raise
        for node in own {
            for layer in [LayerIndex.override, .temporaryOverride] {
                if let entry = storedOverride(node, layer) { commit.touch(entry.key) }
            }
            overlays[node.slot].changedAt = revision
        }
        if revision > stored { commit.didStore = true }
        return raise
    }

    fileprivate mutating func update(_ follower: CommitFollower, _ selection: HistorySelection) -> OverrideUpdate {
        let commits = follower.drain(&released)
        released.append(commits.records)
        let history = selection == .nothing ? HistoryBatch() : takeHistory(all: selection == .all)
        return OverrideUpdate(commits: commits, history: history, state: self)
    }

    private mutating func takeHistory(all: Bool) -> HistoryBatch {
        var update = HistoryBatch()
        update.hasUpdates = history.hasUnsaved
        let (records, marked) = history.takeUnsaved(all: all)
        update.records = records.map { record in
            var record = record
            record.parts = record.parts.map { isSecretNow($0.subject) ? $0.redacted : $0 }
            return record
        }
        update.marked = marked
        update.isWhole = all
        update.limit = history.limit
        return update
    }

    /// Whether a tweak is a secret now, even if it was not in an earlier run.
    func isSecretNow(_ subject: CommitSubject) -> Bool {
        subject.isSecret || subject.node == nil && node(subject)?.isSecret ?? false
    }
}
