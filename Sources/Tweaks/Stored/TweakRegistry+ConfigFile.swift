// The config file's layer: replaced as a whole in one commit, or not at all.

import Synchronization

/// What a config file changes, or would change.
package struct ConfigDifference: Sendable {
    /// One tweak's part.
    package struct Change: Sendable {
        package let path: TweakPath
        package let isSecret: Bool
        /// What lay beneath overrides before: the file's value, or the default.
        package let old: TweakValue
        /// What lies there now.
        package let new: TweakValue
        /// The file has no longer a value for it; the default shows.
        package let isRemoved: Bool
        /// The override that stays above it.
        package let override: TweakValue?
        /// The override that was dropped for it.
        package let dropped: TweakValue?
    }

    /// In the order of all listings.
    package var changes: [Change] = []
    /// Tweaks that are not registered; their values are held.
    package var unknown: [ConfigProblem] = []
    /// How many tweaks have a value from the file.
    package var count = 0
    /// The registry's revision afterwards.
    package var revision: UInt64 = 0
    /// Whether there was anything to commit.
    package var didCommit = false
}

extension TweakRegistry {
    /// Makes a config file's assignments the layer above the defaults, in one commit; observers run once.
    ///
    /// The same values again commit nothing.
    /// - Parameters:
    ///   - commit: False: only says what would happen.
    ///   - delivery: Where observers run.
    ///   - isCancelled: Asked now and then; once it is, nothing comes of it.
    /// - Returns: Everything that is wrong, and then nothing has changed; or the difference that it made.
    package func applyConfigFile(
        _ entries: some Sequence<ConfigEntry>, _ policy: ConfigPolicy = ConfigPolicy(), commit: Bool = true,
        delivery: TweakDelivery = .caller, isCancelled: () -> Bool = { false }
    ) -> (problems: ConfigProblems, difference: ConfigDifference) {
        while true {
            let generation = generation
            let plan = AssignmentPlan(entries, policy.rules, TweakView(self), isCancelled: isCancelled)
            if !plan.problems.isEmpty || isCancelled() { return (plan.problems, ConfigDifference(revision: revision)) }
            var pending = PendingCommit(.reload, .configFile, currentTime)
            let difference = state.withLock { state -> ConfigDifference? in
                guard state.generation == generation else { return nil }
                return state.apply(plan, policy, commit: commit && !state.isFrozen, &pending)
            }
            guard let difference else { continue }
            deliver(pending, delivery)
            return (plan.problems, difference)
        }
    }
}

extension RegistryState {
    fileprivate mutating func apply(
        _ plan: AssignmentPlan, _ policy: ConfigPolicy, commit: Bool, _ pending: inout PendingCommit
    ) -> ConfigDifference {
        let changes = changes(plan, policy, pending.time)
        var difference = ConfigDifference(
            changes: changes.map(\.change), unknown: plan.unknown, count: plan.steps.count, revision: revision,
            didCommit: !changes.isEmpty)
        if !commit { return difference }
        fileWins = policy.fileWins
        hold(plan)
        for step in plan.steps { overlays[step.node.slot].rename(.configFile, step.origin) }
        difference.revision = apply(changes.map(\.step), &pending).revision
        return difference
    }

    /// Replaces what is held for tweaks that are not registered, and what did not fit.
    private mutating func hold(_ plan: AssignmentPlan) {
        for (path, layers) in held where layers.configFile != nil { unhold(path, .configFile) }
        for entry in plan.held { hold(entry, for: .configFile) }
        for case let node? in nodes {
            guard let notes = overlays[node.slot].notes else { continue }
            let aside = notes.aside.filter { $0.layer != .configFile }
            overlays[node.slot].notes = OverlayNotes(aside: aside, beneath: notes.beneath)
        }
    }

    // MARK: Comparing

    /// Compares by typed value: `60`, `60.0` and `6e1` are the same.
    private func changes(
        _ plan: AssignmentPlan, _ policy: ConfigPolicy, _ time: ContinuousClock.Instant
    ) -> [FileChange] {
        var wanted: [ObjectIdentifier: AssignmentPlan.Step] = [:]
        for step in plan.steps { wanted[ObjectIdentifier(step.node)] = step }
        let touched = nodes.compactMap { $0 }.filter { node in
            wanted[ObjectIdentifier(node)] != nil || overlays[node.slot][.configFile] != nil
        }
        return touched.compactMap { FileChange($0, wanted[ObjectIdentifier($0)], policy, time, in: self) }
            .sorted { TweakListing.precedes($0.step.node, $1.step.node) }
    }
}

/// What a file does to one tweak.
private struct FileChange {
    let step: CommitStep
    let change: ConfigDifference.Change

    /// Nil when there is nothing to do.
    init?(
        _ node: TweakNode, _ wanted: AssignmentPlan.Step?, _ policy: ConfigPolicy, _ time: ContinuousClock.Instant,
        in state: RegistryState
    ) {
        let overlay = state.overlays[node.slot]
        guard let old = (overlay[.configFile]?.prepared ?? node.defaultPrepared)?.value,
            let new = (wanted?.prepared ?? node.defaultPrepared)?.value,
            overlay[.configFile]?.prepared.value != wanted?.prepared.value
        else { return nil }
        // A fleet's value hides what the file says.
        let isHidden = overlay[.fleet] != nil
        let covered = overlay.notes?.beneath?.old ?? old
        let beneath = isHidden ? overlay.notes?.beneath : covered == new ? nil : (covered, new)
        let override = overlay[.override]?.prepared.value
        let isDropped = policy.fileWins && !isHidden && override != nil && wanted != nil && beneath != nil
        let entry = wanted.map {
            Overlays.Entry(layer: .configFile, prepared: $0.prepared, origin: $0.origin, time: time)
        }
        step = CommitStep(
            node: node,
            change: .source(
                SourceLayer(layer: .configFile, entry: entry, dropsOverride: isDropped, beneath: beneath)))
        change = ConfigDifference.Change(
            path: node.path, isSecret: node.isSecret, old: old, new: new, isRemoved: wanted == nil,
            override: isDropped ? nil : override, dropped: isDropped ? override : nil)
    }
}

extension Overlays {
    /// Says anew where a layer's value stands: lines move when a file is edited.
    fileprivate mutating func rename(_ layer: TweakLayer, _ origin: TweakOrigin) {
        guard var entry = self[layer], entry.origin != origin else { return }
        entry.origin = origin
        set(entry)
    }
}
