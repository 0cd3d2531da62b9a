// Connects a registry to storage: loads stored overrides, hands out changes, and keeps values for late tweaks.

import Synchronization

extension TweakRegistry {
    /// Starts to store overrides.
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
        let follower = state.withLock { state -> CommitFollower? in
            if let other = state.store, other !== store { return nil }
            let follower = state.stream.follow(.restarts, after: state.sequence, wake)
            state.store = store
            state.storeFollower = follower
            // Temporary overrides that expired while the program was down are removed, from the file too.
            for entry in overrides where entry.isExpired(commit.time) { commit.touch(entry.key) }
            let raise = state.continueRevision(from: revision, records ?? [], &commit)
            if let records { state.history.load(records, raisingBy: raise) }
            state.finish(&commit)
            for entry in overrides where !entry.isExpired(commit.time) { state.addPending(entry, for: entry.layer) }
            return follower
        }
        guard let follower else { return nil }
        adoptPending()
        setAlarm()
        deliver(commit, .caller)
        return follower
    }

    /// Collects the data to store. Commits are never split.
    /// - Returns: Nil if another storage is attached, or none.
    package func takeStored(_ follower: CommitFollower, _ history: HistorySelection) -> StoreBatch? {
        state.withLock { $0.storeFollower === follower ? $0.takeStored(follower, history) : nil }
    }

    /// Inserts commits of earlier runs before those of this run, if they could not be read at the start.
    package func loadHistory(_ follower: CommitFollower, _ records: [History.Record]) {
        state.withLock { if $0.storeFollower === follower { $0.history.load(records, raisingBy: 0) } }
    }

    /// Ends storing. Values stay as they are.
    package func detach(_ store: any TweakStore) {
        let last = state.withLock { state in state.store === store ? state.endStoring() : nil }
        if let last { store.storeLast(last) }
    }

    /// Calls `handler` for each quarantined value: now for the existing ones, later on the thread that registers the
    /// tweak.
    package func onInvalid(_ handler: @escaping @Sendable (TweakPath, QuarantinedEntry) -> Void) {
        let known = state.withLock { state in
            state.quarantineHandlers.append(handler)
            return state.allQuarantined
        }
        for (path, entry) in known { handler(path, entry) }
    }

    /// The quarantined values of a tweak: those from files that are invalid for it.
    package func quarantined(_ node: TweakNode) -> [QuarantinedEntry] {
        state.withLock { state in state.holds(node) ? state.overlays[node.slot].notes?.quarantined ?? [] : [] }
    }

    /// The change of the underlying value since the override was set; nil if it is the same.
    package func underlyingValueChange(_ node: TweakNode) -> (old: TweakValue, new: TweakValue)? {
        state.withLock { state in state.holds(node) ? state.overlays[node.slot].notes?.underlyingChange : nil }
    }

    /// The pending values for a path without a tweak, by layer.
    package func pendingEntries(_ path: TweakPath) -> [(layer: TweakLayer, entry: StoredEntry)] {
        let time = currentTime
        return state.withLock { $0.pendingLayers([path], at: time) }
    }

    /// Removes the pending override of a path without a tweak.
    /// - Returns: The new revision; nil when there was none.
    package func forgetPendingOverride(_ path: TweakPath) -> UInt64? {
        var commit = PendingCommit(nil, .code, currentTime)
        let revision = state.withLock { state -> UInt64? in
            let entries = [TweakLayer.override, .temporaryOverride].compactMap {
                state.pending[path]?.entry($0, of: path)
            }
            guard state.node(path) == nil, !entries.isEmpty else { return nil }
            for entry in entries {
                state.removePending(path, entry.layer)
                commit.touch(entry.key)
            }
            state.revision += 1
            state.finish(&commit)
            return state.revision
        }
        deliver(commit, .executor)
        return revision
    }

    /// The number of tweaks with pending overrides, and of quarantined overrides.
    package var pendingCounts: (waiting: Int, invalid: Int) {
        state.withLock { state in
            (
                state.pending.values.count(where: \.hasOverride),
                state.allQuarantined.count { $0.1.layer >= .override }
            )
        }
    }

    // MARK: Adopting

    /// Applies pending values to the registered tweaks.
    private func adoptPending() {
        while true {
            var adoption = Adoption(time: currentTime)
            if !adoptPending(&adoption) { continue }
            for commit in adoption.commits { deliver(commit, .caller) }
            return reportQuarantined(adoption.quarantined)
        }
    }

    /// False when registrations or pending values changed meanwhile.
    private func adoptPending(_ adoption: inout Adoption) -> Bool {
        let time = adoption.time
        let (found, generation, pendingGeneration) = state.withLock { state in
            (state.nodesWithPending(at: time), state.generation, state.pendingGeneration)
        }
        // The program's own checks may run here, so not under the lock.
        let validated = found.map { node, layers in (node, layers.map { ValidatedEntry($0.layer, $0.entry, for: node) })
        }
        return state.withLock { state in
            guard state.generation == generation, state.pendingGeneration == pendingGeneration else { return false }
            for (node, layers) in validated { state.adopt(layers, node, &adoption) }
            for index in adoption.commits.indices { state.finish(&adoption.commits[index]) }
            return true
        }
    }

    /// Calls the handlers, outside all locks.
    func reportQuarantined(_ entries: [(TweakPath, QuarantinedEntry)]) {
        if entries.isEmpty { return }
        let handlers = state.withLock { $0.quarantineHandlers }
        for (path, entry) in entries {
            for handler in handlers { handler(path, entry) }
        }
    }
}

