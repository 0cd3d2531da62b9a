// Records what the config file has changed between two runs.

extension TweakRegistry {
    /// Records the changes of current values since the config file had these entries, as a reload. Reading the file at the
    /// start of a run is no change by itself; a file that was edited between two runs is.
    ///
    /// Called once the overrides are loaded: a value that an override hides has not changed. Changes of secrets are not
    /// recorded, since their values are not kept from run to run.
    /// - Parameter entries: The file as the previous run has last applied it.
    /// - Returns: The values of the file that cannot be compared: today's definitions refuse the earlier ones.
    package func recordConfigChanges(since entries: some Sequence<ConfigEntry>) -> [TweakHistoryEntry.Change] {
        while true {
            let generation = generation
            let plan = AssignmentPlan(entries, ConfigPolicy(listedProblems: 1).rules, TweakView(self))
            var commit = PendingCommit(.reload, .configFile, currentTime)
            let unknown = state.withLock { state -> [TweakHistoryEntry.Change]? in
                guard state.generation == generation else { return nil }
                return state.recordConfigChanges(since: plan, &commit)
            }
            guard let unknown else { continue }
            deliver(commit, .executor)
            return unknown
        }
    }

    /// The values of the config file that are in effect and differ from the defaults, for a start without a previous run
    /// to compare with. Those of secrets are left out, and of a secret is not said whether it differs.
    package func takeConfigFileValues() -> [TweakHistoryEntry.Change] {
        state.withLock { state in
            let dropped = state.overridesDroppedAtStart.take()
            return state.isFrozen ? [] : state.nodes.compactMap { $0.flatMap { state.fileValue(of: $0, dropped) } }
        }
    }
}

extension RegistryState {
    /// Returns the values that cannot be compared.
    fileprivate mutating func recordConfigChanges(
        since plan: AssignmentPlan, _ commit: inout PendingCommit
    ) -> [TweakHistoryEntry.Change] {
        let dropped = overridesDroppedAtStart.take()
        if isFrozen { return [] }
        var unknown: [TweakHistoryEntry.Change] = []
        let earlier = Dictionary(
            plan.steps.map { (ObjectIdentifier($0.node), $0.prepared.value) }, uniquingKeysWith: { first, _ in first })
        for case let node? in nodes where !node.isSecret {
            let key = ObjectIdentifier(node)
            if earlier[key] == nil, plan.names(node.path) {
                if let value = fileValue(of: node, dropped) { unknown.append(value) }
                continue
            }
            let layer = overlays[node.slot].topLayer ?? .default
            guard layer <= .configFile, let new = current(node)?.value,
                let old = dropped[key] ?? earlier[key] ?? node.defaultPrepared?.value, old != new
            else { continue }
            overlays[node.slot].changedAt = revision + commit.revisionIncrement
            commit.parts.append(CommitPart(.node(node), old: old, new: new, layer: layer, isReported: true))
        }
        commit.didStore = !commit.parts.isEmpty
        finish(&commit)
        return unknown
    }

    /// The value that a tweak has by the config file instead of its default, or of the override that the file has dropped;
    /// nil if there is none. A secret has no values, and is named even if the file repeats its default: silence would
    /// confirm a guess.
    fileprivate func fileValue(
        of node: TweakNode, _ dropped: [ObjectIdentifier: TweakValue]
    ) -> TweakHistoryEntry.Change? {
        guard overlays[node.slot].topLayer == .configFile, let new = current(node)?.value,
            let old = dropped[ObjectIdentifier(node)] ?? node.defaultPrepared?.value
        else { return nil }
        if node.isSecret { return .init(path: node.path, old: nil, new: nil, lifetime: nil) }
        return old == new ? nil : .init(path: node.path, old: old, new: new, lifetime: nil)
    }
}

extension Dictionary {
    /// Returns all entries, and removes them.
    fileprivate mutating func take() -> Self {
        defer { self = [:] }
        return self
    }
}
