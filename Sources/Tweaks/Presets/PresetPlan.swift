// Plans the loading of a preset: the values that it sets, and the overrides that it does not mention.

/// A validated preset. Changes nothing itself; its batch is committed like any other.
package struct PresetPlan: Sendable {
    private let plan: AssignmentPlan
    /// Overridden tweaks that no line mentions, in listing order, with their values. Excludes secrets: presets neither
    /// store nor reset them.
    package private(set) var overridesNotInPreset: [(node: TweakNode, value: TweakValue)] = []
    /// The same, for tweaks that the session may not reset.
    package private(set) var protectedOverrides: [(node: TweakNode, value: TweakValue)] = []

    /// All problems, in line order.
    package var problems: [ConfigProblem] { plan.problems.first }
    /// The number of invalid lines.
    package var badLines: Int { Set(problems.map(\.line)).count }

    /// Validates a preset. Hold no lock, and do not block a shared thread.
    /// - Parameter view: The visible part of the registry; hidden tweaks are neither reported nor changed.
    package init(_ preset: Preset, _ view: TweakView) {
        plan = AssignmentPlan(preset, .preset, view)
        let snapshot = view.registry.snapshot()
        for node in view.listing.nodes where !node.isSecret && snapshot.isOverridden(node) {
            guard !plan.names(node.path), let value = snapshot.settled(node) else { continue }
            if view.rights.allows(.write, node.path) {
                overridesNotInPreset.append((node, value))
            } else {
                protectedOverrides.append((node, value))
            }
        }
    }

    /// The changes of the valid lines.
    /// - Parameter only: Also resets the overrides that no line mentions.
    package func batch(only: Bool) -> (batch: TweakBatch, nodes: [TweakNode]) {
        var changes = plan.steps.map { ($0.node, $0.change) }
        if only { changes += overridesNotInPreset.map { ($0.node, .reset) } }
        changes.sort { TweakListing.precedes($0.0, $1.0) }
        var batch = TweakBatch()
        for (node, change) in changes { batch.append(node, change) }
        return (batch, changes.map(\.0))
    }
}

extension AssignmentPlan {
    /// Validates the visible lines of a preset.
    init(_ preset: Preset, _ rules: AssignmentRules, _ view: TweakView) {
        let preset = preset.visible(in: view)
        self.init(preset.entries, rules, and: preset.problems, view)
    }
}
