// Makes a commit that can be reverted later: values for the duration of a test.

extension TweakRegistry {
    /// Makes a commit and returns a closure that restores the previous overrides of its tweaks, except removed ones.
    package func commitReversibly(_ changes: (inout TweakBatch) -> Void) throws(TweakError) -> () -> Void {
        let before = snapshot()
        let nodes = try commit(changes).outcomes.compactMap { self[$0.path]?.node }.filter(before.holds)
        return {
            var batch = TweakBatch()
            for node in nodes where self.snapshot().holds(node) {
                batch.append(node, .restore(before.overlays[node.slot].overrideLayers))
            }
            // The values were valid before. Only a process that was frozen since then refuses, and has reset them.
            _ = try? self.commit(batch, origin: .code, delivery: .caller)
        }
    }
}
