// Manages the stored part of a registry's state: overrides to save, and pending values of unregistered tweaks.

extension RegistryState {
    /// The override or temporary override of a tweak as stored in a file: in effect, or quarantined.
    func storedOverride(_ node: TweakNode, _ layer: TweakLayer) -> StoredEntry? {
        let overlay = overlays[node.slot]
        guard let entry = overlay[layer] else {
            return overlay.notes?.quarantined.first { $0.layer == layer }?.entry
        }
        // The file keeps the underlying value from when the override was set, even if that has changed since.
        let covered = layer == .override ? overlay.notes?.underlyingChange?.old : nil
        return StoredEntry(entry, of: node, covering: covered ?? underlyingValue(of: node)?.value)
    }

    /// The value without overrides; nil for an action.
    func underlyingValue(of node: TweakNode) -> Prepared? {
        overlays[node.slot].underlying?.prepared ?? node.defaultPrepared
    }

    // MARK: Pending values

    /// Keeps a value for a tweak that is not registered.
    mutating func addPending(_ entry: StoredEntry, for layer: TweakLayer) {
        pending[entry.path, default: PendingLayers()].set(entry, for: layer)
        pendingGeneration += 1
    }

    /// Replaces the pending values of the config file.
    mutating func replacePending(_ lines: [(path: TweakPath, line: PendingLine)]) {
        for (path, layers) in pending where layers.hasFileValue { removePending(path, .configFile) }
        for (path, line) in lines { pending[path, default: PendingLayers()].set(line) }
        pendingGeneration += 1
    }

    /// Removes a pending value.
    mutating func removePending(_ path: TweakPath, _ layer: TweakLayer) {
        guard var layers = pending[path], layers.entry(layer, of: path) != nil else { return }
        layers.remove(layer)
        pending[path] = layers.isEmpty ? nil : layers
        pendingGeneration += 1
    }

    /// Keeps the file values of a tweak that is being removed, in case it is registered again.
    mutating func keepPending(_ node: TweakNode) {
        let overlay = overlays[node.slot]
        if store != nil, node.isSettable {
            for layer in [TweakLayer.override, .temporaryOverride] {
                if let entry = storedOverride(node, layer) { addPending(entry, for: layer) }
            }
        }
        for layer in [TweakLayer.configFile, .fleet] {
            guard let entry = overlay[layer] else { continue }
            let stored = StoredEntry(
                path: node.path, content: .value(entry.prepared.value), origin: entry.origin, time: entry.time)
            addPending(stored, for: layer)
        }
        for quarantined in overlay.notes?.quarantined ?? [] where quarantined.layer < .override {
            addPending(quarantined.entry, for: quarantined.layer)
        }
    }

    /// The pending values for a tweak that is about to be registered: under its path, or else a former one.
    /// Excludes temporary overrides that have expired by `time`.
    func pendingLayers(
        _ paths: [TweakPath], at time: ContinuousClock.Instant
    ) -> [(layer: TweakLayer, entry: StoredEntry)] {
        if pending.isEmpty { return [] }
        return TweakLayer.allCases.compactMap { layer in
            let paths = paths.prefix(1) + paths.dropFirst().filter { node($0) == nil }
            let entry = paths.lazy.compactMap { pending[$0]?.entry(layer, of: $0) }.first
            return entry.flatMap { $0.isExpired(time) ? nil : (layer, $0) }
        }
    }

    /// Applies pending values to a tweak.
    /// - Parameter commit: Receives the overrides to write back to the file: those stored under a former path, and
    ///   those dropped because the config file wins.
    mutating func install(_ layers: [ValidatedEntry], on node: TweakNode, _ commit: inout PendingCommit) {
        var quarantined: [QuarantinedEntry] = []
        deferLayerRelease(of: node)
        textBytes -= overrideTextBytes(node)
        defer { textBytes += overrideTextBytes(node) }
        for validated in layers {
            removePending(validated.entry.path, validated.layer)
            switch validated.result {
            case .success(let prepared):
                overlays[node.slot].set(
                    .init(
                        layer: validated.layer, prepared: prepared, origin: validated.entry.origin,
                        time: validated.entry.time, expires: validated.entry.expires))
                expiries.move(node, from: nil, to: validated.entry.expires.map { Moment($0) })
            case .failure(let reason):
                quarantined.append(QuarantinedEntry(layer: validated.layer, entry: validated.entry, reason: reason))
            }
        }
        finishInstalling(layers, quarantined, on: node, &commit)
    }

    private mutating func finishInstalling(
        _ layers: [ValidatedEntry], _ quarantined: [QuarantinedEntry], on node: TweakNode, _ commit: inout PendingCommit
    ) {
        let covered = layers.first { $0.layer == .override && $0.isSuccess }?.entry.covered
        let underlyingChange = underlyingChange(of: node, since: covered)
        if fileWins, underlyingChange != nil, overlays[node.slot].underlying?.layer == .configFile {
            overridesDroppedAtStart[ObjectIdentifier(node)] = overlays[node.slot][.override]?.prepared.value
            overlays[node.slot].remove(.override)
            overlays[node.slot].notes = OverlayNotes(quarantined: quarantined, underlyingChange: nil)
            commit.touch(OverrideKey(node.path))
        } else {
            overlays[node.slot].notes = OverlayNotes(quarantined: quarantined, underlyingChange: underlyingChange)
        }
        overlays[node.slot].changedAt = revision
        if let top = overlays[node.slot].top { store(top, in: node) }
        for validated in layers where validated.layer >= .override && validated.entry.path != node.path {
            commit.touch(validated.entry.key)
            commit.touch(OverrideKey(node.path, isTemporary: validated.entry.key.isTemporary))
        }
    }

    /// The change of the underlying value since the override was set; nil if it is the same.
    func underlyingChange(of node: TweakNode, since covered: TweakValue?) -> (old: TweakValue, new: TweakValue)? {
        guard let covered, let new = underlyingValue(of: node)?.value, new != covered else { return nil }
        return (covered, new)
    }
}

/// A value from a file, validated against a definition.
struct ValidatedEntry {
    let layer: TweakLayer
    let entry: StoredEntry
    let result: Result<Prepared, TweakError>

    init(_ layer: TweakLayer, _ entry: StoredEntry, for node: TweakNode) {
        self.layer = layer
        self.entry = entry
        do throws(TweakError) {
            result = .success(try node.prepare(entry, for: layer).prepared)
        } catch {
            result = .failure(error)
        }
    }

    var isSuccess: Bool { if case .success = result { true } else { false } }
}

extension StoredEntry {
    /// An override as stored in a file.
    init(_ entry: Overlays.Entry, of node: TweakNode, covering covered: TweakValue?) {
        self.init(
            path: node.path, content: .value(entry.prepared.value), origin: entry.origin, time: entry.time,
            covered: covered, expires: entry.expires)
    }
}
