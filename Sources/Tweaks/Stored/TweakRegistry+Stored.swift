// Stored overrides: handed over at start, noted while the program runs, kept for tweaks that register late.

import Synchronization

extension TweakRegistry {
    /// Starts to store overrides.
    ///
    /// What the program has set already in this run is newer than what was stored, and stays.
    /// - Parameters:
    ///   - store: Whom the server asks what is on disk.
    ///   - journal: Where overrides are noted from now on, those that exist first.
    ///   - overrides: What was stored. Tweaks that are not registered get theirs when they register.
    ///   - revision: The revision at which that was; counting goes on from there.
    ///   - history: Who saves the history; nil where it is not saved.
    ///   - records: What was saved of it, oldest first.
    /// - Returns: False, and nothing is done, when another storage has this registry: it would not hear of changes any
    ///   more, and whoever waits for it would wait for ever.
    @discardableResult
    package func attach(
        _ store: any TweakStore, _ journal: OverrideJournal, overrides: [StoredEntry], revision: UInt64,
        history: HistoryJournal? = nil, records: [StoredRecord] = []
    ) -> Bool {
        let time = currentTime
        let isFree = state.withLock { state in
            if let other = state.store, other !== store { return false }
            state.store = store
            state.journal = journal
            // What has run out while nobody looked is gone, from the file too. First, because what was set in this run
            // may have the same place.
            for entry in overrides where entry.isExpired(time) { journal.note(entry.key, nil) }
            let own = state.nodes.compactMap { $0 }.filter { node in
                node.isSettable && state.overlays[node.slot].isSet
            }
            // Where the overrides were lost and the history was not, counting goes on from that. A number that no program
            // counts up to is none.
            let known = records.map(\.revision).filter { $0 < 1 << 60 }.max() ?? 0
            // What was set already is a step beyond what is stored, and on disk only when that step is.
            state.revision = max(state.revision, revision, known) + (own.isEmpty ? 0 : 1)
            for node in own {
                for layer in [TweakLayer.override, .temporaryOverride] {
                    if let entry = state.storedOverride(node, layer) { journal.note(entry.key, entry) }
                }
                state.overlays[node.slot].changedAt = state.revision
            }
            if state.revision > revision { journal.note(state.revision, isUrgent: true) }
            if let history { state.follow(history, records) }
            for entry in overrides where !entry.isExpired(time) { state.hold(entry, for: entry.layer) }
            return true
        }
        guard isFree else { return false }
        adoptHeld()
        setAlarm()
        journal.wake()
        if state.withLock({ $0.history.hasUnsaved }) { history?.wake() }
        return true
    }

    /// Takes what a journal was told, between commits: never half of one.
    package func takeNoted(_ journal: OverrideJournal) -> OverrideJournal.Batch {
        state.withLock { _ in journal.takeAll() }
    }

    /// Ends storing. Values stay as they are.
    package func detach(_ store: any TweakStore) {
        state.withLock { state in
            guard state.store === store else { return }
            state.store = nil
            state.journal = nil
            state.endHistory()
        }
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
        var effects = CommitEffects()
        let revision = state.withLock { state -> UInt64? in
            let entries = [state.held[path]?.override, state.held[path]?.temporary].compactMap(\.self)
            guard state.node(path) == nil, !entries.isEmpty else { return nil }
            for entry in entries {
                state.unhold(path, entry.layer)
                state.journal?.note(entry.key, nil)
            }
            state.raise(to: state.revision + 1, &effects)
            return state.revision
        }
        deliver(effects, .carrier)
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
        var effects = CommitEffects()
        var unfit: [(TweakPath, AsideEntry)] = []
        while !adoptHeld(&effects, &unfit) {}
        deliver(effects, .caller)
        report(unfit)
    }

    /// False when registrations or other files came in between.
    private func adoptHeld(_ effects: inout CommitEffects, _ unfit: inout [(TweakPath, AsideEntry)]) -> Bool {
        let time = currentTime
        let (found, generation, heldGeneration) = state.withLock { state in
            (state.nodesWithHeld(at: time), state.generation, state.heldGeneration)
        }
        // The program's own checks may run here, so not under the lock.
        let judged = found.map { node, layers in (node, layers.map { JudgedEntry($0.layer, $0.entry, for: node) }) }
        return state.withLock { state in
            guard state.generation == generation, state.heldGeneration == heldGeneration else { return false }
            for (node, layers) in judged {
                let old = state.current(node)
                // What was set in this run is newer.
                let isSet = state.overlays[node.slot].isSet
                for layer in layers where isSet && layer.layer >= .override {
                    state.unhold(layer.entry.path, layer.layer)
                    // Where the tweak has none of that layer, the file's must not come back either.
                    if layer.entry.path != node.path || state.overlays[node.slot][layer.layer] == nil {
                        state.journal?.note(layer.entry.key, nil)
                    }
                }
                let wanted = layers.filter { !isSet || $0.layer < .override }
                state.install(wanted, on: node)
                unfit += state.overlays[node.slot].notes?.aside.map { (node.path, $0) } ?? []
                guard let old, let new = state.current(node), new.value != old.value else { continue }
                let origin = state.overlays[node.slot].entries.last?.origin ?? .code
                state.publish(
                    node, old: old, new: new, origin: origin, revision: state.revision, &effects)
            }
            state.announce(&effects)
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

extension RegistryState {
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
