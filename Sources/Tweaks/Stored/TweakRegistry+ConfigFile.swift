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
            var effects = CommitEffects()
            let time = currentTime
            let difference = state.withLock { state -> ConfigDifference? in
                guard state.generation == generation else { return nil }
                return state.apply(plan, policy, time: time, commit: commit && !state.isFrozen, &effects)
            }
            guard let difference else { continue }
            deliver(effects, delivery)
            return (plan.problems, difference)
        }
    }
}

extension RegistryState {
    fileprivate mutating func apply(
        _ plan: AssignmentPlan, _ policy: ConfigPolicy, time: ContinuousClock.Instant, commit: Bool,
        _ effects: inout CommitEffects
    ) -> ConfigDifference {
        let changes = changes(plan, policy)
        var difference = ConfigDifference(
            changes: changes.map(\.change), unknown: plan.unknown, count: plan.steps.count, revision: revision,
            didCommit: changes.contains { $0.didChange })
        if !commit { return difference }
        fileWins = policy.fileWins
        hold(plan)
        for step in plan.steps { overlays[step.node.slot].rename(.configFile, step.origin) }
        for change in changes { apply(change, time: time, revision: revision + 1, &effects) }
        if difference.didCommit { finish(revision + 1, .reload, origin: .configFile, time: time, &effects) }
        difference.revision = revision
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
    private func changes(_ plan: AssignmentPlan, _ policy: ConfigPolicy) -> [FileChange] {
        var wanted: [ObjectIdentifier: AssignmentPlan.Step] = [:]
        for step in plan.steps { wanted[ObjectIdentifier(step.node)] = step }
        let touched = nodes.compactMap { $0 }.filter { node in
            wanted[ObjectIdentifier(node)] != nil || overlays[node.slot][.configFile] != nil
        }
        return touched.compactMap { FileChange($0, wanted[ObjectIdentifier($0)], policy, in: self) }
            .sorted { TweakListing.precedes($0.node, $1.node) }
    }

    // MARK: Applying

    private mutating func apply(
        _ change: FileChange, time: ContinuousClock.Instant, revision: UInt64, _ effects: inout CommitEffects
    ) {
        let slot = change.node.slot
        guard let old = current(change.node) else { return }
        spareLayers(of: change.node)
        if let step = change.step {
            overlays[slot].set(
                .init(layer: .configFile, prepared: step.prepared, origin: step.origin, time: time))
        } else {
            overlays[slot].remove(.configFile)
        }
        if change.change.dropped != nil {
            textBytes -= heldText(change.node)
            overlays[slot].remove(.override)
            textBytes += heldText(change.node)
        }
        overlays[slot].notes = OverlayNotes(
            aside: overlays[slot].notes?.aside ?? [], beneath: overlays[slot][.override] == nil ? nil : change.beneath)
        if change.didChange { overlays[slot].changedAt = revision }
        if change.change.dropped != nil { journal?.note(OverrideKey(change.node.path), nil) }
        guard let new = current(change.node), new.value != old.value else { return }
        let isSecret = change.node.isSecret
        effects.parts.append(
            History.Part(
                subject: .node(change.node), before: SetValues(), after: SetValues(), old: isSecret ? nil : old.value,
                new: isSecret ? nil : new.value))
        publish(change.node, old: old, new: new, origin: .configFile, revision: revision, &effects)
    }
}

/// What a file does to one tweak.
private struct FileChange {
    let node: TweakNode
    /// Nil: the file has no longer a value for it.
    let step: AssignmentPlan.Step?
    let change: ConfigDifference.Change
    /// What there is to say afterwards about the value beneath the override.
    let beneath: (old: TweakValue, new: TweakValue)?
    /// Whether the layer itself changes.
    let didChange: Bool

    /// Nil when there is nothing to do.
    init?(_ node: TweakNode, _ step: AssignmentPlan.Step?, _ policy: ConfigPolicy, in state: RegistryState) {
        let overlay = state.overlays[node.slot]
        guard let old = state.beneath(node)?.value, let new = (step?.prepared ?? node.defaultPrepared)?.value else {
            return nil
        }
        let layer = overlay[.configFile]?.prepared.value
        if layer == step?.prepared.value { return nil }
        self.node = node
        self.step = step
        didChange = true
        let covered = overlay.notes?.beneath?.old ?? old
        beneath = covered == new ? nil : (covered, new)
        let override = overlay[.override]?.prepared.value
        let isDropped = policy.fileWins && override != nil && step != nil && beneath != nil
        change = ConfigDifference.Change(
            path: node.path, isSecret: node.isSecret, old: old, new: new, isRemoved: step == nil,
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
