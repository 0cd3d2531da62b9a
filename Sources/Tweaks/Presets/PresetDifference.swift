// Compares a preset with the current values, or two presets with each other.

/// The differences between a preset and the current values, or between two presets.
package struct PresetDifference: Sendable {
    /// One tweak, or one line without a registered tweak.
    package struct Row: Sendable, Equatable {
        package let path: TweakPath
        /// The values as text; nil if that side has none.
        package let left: String?
        package let right: String?
    }

    package private(set) var rows: [Row] = []
    /// The lines of each side that cannot be compared.
    package let leftProblems: [ConfigProblem]
    package let rightProblems: [ConfigProblem]

    /// Compares the current values with a preset: what loading only the preset would change.
    package init(comparingCurrentTo preset: Preset, _ view: TweakView) {
        let plan = AssignmentPlan(preset, .comparison, view)
        let (values, snapshot) = (plan.values, view.registry.snapshot())
        leftProblems = []
        rightProblems = plan.problems.first
        for node in view.listing.nodes where !node.isSecret {
            let right = values[node.path]
            guard right != nil || snapshot.isOverridden(node) && !plan.names(node.path) else { continue }
            let left = snapshot.settled(node)?.text
            if left != right { rows.append(Row(path: node.path, left: left, right: right)) }
        }
        rows += plan.unknownPaths(view).map { Row(path: $0, left: nil, right: values[$0]) }
    }

    /// Compares two presets.
    package init(_ left: Preset, _ right: Preset, _ view: TweakView) {
        let plans = (AssignmentPlan(left, .comparison, view), AssignmentPlan(right, .comparison, view))
        leftProblems = plans.0.problems.first
        rightProblems = plans.1.problems.first
        let (left, right) = (plans.0.values, plans.1.values)
        let known = view.listing.nodes.map(\.path)
        let unknown = plans.0.unknownPaths(view) + plans.1.unknownPaths(view).filter { left[$0] == nil }
        for path in known + unknown where left[path] != right[path] {
            rows.append(Row(path: path, left: left[path], right: right[path]))
        }
    }
}

extension AssignmentPlan {
    /// The values as printed by their tweaks; without a tweak, as written in the line.
    fileprivate var values: [TweakPath: String] {
        var values: [TweakPath: String] = [:]
        for step in steps { values[step.node.path] = step.prepared.value.text }
        for (path, value) in pending {
            guard let text = value?.text else { continue }
            values[path] = Quoting.isBareWord(text) ? text : Quoting.json(text)
        }
        return values
    }

    /// Paths without a registered tweak, in line order.
    fileprivate func unknownPaths(_ view: TweakView) -> [TweakPath] {
        pending.map(\.path).filter { view[$0.joined] == nil }
    }
}
