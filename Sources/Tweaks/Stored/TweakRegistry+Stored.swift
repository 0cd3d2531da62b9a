// Stored overrides: handed over at start, noted while the program runs, kept for tweaks that register late.

import Synchronization

extension TweakRegistry {
    /// Starts to store overrides.
    ///
    /// What the program has set already in this run is newer than what was stored, and stays.
    /// - Parameters:
    ///   - store: Whom the server asks what is on disk.
    ///   - overrides: What was stored. Tweaks that are not registered get theirs when they register.
    ///   - revision: The revision at which that was; counting goes on from there.
    ///   - records: What was saved of the history, oldest first; nil where it is not saved.
    ///   - wake: Called outside all locks when there is something to take; it only wakes the storage.
    /// - Returns: What takes from the registry what is to be stored. Nil, and nothing is done, when another storage has
    ///   this registry: it would not hear of changes any more, and a reply that waits for it would wait for ever.
    package func attach(
        _ store: any TweakStore, overrides: [StoredEntry], revision: UInt64, records: [History.Record]? = nil,
        wake: @escaping CommitStream.Wake
    ) -> CommitFollower? {
        var commit = PendingCommit(nil, .code, currentTime)
        let follower = state.withLock { state -> CommitFollower? in
            if let other = state.store, other !== store { return nil }
            let follower = state.stream.follow(.restarts, after: state.sequence, wake)
            (state.store, state.storeFollower) = (store, follower)
            // Temporary overrides that ran out while the program was down are gone, from the file too.
            for entry in overrides where entry.isExpired(commit.time) { commit.touch(entry.key) }
            state.count(on: revision, records ?? [], &commit)
            if let records { state.history.load(records, revision: state.revision) }
            state.finish(&commit)
            for entry in overrides where !entry.isExpired(commit.time) { state.hold(entry, for: entry.layer) }
            return follower
        }
        guard let follower else { return nil }
        adoptHeld()
        setAlarm()
        deliver(commit, .caller)
        return follower
    }

    /// Takes what is to be stored, between commits: never half of one.
    /// - Returns: Nil where the registry has another storage, or none.
    package func takeStored(_ follower: CommitFollower, _ history: HistoryShare) -> StoreBatch? {
        state.withLock { $0.storeFollower === follower ? $0.takeStored(follower, history) : nil }
    }

    /// Puts commits of earlier runs before those of this one, which could not be read when it began.
    package func loadHistory(_ follower: CommitFollower, _ records: [History.Record]) {
        state.withLock { if $0.storeFollower === follower { $0.history.load(records, revision: 0) } }
    }

    /// Ends storing. Values stay as they are.
    package func detach(_ store: any TweakStore) {
        let last = state.withLock { state in state.store === store ? state.endStoring() : nil }
        if let last { store.keep(last) }
    }

    /// Calls `handler` for each stored or configured value that does not fit the tweak which registers, on the thread
    /// that registers it; and now for those that are known.
    package func onUnfit(_ handler: @escaping @Sendable (TweakPath, AsideEntry) -> Void) {
        let known = state.withLock { state in
            state.unfitHandlers.append(handler)
            return state.allAside
        }
        for (path, entry) in known { handler(path, entry) }
    }

    /// The values that files have for this tweak and that do not fit it.
    package func aside(_ node: TweakNode) -> [AsideEntry] {
        state.withLock { state in state.holds(node) ? state.overlays[node.slot].notes?.aside ?? [] : [] }
    }

    /// What became of the value beneath the override since that was set; nil where it is the same.
    package func changeBeneath(_ node: TweakNode) -> (old: TweakValue, new: TweakValue)? {
        state.withLock { state in state.holds(node) ? state.overlays[node.slot].notes?.beneath : nil }
    }

    /// What files have for a path that no tweak has, by layer.
    package func heldEntries(_ path: TweakPath) -> [(layer: TweakLayer, entry: StoredEntry)] {
        let time = currentTime
        return state.withLock { $0.heldLayers([path], at: time) }
    }

    /// Forgets the override that is kept for a path that no tweak has.
    /// - Returns: The new revision; nil when there was none.
    package func forgetHeldOverride(_ path: TweakPath) -> UInt64? {
        var commit = PendingCommit(nil, .code, currentTime)
        let revision = state.withLock { state -> UInt64? in
            let entries = [state.held[path]?.override, state.held[path]?.temporary].compactMap(\.self)
            guard state.node(path) == nil, !entries.isEmpty else { return nil }
            for entry in entries {
                state.unhold(path, entry.layer)
                commit.touch(entry.key)
            }
            state.revision += 1
            state.finish(&commit)
            return state.revision
        }
        deliver(commit, .carrier)
        return revision
    }

    /// How many stored overrides wait for their tweak, and how many do not fit theirs.
    package var heldCounts: (waiting: Int, unfit: Int) {
        state.withLock { state in
            (
                state.held.values.count { $0.override != nil || $0.temporary != nil },
                state.allAside.count { $0.1.layer >= .override }
            )
        }
    }

