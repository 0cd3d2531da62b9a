// Figures: values that the program publishes for others to look at.

import Synchronization

extension TweakRegistry {
    /// Publishes a figure: no revision, no history, observers and readers see it at once.
    func publish(_ node: TweakNode, _ value: TweakValue) throws(TweakError) -> TweakOutcome {
        let (prepared, adjustment) = try node.prepare(value, policy: .clamp)
        var commit = PendingCommit(nil, .code, currentTime)
        commit.isWhole = true
        let outcome = try state.withLock { state throws(TweakError) -> TweakOutcome in
            guard state.holds(node), let old = state.current(node) else { throw node.gone }
            if old.value != prepared.value {
                state.spareLayers(of: node)
                state.overlays[node.slot].set(
                    .init(layer: .override, prepared: prepared, origin: .code, time: commit.time))
                state.show(node, old: old, new: prepared, &commit)
            }
            return TweakOutcome(
                path: node.path, old: old.value, new: prepared.value, adjustment: adjustment, didStore: false,
                revision: state.revision, isSecret: node.isSecret)
        }
        deliver(commit, .caller)
        return outcome
    }
}
