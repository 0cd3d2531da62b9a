// Says what loading a preset would do: the values that its lines set, and the overrides that no line names.

/// A preset's lines, judged. Makes no change; the batch that comes of it goes the way of all others.
package struct PresetPlan: Sendable {
    private let plan: AssignmentPlan
    /// Overridden tweaks that no line names, in the order of all listings, with their values. Secrets are not among
    /// them: no preset holds one, and none takes one away.
    package private(set) var lacking: [(node: TweakNode, value: TweakValue)] = []
    /// The same that may not be reset by who asks.
    package private(set) var untouchable: [(node: TweakNode, value: TweakValue)] = []

    /// What is wrong, in the order of the lines.
    package var problems: [ConfigProblem] { plan.problems.first }
    /// How many lines cannot be taken.
    package var badLines: Int { Set(problems.map(\.line)).count }

    /// Judges; never under a lock, nor on a thread that others wait for.
    /// - Parameter view: What somebody sees of the registry: he is told of nothing else, and changes nothing else.
    package init(_ preset: Preset, _ view: TweakView) {
        plan = AssignmentPlan(preset, .preset, view)
        let snapshot = view.registry.snapshot()
        for node in view.listing.nodes where !node.isSecret && snapshot.isOverridden(node) {
            guard !plan.names(node.path), let value = snapshot.value(of: node) else { continue }
            if view.rights.allows(.write, node.path) {
                lacking.append((node, value))
            } else {
                untouchable.append((node, value))
            }
        }
    }

    /// The changes that the good lines ask for.
    /// - Parameter only: Also resets what no line names.
    package func batch(only: Bool) -> (batch: TweakBatch, nodes: [TweakNode]) {
        var changes = plan.steps.map { ($0.node, $0.change) }
        if only { changes += lacking.map { ($0.node, .reset) } }
        changes.sort { TweakListing.precedes($0.0, $1.0) }
        var batch = TweakBatch()
        for (node, change) in changes { batch.append(node, change) }
        return (batch, changes.map(\.0))
    }
}

extension AssignmentPlan {
    /// Judges those lines of a preset that are seen.
    init(_ preset: Preset, _ rules: AssignmentRules, _ view: TweakView) {
        let preset = preset.seen(in: view)
        self.init(preset.entries, rules, and: preset.problems, view)
    }
}
