// A commit that is taken back later: values for the length of a test.

extension TweakRegistry {
    /// Makes a commit, and returns what puts back the layers that its tweaks had; of those that are still registered then.
    package func commitReversibly(_ changes: (inout TweakBatch) -> Void) throws(TweakError) -> () -> Void {
        let before = snapshot()
        let nodes = try commit(changes).outcomes.compactMap { self[$0.path]?.node }.filter(before.holds)
        return {
            var batch = TweakBatch()
            for node in nodes where self.snapshot().holds(node) {
                batch.append(node, .restore(before.overlays[node.slot].setLayers))
            }
            // The values were in effect; only a process that was frozen meanwhile refuses, and has reset them anyway.
            _ = try? self.commit(batch, origin: .code, delivery: .caller)
        }
    }
}
