// Restores the overrides from before a preset was swapped in.

import Synchronization

/// The overrides that a commit changed, as they were before: overrides and not values, so that tweaks without one
/// return to the underlying layer.
package struct PresetSwap: Sendable {
    /// One tweak.
    struct Part: Sendable {
        let node: TweakNode
        let before: OverrideLayers
        let after: Prepared?

        /// Whether the tweak still is as the preset set it.
        func isUntouched(_ now: OverrideLayers) -> Bool {
            now.temporary == nil && now.override?.prepared.value == after?.value
        }
    }

    var parts: [Part]
    /// The revision at which the overrides were recorded.
    package let revision: UInt64

    /// Drops the tweaks that the commit did not change.
    package mutating func keep(_ result: TweakCommitResult) {
        let touched = Set(result.outcomes.filter(\.didStore).map(\.path))
        parts.removeAll { !touched.contains($0.node.path) }
    }

    /// Whether there is nothing to restore.
    package var isEmpty: Bool { parts.isEmpty }
}

extension TweakRegistry {
    /// Records the overrides that a batch will change.
    package func swap(for batch: TweakBatch) -> PresetSwap {
        state.withLock { state in
            var swap = PresetSwap(parts: [], revision: state.revision)
            for entry in batch.entries {
                guard case .node(let node) = entry.target, state.holds(node) else { continue }
                let after: Prepared? = if case .validated(let prepared, _) = entry.change { prepared } else { nil }
                let before = state.overlays[node.slot].overrideLayers
                swap.parts.append(PresetSwap.Part(node: node, before: before, after: after))
            }
            return swap
        }
    }

    /// Whether all overrides are as before the swap.
    package func isUndone(_ swap: PresetSwap) -> Bool {
        let time = Moment(currentTime)
        return state.withLock { state in
            swap.parts.allSatisfy { part in
                state.holds(part.node)
                    && state.overlays[part.node.slot].overrideLayers.agrees(with: part.before, at: time)
            }
        }
    }

    /// The changes that restore the recorded overrides.
    /// - Returns: The batch, which must be committed only if none of its tweaks changed after the revision.
    /// - Throws: `conflict` if a tweak has changed since the swap, unless forced.
    package func restorationBatch(
        _ swap: PresetSwap, _ name: PresetName, force isForced: Bool
    ) throws(TweakError) -> (batch: TweakBatch, nodes: [TweakNode], revision: UInt64) {
        let (revision, problem) = state.withLock { state in
            (state.revision, isForced ? nil : state.conflict(swap, name))
        }
        if let problem { throw problem }
        var batch = TweakBatch()
        let parts = swap.parts.filter { part in state.withLock { $0.holds(part.node) } }
        for part in parts { batch.append(part.node, .restore(part.before)) }
        return (batch, parts.map(\.node), revision)
    }
}

extension RegistryState {
    fileprivate func conflict(_ swap: PresetSwap, _ name: PresetName) -> TweakError? {
        for part in swap.parts {
            let path = part.node.path
            let remedy = "swap \(name) force goes back anyway"
            guard holds(part.node) else {
                return TweakError(.conflict, "\(path.token) is no longer registered; \(remedy)", path: path)
            }
            let overlay = overlays[part.node.slot]
            if part.isUntouched(overlay.overrideLayers) { continue }
            return TweakError(
                .conflict,
                "\(path.token) has changed since, in revision \(overlay.changedAt) by "
                    + "\(overlay.topOverride?.origin.description ?? "a reset"); \(remedy)", path: path)
        }
        return nil
    }
}
