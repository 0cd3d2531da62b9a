// The way back from a preset that somebody only wants to look at.

import Synchronization

/// The overrides that a commit has touched, as they were before it: not values, so that what lies beneath shows again
/// where there were none.
package struct PresetSwap: Sendable {
    /// One tweak.
    struct Part: Sendable {
        let node: TweakNode
        let before: SetLayers
        let after: Prepared?

        /// Whether the tweak is as the preset has left it.
        func isUntouched(_ now: SetLayers) -> Bool {
            now.temporary == nil && now.override?.prepared.value == after?.value
        }
    }

    var parts: [Part]
    /// The revision at which the overrides were looked at.
    package let revision: UInt64

    /// Leaves out what the commit did not have to touch.
    package mutating func keep(_ result: TweakCommitResult) {
        let touched = Set(result.outcomes.filter(\.didStore).map(\.path))
        parts.removeAll { !touched.contains($0.node.path) }
    }

    /// Whether there is nothing to go back to.
    package var isEmpty: Bool { parts.isEmpty }
}

extension TweakRegistry {
    /// Remembers the overrides that a batch will touch.
    package func swap(for batch: TweakBatch) -> PresetSwap {
        state.withLock { state in
            var swap = PresetSwap(parts: [], revision: state.revision)
            for entry in batch.entries {
                guard case .node(let node) = entry.target, state.holds(node) else { continue }
                let after: Prepared? = if case .judged(let prepared, _) = entry.change { prepared } else { nil }
                let before = state.overlays[node.slot].setLayers
                swap.parts.append(PresetSwap.Part(node: node, before: before, after: after))
            }
            return swap
        }
    }

    /// Whether all is as it was before.
    package func isUndone(_ swap: PresetSwap) -> Bool {
        let time = Moment(currentTime)
        return state.withLock { state in
            swap.parts.allSatisfy { part in
                state.holds(part.node) && state.overlays[part.node.slot].setLayers.agrees(with: part.before, at: time)
            }
        }
    }

    /// The changes that lead back.
    /// - Returns: They are to be committed only if nothing of it changed after the revision.
    /// - Throws: `conflict`, unless forced, where something has changed since.
    package func wayBack(
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
            let remedy = "swap \(name) force goes back all the same"
            guard holds(part.node) else {
                return TweakError(.conflict, "\(path.token) is no longer registered; \(remedy)", path: path)
            }
            let overlay = overlays[part.node.slot]
            if part.isUntouched(overlay.setLayers) { continue }
            return TweakError(
                .conflict,
                "\(path.token) has changed since, in revision \(overlay.changedAt) by "
                    + "\(overlay.topOverride?.origin.description ?? "a reset"); \(remedy)", path: path)
        }
        return nil
    }
}
