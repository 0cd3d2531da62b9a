// Makes the commits that are no client's: figures, the freezing of a process, and values for the duration of a test.

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
                let entry = Overlays.Entry(layer: .override, prepared: prepared, origin: .code, time: commit.time)
                state.overlays[node.slot].set(entry, in: state.layers)
                state.makeCurrent(node, old: old, new: prepared, &commit)
            }
            return TweakOutcome(
                path: node.path, old: old.value, new: prepared.value, adjustment: adjustment, didStore: false,
                revision: state.revision, isSecret: node.isSecret)
        }
        deliver(commit, .caller)
        return outcome
    }

    /// Resets all overrides and refuses further sets with `read-only`. Figures are still published.
    package func freeze() {
        var commit = PendingCommit(.change(session: 0), .code, currentTime)
        state.withLock { state in
            state.isFrozen = true
            let settable = state.nodes.compactMap { $0 }.filter { !$0.definition.flags.contains(.readOnly) }
            _ = state.apply(settable.map { CommitStep(node: $0) }, &commit)
        }
        deliver(commit, .caller)
    }

    /// Makes a commit and returns a closure that restores the previous overrides of its tweaks, except removed ones.
    package func commitReversibly(_ changes: (inout TweakBatch) -> Void) throws(TweakError) -> () -> Void {
        let before = snapshot()
        let nodes = try commit(changes).outcomes.compactMap { self[$0.path]?.node }.filter(before.holds)
        return {
            var batch = TweakBatch()
            for node in nodes where self.snapshot().holds(node) {
                batch.append(node, .restore(before.overlays[node.slot].overrideValues))
            }
            // The values were valid before. Only a process that was frozen since then refuses, and has reset them.
            _ = try? self.commit(batch, origin: .code, delivery: .caller)
        }
    }
}
