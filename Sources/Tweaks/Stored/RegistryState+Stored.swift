// What the state of a registry keeps for files: overrides to be stored, and values for tweaks that are not registered.

extension RegistryState {
    /// The override or temporary override of a tweak as a file holds it: in force, or kept aside.
    func storedOverride(_ node: TweakNode, _ layer: TweakLayer) -> StoredEntry? {
        let overlay = overlays[node.slot]
        guard let entry = overlay[layer] else {
            return overlay.notes?.aside.first { $0.layer == layer }?.entry
        }
        // What has changed beneath an override since it was set is no news to the file: it remembers what that covered.
        let covered = layer == .override ? overlay.notes?.beneath?.old : nil
        return StoredEntry(entry, of: node, covering: covered ?? beneath(node)?.value)
    }

    /// What shows without overrides; nil for an action.
    func beneath(_ node: TweakNode) -> Prepared? {
        overlays[node.slot].beneath?.prepared ?? node.defaultPrepared
    }

    // MARK: Holding

    /// Keeps a value for a tweak that is not registered.
    mutating func hold(_ entry: StoredEntry, for layer: TweakLayer) {
        held[entry.path, default: HeldLayers()][layer] = entry
        heldGeneration += 1
    }

    /// Forgets a held value.
    mutating func unhold(_ path: TweakPath, _ layer: TweakLayer) {
        guard var layers = held[path], layers[layer] != nil else { return }
        layers[layer] = nil
        held[path] = layers.isEmpty ? nil : layers
        heldGeneration += 1
    }

    /// Keeps what files say about a tweak that is just being removed, for the day it comes back.
    mutating func hold(_ node: TweakNode) {
        let overlay = overlays[node.slot]
        if store != nil, node.isSettable {
            for layer in [TweakLayer.override, .temporaryOverride] {
                if let entry = storedOverride(node, layer) { hold(entry, for: layer) }
            }
        }
        for layer in [TweakLayer.configFile, .fleet] {
            guard let entry = overlay[layer] else { continue }
            let stored = StoredEntry(
                path: node.path, content: .value(entry.prepared.value), origin: entry.origin, time: entry.time)
            hold(stored, for: layer)
        }
        for aside in overlay.notes?.aside ?? [] where aside.layer < .override { hold(aside.entry, for: aside.layer) }
    }

    /// The values that files have for a tweak that is about to be registered: under its path, or else a former one.
    /// Without what has run out by a moment.
    func heldLayers(
        _ paths: [TweakPath], at time: ContinuousClock.Instant
    ) -> [(layer: TweakLayer, entry: StoredEntry)] {
        if held.isEmpty { return [] }
        return TweakLayer.allCases.compactMap { layer in
            let paths = paths.prefix(1) + paths.dropFirst().filter { node($0) == nil }
            let entry = paths.lazy.compactMap { held[$0]?[layer] }.first
            return entry.flatMap { $0.isExpired(time) ? nil : (layer, $0) }
        }
    }

    /// Gives a tweak what files have for it.
    /// - Parameter commit: Learns of which overrides the file has to be told: those that came under a former path, or have
    ///   lost to the config file.
    mutating func install(_ layers: [JudgedEntry], on node: TweakNode, _ commit: inout PendingCommit) {
        var aside: [AsideEntry] = []
        spareLayers(of: node)
        textBytes -= heldText(node)
        defer { textBytes += heldText(node) }
        for judged in layers {
            unhold(judged.entry.path, judged.layer)
            switch judged.result {
            case .success(let prepared):
                overlays[node.slot].set(
                    .init(
                        layer: judged.layer, prepared: prepared, origin: judged.entry.origin, time: judged.entry.time,
                        expires: judged.entry.expires))
                expiries.move(node, from: nil, to: judged.entry.expires.map { Moment($0) })
            case .failure(let reason):
                aside.append(AsideEntry(layer: judged.layer, entry: judged.entry, reason: reason))
            }
        }
        finishInstalling(layers, aside, on: node, &commit)
    }

    private mutating func finishInstalling(
        _ layers: [JudgedEntry], _ aside: [AsideEntry], on node: TweakNode, _ commit: inout PendingCommit
    ) {
        let covered = layers.first { $0.layer == .override && $0.isSuccess }?.entry.covered
        let beneath = change(beneath: node, since: covered)
        if fileWins, beneath != nil, overlays[node.slot].beneath?.layer == .configFile {
            overlays[node.slot].remove(.override)
            overlays[node.slot].notes = OverlayNotes(aside: aside, beneath: nil)
            commit.touch(OverrideKey(node.path))
        } else {
            overlays[node.slot].notes = OverlayNotes(aside: aside, beneath: beneath)
        }
        overlays[node.slot].changedAt = revision
        if let top = overlays[node.slot].top { store(top, in: node) }
        for judged in layers where judged.layer >= .override && judged.entry.path != node.path {
            commit.touch(judged.entry.key)
            commit.touch(OverrideKey(node.path, isTemporary: judged.entry.key.isTemporary))
        }
    }

    /// What became of the value beneath an override since it was set; nil where that is the same.
    func change(beneath node: TweakNode, since covered: TweakValue?) -> (old: TweakValue, new: TweakValue)? {
        guard let covered, let new = beneath(node)?.value, new != covered else { return nil }
        return (covered, new)
    }
}

/// A value from a file, judged against a definition.
struct JudgedEntry {
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
    /// An override as a file holds it.
    init(_ entry: Overlays.Entry, of node: TweakNode, covering covered: TweakValue?) {
        self.init(
            path: node.path, content: .value(entry.prepared.value), origin: entry.origin, time: entry.time,
            covered: covered, expires: entry.expires)
    }
}
