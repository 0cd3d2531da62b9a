// Publishes figures: read-only values that the program shows to its clients.

import Synchronization

extension TweakRegistry {
    /// Publishes a figure: observers and readers see it at once; revision and history do not change.
    func publish(_ node: TweakNode, _ value: TweakValue) throws(TweakError) -> TweakOutcome {
        let (prepared, adjustment) = try node.prepare(value, policy: .clamp)
        var commit = PendingCommit(nil, .code, currentTime)
        commit.changesOneTweak = true
        let outcome = try state.withLock { state throws(TweakError) -> TweakOutcome in
            guard state.holds(node), let old = state.current(node) else { throw node.notRegistered }
            if old.value != prepared.value {
                state.deferLayerRelease(of: node)
                state.overlays[node.slot].set(
                    .init(layer: .override, prepared: prepared, origin: .code, time: commit.time))
                state.makeCurrent(node, old: old, new: prepared, &commit)
            }
            return TweakOutcome(
                path: node.path, old: old.value, new: prepared.value, adjustment: adjustment, didStore: false,
                revision: state.revision, isSecret: node.isSecret)
        }
        deliver(commit, .caller)
        return outcome
    }
}
