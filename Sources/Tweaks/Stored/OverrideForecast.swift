// What a batch would make of the stored overrides, for a disk that is asked first.

import Synchronization

/// The overrides that a batch leads to.
package struct OverrideForecast: Sendable {
    /// The overrides, or nil for none. Without those that are so already.
    package let changes: [OverrideKey: StoredEntry?]
    /// What those overrides are before it.
    private let before: [OverrideKey: StoredEntry]

    fileprivate init(changes: [OverrideKey: StoredEntry?], before: [OverrideKey: StoredEntry]) {
        self.changes = changes
        self.before = before
    }

    /// Whether nobody has set one of these tweaks between two forecasts.
    package func hasSameStart(as other: OverrideForecast) -> Bool { before == other.before }

    /// Whether two forecasts of one batch come to the same values.
    package func agrees(with other: OverrideForecast) -> Bool {
        changes.count == other.changes.count
            && changes.allSatisfy { key, entry in
                guard let counterpart = other.changes[key] else { return false }
                return counterpart?.content == entry?.content
            }
    }
}

extension TweakRegistry {
    /// What a batch would make of the stored overrides, without doing it.
    /// - Throws: What `commit` would.
    package func overrides(after batch: TweakBatch, origin: TweakOrigin) throws(TweakError) -> OverrideForecast {
        let steps = try plan(batch, policy: nil)
        if let node = steps.first?.node, isFrozen { throw node.frozen }
        let time = currentTime
        var changes: [OverrideKey: StoredEntry?] = [:]
        var before: [OverrideKey: StoredEntry] = [:]
        try state.withLock { state throws(TweakError) in
            for step in steps where state.holds(step.node) {
                _ = try state.mayApply(step)
                for layer in [TweakLayer.override, .temporaryOverride] {
                    let now = state.storedOverride(step.node, layer)
                    let wanted = state.storedOverride(step, layer, origin, time)
                    let isSame = now?.content == wanted?.content && now?.expires == wanted?.expires
                    // A guess at a secret is written like any other value: a faster answer would confirm it.
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
        _ step: CommitStep, _ layer: TweakLayer, _ origin: TweakOrigin, _ time: ContinuousClock.Instant
    ) -> StoredEntry? {
        if !step.change.isAbout(layer) { return storedOverride(step.node, layer) }
        var overlay = overlays[step.node.slot]
        _ = overlay.apply(step.change, origin: origin, at: Moment(time))
        // A new word about it ends what was kept aside.
        return overlay[layer].map { StoredEntry($0, of: step.node, covering: beneath(step.node)?.value) }
    }
}
