// Keeps values for tweaks that are not registered, and installs them when they register.

import Synchronization

extension RegistryState {
    /// Keeps a value for a tweak that is not registered.
    mutating func addPending(_ value: PendingValue, _ layer: LayerIndex, _ path: TweakPath) {
        pending[path, default: PendingLayers()][layer] = value
        pendingGeneration += 1
    }

    /// Removes a pending value.
    mutating func removePending(_ path: TweakPath, _ layer: LayerIndex) {
        guard var layers = pending[path], layers[layer] != nil else { return }
        layers[layer] = nil
        pending[path] = layers.isEmpty ? nil : layers
        pendingGeneration += 1
    }

    /// Keeps the values of a tweak that is being removed, in case it is registered again. Its overrides only where they
    /// are stored: otherwise they last as long as the tweak.
    mutating func keepPending(_ node: TweakNode) {
        if mirror != nil, node.isSettable {
            for layer in [LayerIndex.override, .temporaryOverride] {
                if let entry = storedOverride(node, layer) { addPending(.entry(entry), layer, node.path) }
            }
        }
        for entry in overlays[node.slot].entries where !entry.layer.isOverride {
            let stored = StoredEntry(entry, of: node, covering: nil)
            addPending(.entry(stored), entry.layer, node.path)
        }
        for quarantined in overlays[node.slot].notes?.quarantined ?? [] where !quarantined.index.isOverride {
            addPending(.entry(quarantined.entry), quarantined.index, quarantined.entry.path)
        }
    }

    /// The override or temporary override of a tweak as it is stored: in effect, or quarantined.
    func storedOverride(_ node: TweakNode, _ layer: LayerIndex) -> StoredEntry? {
        let overlay = overlays[node.slot]
        guard let entry = overlay[layer] else {
            return overlay.notes?.quarantined.first { $0.index == layer }?.entry
        }
        // It keeps the underlying value from when the override was set, even if that has changed since.
        let covered = layer == .override ? overlay.notes?.underlyingChange?.old : nil
        return StoredEntry(entry, of: node, covering: covered ?? underlyingValue(of: node)?.value)
    }

    /// The value without overrides; nil for an action.
    func underlyingValue(of node: TweakNode) -> Prepared? {
        overlays[node.slot].underlying?.prepared ?? node.defaultPrepared
    }

    /// The pending values for a tweak that is about to be registered, lowest layer first: under its path, or else a
    /// former one. Excludes temporary overrides that have expired by `time`.
    func pendingLayers(
        _ paths: [TweakPath], at time: Moment
    ) -> [(layer: LayerIndex, entry: StoredEntry)] {
        if pending.isEmpty { return [] }
        let paths = paths.prefix(1) + paths.dropFirst().filter { node($0) == nil }
        return (layers.sources + [.override, .temporaryOverride]).compactMap { layer in
            let entry = paths.lazy.compactMap { path in pending[path]?[layer]?.entry(path) }.first
            return entry.flatMap { $0.isExpired(time) ? nil : (layer, $0) }
        }
    }

    // MARK: Installing

    /// Applies pending values to a tweak.
    /// - Parameter commit: Receives the overrides that are no longer as they are stored: those from a former path, and
    ///   those that a source has dropped.
    mutating func install(_ values: [ValidatedEntry], on node: TweakNode, _ commit: inout PendingCommit) {
        var quarantined: [QuarantinedEntry] = []
        deferLayerRelease(of: node)
        textBytes -= overrideTextBytes(node)
        defer { textBytes += overrideTextBytes(node) }
        for value in values {
            removePending(value.entry.path, value.layer)
            switch value.result {
            case .success(let prepared):
                overlays[node.slot].set(Overlays.Entry(value, prepared), in: layers)
                expiries.move(node, from: nil, to: value.entry.expires)
            case .failure(let reason): quarantined.append(quarantine(value, reason))
            }
        }
        // What is left has expired.
        removePending(node.path, .temporaryOverride)
        let covered = values.first { $0.layer == .override && $0.isSuccess }?.entry.covered
        note(quarantined, of: node, since: covered, &commit)
        overlays[node.slot].changedAt = revision
        if let top = overlays[node.slot].top { store(top, in: node) }
        for value in values where value.layer.isOverride && value.entry.path != node.path {
            commit.touch(value.entry.key)
            commit.touch(OverrideKey(node.path, isTemporary: value.entry.key.isTemporary))
        }
    }