    // MARK: Adopting

    /// Gives registered tweaks the values that are held for them.
    private func adoptHeld() {
        while true {
            var takeover = Takeover(time: currentTime)
            if !adoptHeld(&takeover) { continue }
            for commit in takeover.commits { deliver(commit, .caller) }
            return report(takeover.unfit)
        }
    }

    /// False when registrations or other files came in between.
    private func adoptHeld(_ takeover: inout Takeover) -> Bool {
        let time = takeover.time
        let (found, generation, heldGeneration) = state.withLock { state in
            (state.nodesWithHeld(at: time), state.generation, state.heldGeneration)
        }
        // The program's own checks may run here, so not under the lock.
        let judged = found.map { node, layers in (node, layers.map { JudgedEntry($0.layer, $0.entry, for: node) }) }
        return state.withLock { state in
            guard state.generation == generation, state.heldGeneration == heldGeneration else { return false }
            for (node, layers) in judged { state.adopt(layers, node, &takeover) }
            for place in takeover.commits.indices { state.finish(&takeover.commits[place]) }
            return true
        }
    }

    /// Tells the handlers, outside all locks.
    func report(_ unfit: [(TweakPath, AsideEntry)]) {
        if unfit.isEmpty { return }
        let handlers = state.withLock { $0.unfitHandlers }
        for (path, entry) in unfit {
            for handler in handlers { handler(path, entry) }
        }
    }
}

/// What registered tweaks take over from files.
private struct Takeover {
    let time: ContinuousClock.Instant
    /// One for each run of tweaks whose values have the same origin.
    var commits: [PendingCommit] = []
    var unfit: [(TweakPath, AsideEntry)] = []

    /// The place of the commit to which a value of an origin goes.
    mutating func place(of origin: TweakOrigin) -> Int {
        if commits.last?.origin != origin { commits.append(PendingCommit(nil, origin, time)) }
        return commits.count - 1
    }
}

extension RegistryState {
    /// Gives a tweak what is held for it.
    fileprivate mutating func adopt(_ layers: [JudgedEntry], _ node: TweakNode, _ takeover: inout Takeover) {
        let old = current(node)
        // What was set in this run is newer.
        let isSet = overlays[node.slot].isSet
        let place = takeover.place(of: layers.last?.entry.origin ?? .code)
        for layer in layers where isSet && layer.layer >= .override {
            unhold(layer.entry.path, layer.layer)
            takeover.commits[place].touch(layer.entry.key)
        }
        install(layers.filter { !isSet || $0.layer < .override }, on: node, &takeover.commits[place])
        takeover.unfit += overlays[node.slot].notes?.aside.map { (node.path, $0) } ?? []
        guard let old, let new = current(node), new.value != old.value else { return }
        let shows = takeover.place(of: overlays[node.slot].entries.last?.origin ?? .code)
        takeover.commits[shows].parts.append(
            CommitPart(
                .node(node), old: old.value, new: new.value, layer: overlays[node.slot].topLayer ?? .default,
                isNews: true))
        takeover.commits[shows].didStore = true
        show(node, old: old, new: new, &takeover.commits[shows])
    }

    /// Goes on counting where files have ended.
    fileprivate mutating func count(on stored: UInt64, _ records: [History.Record], _ commit: inout PendingCommit) {
        let own = nodes.compactMap { $0 }.filter { $0.isSettable && overlays[$0.slot].isSet }
        // Where the overrides were lost and the history was not, counting goes on from that. A number that no program
        // counts up to is none.
        let known = records.map(\.revision).filter { $0 < 1 << 60 }.max() ?? 0
        // What was set already is a step beyond what is stored, and on disk only when that step is.
        revision = max(revision, stored, known) + (own.isEmpty ? 0 : 1)
        for node in own {
            for layer in [TweakLayer.override, .temporaryOverride] {
                if let entry = storedOverride(node, layer) { commit.touch(entry.key) }
            }
            overlays[node.slot].changedAt = revision
        }
        if revision > stored { commit.didStore = true }
    }

    /// The registered tweaks that something is held for.
    fileprivate func nodesWithHeld(
        at time: ContinuousClock.Instant
    ) -> [(node: TweakNode, layers: [(layer: TweakLayer, entry: StoredEntry)])] {
        var found: [(TweakNode, [(layer: TweakLayer, entry: StoredEntry)])] = []
        var seen = Set<ObjectIdentifier>()
        for path in held.keys {
            guard let node = node(path) ?? formerly[path], seen.insert(ObjectIdentifier(node)).inserted else {
                continue
            }
            let layers = heldLayers([node.path] + node.formerly, at: time)
            if !layers.isEmpty { found.append((node, layers)) }
        }
        return found
    }

    /// Everything that does not fit its tweak.
    fileprivate var allAside: [(TweakPath, AsideEntry)] {
        nodes.compactMap { $0 }.flatMap { node in
            overlays[node.slot].notes?.aside.map { (node.path, $0) } ?? []
        }
    }
}
