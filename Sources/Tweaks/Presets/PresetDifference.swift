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
        let side = Side(preset, view)
        let snapshot = view.registry.snapshot()
        (leftProblems, rightProblems) = ([], side.problems)
        for node in view.listing.nodes where !node.isSecret {
            if let right = side.values[node.path] {
                let left = snapshot.value(of: node)?.text
                if left != right { rows.append(Row(path: node.path, left: left, right: right)) }
            } else if snapshot.isOverridden(node), !side.named.contains(node.path) {
                rows.append(Row(path: node.path, left: snapshot.value(of: node)?.text, right: nil))
            }
        }
        rows += side.strangers(view).map { Row(path: $0, left: nil, right: side.values[$0]) }
    }

    /// Two presets.
    package init(_ left: Preset, _ right: Preset, _ view: TweakView) {
        let (left, right) = (Side(left, view), Side(right, view))
        (leftProblems, rightProblems) = (left.problems, right.problems)
        let known = view.listing.nodes.map(\.path)
        let strangers = left.strangers(view) + right.strangers(view).filter { left.values[$0] == nil }
        for path in known + strangers where left.values[path] != right.values[path] {
            rows.append(Row(path: path, left: left.values[path], right: right.values[path]))
        }
    }
}

/// The values of a preset, each written as its tweak writes it.
private struct Side {
    var values: [TweakPath: String] = [:]
    /// Paths that have a line, even one that does not fit.
    var named = Set<TweakPath>()
    var problems: [ConfigProblem]
    /// Paths without a tweak, in the order of their lines.
    private var unregistered: [TweakPath] = []

    init(_ preset: Preset, _ view: TweakView) {
        let preset = preset.seen(in: view)
        problems = preset.problems
        for entry in preset.entries {
            do throws(TweakError) {
                try add(entry, view)
            } catch {
                problems.append(ConfigProblem(line: entry.line, error: error))
            }
        }
        problems.sort { $0.line < $1.line }
    }

    private mutating func add(_ entry: ConfigEntry, _ view: TweakView) throws(TweakError) {
        let node = view.node(orFormerly: entry.path)
        guard let path = node?.path ?? (try? TweakPath(entry.path)) else { throw view.unknown(entry.path) }
        if !named.insert(path).inserted {
            throw TweakError(.conflict, "\(path.token) is assigned in a line above; keep one of them", path: path)
        }
        if let node {
            values[path] = try node.preparePreset(entry.text).prepared.value.text
        } else {
            values[path] = Quoting.isBareWord(entry.text) ? entry.text : Quoting.json(entry.text)
            unregistered.append(path)
        }
    }

    /// Those that are not listed.
    func strangers(_ view: TweakView) -> [TweakPath] { unregistered.filter { view[$0.joined] == nil } }
}