    func quarantine(_ value: ValidatedEntry, _ reason: TweakError) -> QuarantinedEntry {
        QuarantinedEntry(layer: layers[value.layer], index: value.layer, entry: value.entry, reason: reason)
    }

    /// Notes what is not in effect. If the value below a stored override has changed since it was set, and the source
    /// of the change wins, the override is dropped.
    private mutating func note(
        _ quarantined: [QuarantinedEntry], of node: TweakNode, since covered: TweakValue?, _ commit: inout PendingCommit
    ) {
        var underlyingChange = underlyingChange(of: node, since: covered)
        let source = overlays[node.slot].underlying?.layer
        if underlyingChange != nil, let source, layers.rules(source).dropsOverrides {
            droppedOverrides[ObjectIdentifier(node)] = overlays[node.slot][.override]?.prepared.value
            overlays[node.slot].remove(.override)
            underlyingChange = nil
            commit.touch(OverrideKey(node.path))
        }
        overlays[node.slot].notes = OverlayNotes(quarantined: quarantined, underlyingChange: underlyingChange)
    }

    /// The change of the underlying value since the override was set; nil if it is the same.
    func underlyingChange(of node: TweakNode, since covered: TweakValue?) -> (old: TweakValue, new: TweakValue)? {
        guard let covered, let new = underlyingValue(of: node)?.value, new != covered else { return nil }
        return (covered, new)
    }
}

extension Overlays.Entry {
    init(_ value: ValidatedEntry, _ prepared: Prepared) {
        self.init(
            layer: value.layer, prepared: prepared, origin: value.entry.origin, time: value.entry.time,
            end: value.entry.expires)
    }
}

// MARK: - Registering

