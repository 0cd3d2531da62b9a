// Two looks side by side: what is in force and a preset, or two presets.

/// Where two looks differ.
package struct PresetDifference: Sendable {
    /// One tweak, or a line that no tweak answers to.
    package struct Row: Sendable, Equatable {
        /// The path as the protocol writes it.
        package let path: TweakPath
        /// The values as text; nil where that side has none.
        package let left: String?
        package let right: String?
    }

    package private(set) var rows: [Row] = []
    /// The lines of each side that cannot be compared.
    package let leftProblems: [ConfigProblem]
    package let rightProblems: [ConfigProblem]

    /// What is in force, and a preset: what loading that, and nothing else, would change.
    package init(inForceAnd preset: Preset, _ view: TweakView) {
        let plan = AssignmentPlan(preset, .comparison, view)
        let (values, snapshot) = (plan.values, view.registry.snapshot())
        (leftProblems, rightProblems) = ([], plan.problems.first)
        for node in view.listing.nodes where !node.isSecret {
            let right = values[node.path]
            guard right != nil || snapshot.isOverridden(node) && !plan.names(node.path) else { continue }
            let left = snapshot.value(of: node)?.text
            if left != right { rows.append(Row(path: node.path, left: left, right: right)) }
        }
        rows += plan.strangers(view).map { Row(path: $0, left: nil, right: values[$0]) }
    }

    /// Two presets.
    package init(_ left: Preset, _ right: Preset, _ view: TweakView) {
        let plans = (AssignmentPlan(left, .comparison, view), AssignmentPlan(right, .comparison, view))
        (leftProblems, rightProblems) = (plans.0.problems.first, plans.1.problems.first)
        let (left, right) = (plans.0.values, plans.1.values)
        let known = view.listing.nodes.map(\.path)
        let strangers = plans.0.strangers(view) + plans.1.strangers(view).filter { left[$0] == nil }
        for path in known + strangers where left[path] != right[path] {
            rows.append(Row(path: path, left: left[path], right: right[path]))
        }
    }
}

extension AssignmentPlan {
    /// Each as its tweak writes it; without a tweak, as it stands there.
    fileprivate var values: [TweakPath: String] {
        var values: [TweakPath: String] = [:]
        for step in steps { values[step.node.path] = step.prepared.value.text }
        for case (let path, .text(let text)) in held.map({ ($0.path, $0.content) }) {
            values[path] = Quoting.isBareWord(text) ? text : Quoting.json(text)
        }
        return values
    }

    /// Paths without a tweak, in the order of their lines.
    fileprivate func strangers(_ view: TweakView) -> [TweakPath] {
        held.map(\.path).filter { view[$0.joined] == nil }
    }
}
