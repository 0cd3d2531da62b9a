// Records what the config file has changed between two runs.

extension TweakRegistry {
    /// Records the changes of current values since the config file had these entries, as a reload. Reading the file at the
    /// start of a run is no change by itself; a file that was edited between two runs is.
    ///
    /// Called once the overrides are loaded: a value that an override hides has not changed. Changes of secrets are not
    /// recorded, since their values are not kept from run to run.
    /// - Parameter entries: The file as the previous run has last applied it.
    /// - Returns: The revision of the recorded commit; nil if no value has changed.
    package func recordConfigChanges(since entries: some Sequence<ConfigEntry>) -> UInt64? {
        while true {
            let generation = generation
            // Values that today's definitions refuse are unknown.
            let plan = AssignmentPlan(entries, ConfigPolicy(listedProblems: 1).rules, TweakView(self))
            var commit = PendingCommit(.reload, .configFile, currentTime)
            let isDone = state.withLock { state in
                guard state.generation == generation else { return false }
                state.recordConfigChanges(since: plan, &commit)
                return true
            }
            if !isDone { continue }
            deliver(commit, .executor)
            return commit.didStore ? revision : nil
        }
    }
}

extension RegistryState {
    fileprivate mutating func recordConfigChanges(since plan: AssignmentPlan, _ commit: inout PendingCommit) {
        let dropped = overridesDroppedAtStart
        overridesDroppedAtStart = [:]
        if isFrozen { return }
        let earlier = Dictionary(
            plan.steps.map { (ObjectIdentifier($0.node), $0.prepared.value) }, uniquingKeysWith: { first, _ in first })
        for case let node? in nodes {
            let key = ObjectIdentifier(node)
            let isUnknown = earlier[key] == nil && plan.names(node.path)
            let layer = overlays[node.slot].topLayer ?? .default
            guard !isUnknown, !node.isSecret, layer <= .configFile, let new = current(node)?.value,
                let old = dropped[key] ?? earlier[key] ?? node.defaultPrepared?.value, old != new
            else { continue }
            overlays[node.slot].changedAt = revision + commit.revisionIncrement
            commit.parts.append(CommitPart(.node(node), old: old, new: new, layer: layer, isReported: true))
        }
        commit.didStore = !commit.parts.isEmpty
        finish(&commit)
    }
}
