// Applies a config file: replaces its layer completely in one commit, or changes nothing.

import Synchronization

/// The changes that a config file makes, or would make.
package struct ConfigDifference: Sendable {
    /// The change of one tweak.
    package struct Change: Sendable {
        package let path: TweakPath
        package let isSecret: Bool
        /// The previous value without overrides: the file's value, or the default.
        package let old: TweakValue
        /// The new value without overrides.
        package let new: TweakValue
        /// The file no longer has a value for the tweak; the default applies.
        package let isRemoved: Bool
        /// The override that still hides it.
        package let override: TweakValue?
        /// The override that was dropped in favor of it.
        package let dropped: TweakValue?
    }

    /// In listing order.
    package var changes: [Change] = []
    /// The first unregistered tweaks; their values are pending.
    package var unknown: [ConfigProblem] = []
    /// The number of unregistered tweaks.
    package var unknownCount = 0
    /// The number of tweaks with a value from the file.
    package var count = 0
    /// The registry's revision afterwards.
    package var revision: UInt64 = 0
    /// Whether there was anything to commit.
    package var didCommit = false
    /// Whether the program starts, and its values begin with those of the file.
    package var isStart = false
}

extension TweakRegistry {
    /// Replaces the config file layer with these assignments, in one commit; observers run once.
    ///
    /// Equal values commit nothing.
    /// - Parameters:
    ///   - isStart: The program starts: its values begin with those of the file, which is no change.
    ///   - commit: False for a dry run.
    ///   - delivery: The thread where observers run.
    ///   - isCancelled: Polled every 256 entries; once true, nothing is changed.
    /// - Returns: All problems, in which case nothing changed; or the difference.
    package func applyConfigFile(
        _ entries: some Sequence<ConfigEntry>, _ policy: ConfigPolicy = ConfigPolicy(), isStart: Bool = false,
        commit: Bool = true, delivery: TweakDelivery = .caller,
        isCancelled: () -> Bool = { false }
    ) -> (problems: ConfigProblems, difference: ConfigDifference) {
        while true {
            let generation = generation
            let plan = AssignmentPlan(entries, policy.rules, TweakView(self), isCancelled: isCancelled)
            if !plan.problems.isEmpty || isCancelled() { return (plan.problems, ConfigDifference(revision: revision)) }
            var pending = PendingCommit(isStart ? nil : .reload, .configFile, currentTime)
            let difference = state.withLock { state -> ConfigDifference? in
                guard state.generation == generation else { return nil }
                return state.apply(plan, policy, commit: commit && !state.isFrozen, &pending)
            }
            guard var difference else { continue }
            difference.isStart = isStart
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
            changes: changes.map(\.change), unknown: plan.unknown, unknownCount: plan.pending.count,
            count: plan.steps.count, revision: revision, didCommit: !changes.isEmpty)
        if !commit { return difference }
        fileWins = policy.fileWins
        replacePending(plan.pending)
        discardQuarantined()
        for step in plan.steps { overlays[step.node.slot].updateOrigin(.configFile, step.origin) }
        difference.revision = apply(changes.map(\.step), &pending).revision
        return difference
    }

    /// Discards the file's quarantined values.
    private mutating func discardQuarantined() {
        for case let node? in nodes {
            guard let notes = overlays[node.slot].notes else { continue }
            let quarantined = notes.quarantined.filter { $0.layer != .configFile }
            overlays[node.slot].notes = OverlayNotes(quarantined: quarantined, underlyingChange: notes.underlyingChange)
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

/// The change that a file makes to one tweak.
private struct FileChange {
    let step: CommitStep
    let change: ConfigDifference.Change

    /// Nil when nothing changes.
    init?(
        _ node: TweakNode, _ wanted: AssignmentPlan.Step?, _ policy: ConfigPolicy, _ time: ContinuousClock.Instant,
        in state: RegistryState
    ) {
        let overlay = state.overlays[node.slot]
        guard let old = (overlay[.configFile]?.prepared ?? node.defaultPrepared)?.value,
            let new = (wanted?.prepared ?? node.defaultPrepared)?.value,
            overlay[.configFile]?.prepared.value != wanted?.prepared.value
        else { return nil }
        // A fleet value hides the file's value.
        let isHidden = overlay[.fleet] != nil
        let covered = overlay.notes?.underlyingChange?.old ?? old
        let underlyingChange = isHidden ? overlay.notes?.underlyingChange : covered == new ? nil : (covered, new)
        let override = overlay[.override]?.prepared.value
        let isDropped = policy.fileWins && !isHidden && override != nil && wanted != nil && underlyingChange != nil
        let entry = wanted.map {
            Overlays.Entry(layer: .configFile, prepared: $0.prepared, origin: $0.origin, time: time)
        }
        step = CommitStep(
            node: node,
            change: .source(
                SourceLayer(
                    layer: .configFile, entry: entry, dropsOverride: isDropped, underlyingChange: underlyingChange)))
        change = ConfigDifference.Change(
            path: node.path, isSecret: node.isSecret, old: old, new: new, isRemoved: wanted == nil,
            override: isDropped ? nil : override, dropped: isDropped ? override : nil)
    }
}

extension Overlays {
    /// Updates the line number in a layer's origin: lines move when a file is edited.
    fileprivate mutating func updateOrigin(_ layer: TweakLayer, _ origin: TweakOrigin) {
        guard var entry = self[layer], entry.origin != origin else { return }
        entry.origin = origin
        set(entry)
    }
}