extension TweakRegistry {
    /// Registers a tweak together with its pending values and what sources have for it, so that no reader sees it
    /// without them.
    func registerPending(_ path: TweakPath, _ make: (Int, UInt64) -> TweakNode) -> TweakNode {
        // Never registered: it only validates the pending values outside the lock.
        let trial = make(-1, 0)
        var asked: [(layer: LayerIndex, entry: StoredEntry)] = []
        var round = 0
        while true {
            let (pending, layers, generation) = state.withLock { state in
                (
                    state.pendingLayers([path] + trial.formerly, at: currentTime), state.layers,
                    state.pendingGeneration
                )
            }
            // Asked after the count was read: what a source changes meanwhile is asked for again, a few times.
            if round < Self.rounds { asked = askSources(trial) }
            round += 1
            let known = pending.filter { value in !asked.contains { $0.layer == value.layer } }
            let validated = (known + asked).map {
                ValidatedEntry($0.layer, $0.entry, for: trial, layers.rules($0.layer))
            }
            var quarantined: [(TweakPath, QuarantinedEntry)] = []
            var commit = PendingCommit(nil, .code, currentTime)
            let node = state.withLock { state -> TweakNode? in
                if let known = state.node(path) { return known }
                guard state.pendingGeneration == generation else { return nil }
                let node = state.add(make)
                state.install(validated, on: node, &commit)
                state.finish(&commit)
                quarantined = state.overlays[node.slot].notes?.quarantined.map { (path, $0) } ?? []
                return node
            }
            guard let node else { continue }
            deliver(commit, .caller)
            if validated.contains(where: { $0.layer == .temporaryOverride }) { setAlarm() }
            reportQuarantined(quarantined)
            return node
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

// MARK: - Adopting

extension TweakRegistry {
    /// Applies pending values to the registered tweaks.
    func adoptPending() {
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
        let (found, layers, generation, pendingGeneration) = state.withLock { state in
            (state.nodesWithPending(at: time), state.layers, state.generation, state.pendingGeneration)
        }
        // The program's own checks may run here, so not under the lock.
        let validated = found.map { node, values in
            (node, values.map { ValidatedEntry($0.layer, $0.entry, for: node, layers.rules($0.layer)) })
        }
        return state.withLock { state in
            guard state.generation == generation, state.pendingGeneration == pendingGeneration else { return false }
            for (node, values) in validated { state.adopt(values, node, &adoption) }
            for index in adoption.commits.indices { state.finish(&adoption.commits[index]) }
            return true
        }
    }
}

/// The results of applying pending values to registered tweaks.
private struct Adoption {
    let time: Moment
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
    fileprivate mutating func adopt(_ values: [ValidatedEntry], _ node: TweakNode, _ adoption: inout Adoption) {
        let old = current(node)
        // Overrides set in this run are newer than stored ones.
        let isSet = overlays[node.slot].isSet
        let index = adoption.commitIndex(for: values.last?.entry.origin ?? .code)
        endPreview(of: CollectionOfOne(node), &adoption.commits[index])
        for value in values where isSet && value.layer.isOverride {
            removePending(value.entry.path, value.layer)
            adoption.commits[index].touch(value.entry.key)
        }
        install(values.filter { !isSet || !$0.layer.isOverride }, on: node, &adoption.commits[index])
        adoption.quarantined += overlays[node.slot].notes?.quarantined.map { (node.path, $0) } ?? []
        guard let old, let new = current(node), new.value != old.value else { return }
        let visible = adoption.commitIndex(for: overlays[node.slot].entries.last?.origin ?? .code)
        adoption.commits[visible].parts.append(
            CommitPart(
                .node(node), .unchanged, old: old.value, new: new.value,
                layer: overlays[node.slot].topLayer ?? .default,
                isReported: true))
        adoption.commits[visible].didStore = true
        makeCurrent(node, old: old, new: new, &adoption.commits[visible])
    }

    /// The registered tweaks with pending values.
    fileprivate func nodesWithPending(
        at time: Moment
    ) -> [(node: TweakNode, values: [(layer: LayerIndex, entry: StoredEntry)])] {
        var found: [(TweakNode, [(layer: LayerIndex, entry: StoredEntry)])] = []
        var seen = Set<ObjectIdentifier>()
        for path in pending.keys {
            guard let node = node(path) ?? formerly[path], seen.insert(ObjectIdentifier(node)).inserted else {
                continue
            }
            let values = pendingLayers([node.path] + node.formerly, at: time)
            if !values.isEmpty { found.append((node, values)) }
        }
        return found
    }
}

// MARK: - Asking

extension TweakRegistry {
    /// Calls `handler` for each quarantined value: now for the existing ones, later on the thread that registers the
    /// tweak.
    package func onInvalid(_ handler: @escaping @Sendable (TweakPath, QuarantinedEntry) -> Void) {
        let known = state.withLock { state in
            state.quarantineHandlers.append(handler)
            return state.allQuarantined
        }
        for (path, entry) in known { handler(path, entry) }
    }

    /// The quarantined values of a tweak.
    package func quarantined(_ node: TweakNode) -> [QuarantinedEntry] {
        state.withLock { state in state.holds(node) ? state.overlays[node.slot].notes?.quarantined ?? [] : [] }
    }

    /// The change of the underlying value since the override was set; nil if it is the same.
    package func underlyingValueChange(_ node: TweakNode) -> (old: TweakValue, new: TweakValue)? {
        state.withLock { state in state.holds(node) ? state.overlays[node.slot].notes?.underlyingChange : nil }
    }

    /// The pending values for a path without a tweak, lowest layer first.
    package func pendingEntries(_ path: TweakPath) -> [(layer: TweakLayer, entry: StoredEntry)] {
        let time = currentTime
        return state.withLock { state in
            state.pendingLayers([path], at: time).map { (state.layers[$0.layer], $0.entry) }
        }
    }

    /// Removes the pending override of a path without a tweak.
    /// - Returns: The new revision; nil when there was none.
    package func forgetPendingOverride(_ path: TweakPath) -> UInt64? {
        var commit = PendingCommit(nil, .code, currentTime)
        let revision = state.withLock { state -> UInt64? in
            let keys = [OverrideKey(path), OverrideKey(path, isTemporary: true)].filter {
                state.pending[path]?[$0.layer] != nil
            }
            guard state.node(path) == nil, !keys.isEmpty else { return nil }
            for key in keys {
                state.removePending(path, key.layer)
                commit.touch(key)
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
                state.allQuarantined.count { $0.1.index.isOverride }
            )
        }
    }
}

extension RegistryState {
    /// All quarantined values.
    fileprivate var allQuarantined: [(TweakPath, QuarantinedEntry)] {
        nodes.compactMap { $0 }.flatMap { node in
            overlays[node.slot].notes?.quarantined.map { (node.path, $0) } ?? []
        }
    }
}
