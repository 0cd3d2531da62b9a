// Computes the stored overrides that a batch would produce, so that they can be written to disk before the commit.

import Synchronization

/// The stored overrides that a batch would produce.
package struct OverrideForecast: Sendable {
    /// The changed overrides; nil for a removed one.
    package let changes: [OverrideKey: StoredEntry?]
    /// The same overrides before the batch.
    private let before: [OverrideKey: StoredEntry]

    fileprivate init(changes: [OverrideKey: StoredEntry?], before: [OverrideKey: StoredEntry]) {
        self.changes = changes
        self.before = before
    }

    /// Whether none of these overrides changed between two forecasts.
    package func hasSameStart(as other: OverrideForecast) -> Bool { before == other.before }

    /// Whether two forecasts of one batch give the same values.
    package func agrees(with other: OverrideForecast) -> Bool {
        changes.count == other.changes.count
            && changes.allSatisfy { key, entry in
                guard let counterpart = other.changes[key] else { return false }
                return counterpart?.content == entry?.content
            }
    }
}

extension TweakRegistry {
    /// The stored overrides that a batch would produce, without committing it.
    /// - Throws: The error that `commit` would throw.
    package func overrides(after batch: TweakBatch, origin: TweakOrigin) throws(TweakError) -> OverrideForecast {
        let steps = try plan(batch, policy: nil)
        if let node = steps.first?.node, isFrozen { throw node.frozen }
        let time = currentTime
        var changes: [OverrideKey: StoredEntry?] = [:]
        var before: [OverrideKey: StoredEntry] = [:]
        try state.withLock { state throws(TweakError) in
            for step in steps where state.holds(step.node) {
                _ = try state.mayApply(step)
                for layer in [LayerIndex.override, .temporaryOverride] {
                    let now = state.storedOverride(step.node, layer)
                    let wanted = state.storedOverride(step, layer, origin, time)
                    let isSame = now?.content == wanted?.content && now?.expires == wanted?.expires
                    // A guessed secret is written even if it is right: a faster reply would confirm the guess.
                    if isSame, !step.node.isSecret || wanted == nil { continue }
                    let key = OverrideKey(step.node.path, isTemporary: layer == .temporaryOverride)
                    changes[key] = .some(wanted)
                    before[key] = now
                }
            }
        }
        return OverrideForecast(changes: changes, before: before)
    }
}

extension RegistryState {
    /// The override of a tweak after a step.
    fileprivate func storedOverride(
        _ step: CommitStep, _ layer: LayerIndex, _ origin: TweakOrigin, _ time: ContinuousClock.Instant
    ) -> StoredEntry? {
        if !step.change.affects(layer) { return storedOverride(step.node, layer) }
        var overlay = overlays[step.node.slot]
        _ = overlay.apply(step.change, origin: origin, at: Moment(time), in: layers)
        // A new set or reset also discards a quarantined value.
        return overlay[layer].map { StoredEntry($0, of: step.node, covering: underlyingValue(of: step.node)?.value) }
    }
}