/// The results of applying pending values to registered tweaks.
private struct Adoption {
    let time: ContinuousClock.Instant
    /// One commit for each run of tweaks whose values have the same origin.
    var commits: [PendingCommit] = []
    var quarantined: [(TweakPath, QuarantinedEntry)] = []

    /// The index of the commit for a value of this origin.
    mutating func commitIndex(for origin: TweakOrigin) -> Int {
        if commits.last?.origin != origin { commits.append(PendingCommit(nil, origin, time)) }
        return commits.count - 1
    }
}

extension RegistryState {
    /// Applies its pending values to a tweak.
    fileprivate mutating func adopt(_ layers: [ValidatedEntry], _ node: TweakNode, _ adoption: inout Adoption) {
        let old = current(node)
        // Overrides set in this run are newer than stored ones.
        let isSet = overlays[node.slot].isSet
        let index = adoption.commitIndex(for: layers.last?.entry.origin ?? .code)
        for layer in layers where isSet && layer.layer >= .override {
            removePending(layer.entry.path, layer.layer)
            adoption.commits[index].touch(layer.entry.key)
        }
        install(layers.filter { !isSet || $0.layer < .override }, on: node, &adoption.commits[index])
        adoption.quarantined += overlays[node.slot].notes?.quarantined.map { (node.path, $0) } ?? []
        guard let old, let new = current(node), new.value != old.value else { return }
        let visible = adoption.commitIndex(for: overlays[node.slot].entries.last?.origin ?? .code)
        adoption.commits[visible].parts.append(
            CommitPart(
                .node(node), old: old.value, new: new.value, layer: overlays[node.slot].topLayer ?? .default,
                isReported: true))
        adoption.commits[visible].didStore = true
        makeCurrent(node, old: old, new: new, &adoption.commits[visible])
    }

    /// Continues the revision from the stored one: what the program has changed before comes after it.
    /// - Returns: By how much the revisions of this run's commits are raised.
    fileprivate mutating func continueRevision(
        from stored: UInt64, _ records: [History.Record], _ commit: inout PendingCommit
    ) -> UInt64 {
        let own = nodes.compactMap { $0 }.filter { $0.isSettable && overlays[$0.slot].isSet }
        // If the overrides were lost but the history was not, counting continues from its newest revision. Implausibly
        // large revisions are ignored.
        let known = records.map(\.revision).filter { $0 < 1 << 60 }.max() ?? 0
        let raise = max(stored, known)
        revision += raise
        for node in own {
            for layer in [TweakLayer.override, .temporaryOverride] {
                if let entry = storedOverride(node, layer) { commit.touch(entry.key) }
            }
            overlays[node.slot].changedAt = revision
        }
        if revision > stored { commit.didStore = true }
        return raise
    }

    /// The registered tweaks with pending values.
    fileprivate func nodesWithPending(
        at time: ContinuousClock.Instant
    ) -> [(node: TweakNode, layers: [(layer: TweakLayer, entry: StoredEntry)])] {
        var found: [(TweakNode, [(layer: TweakLayer, entry: StoredEntry)])] = []
        var seen = Set<ObjectIdentifier>()
        for path in pending.keys {
            guard let node = node(path) ?? formerly[path], seen.insert(ObjectIdentifier(node)).inserted else {
                continue
            }
            let layers = pendingLayers([node.path] + node.formerly, at: time)
            if !layers.isEmpty { found.append((node, layers)) }
        }
        return found
    }

    /// All quarantined values.
    fileprivate var allQuarantined: [(TweakPath, QuarantinedEntry)] {
        nodes.compactMap { $0 }.flatMap { node in
            overlays[node.slot].notes?.quarantined.map { (node.path, $0) } ?? []
        }
    }
}
