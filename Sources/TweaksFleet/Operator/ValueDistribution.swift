// Computes which processes have which of the fleet's values, from the keys and the reported statuses.

package import Tweaks

/// How many processes have which value of a path.
package struct ValueDistribution: Sendable {
    /// Processes with the same value for the same reason.
    package struct Group: Hashable, Sendable {
        package var count: Int
        /// The value and its source.
        package var text: String
    }

    /// The matching paths with a value or a rollout, sorted by bytes.
    package let paths: [TweakPath]
    private var counts: [TweakPath: [String: Int]] = [:]

    package init(
        _ view: OperatorView, _ live: [LiveInstance], _ catalog: BuildCatalog, keys: FleetKeys,
        where isIncluded: (TweakPath) -> Bool
    ) {
        let values = view.values.filter { isIncluded($0.key) }
        let rollouts = view.rollouts.values.filter { $0.value.changes.contains { isIncluded($0.path) } }
        var desired = DesiredState(keys: keys)
        desired.replace(with: values.values.map(\.pair) + rollouts.map(\.pair))
        let changed = rollouts.flatMap { $0.value.changes.map(\.path) }.filter(isIncluded)
        paths = Set(values.keys).union(changed).sorted {
            $0.joined.utf8.lexicographicallyPrecedes($1.joined.utf8)
        }
        let newest = view.head?.modRevision ?? 0
        for instance in live {
            let composition = Self.composition(desired, instance.status, instance.instance)
            for path in paths {
                let text = Self.text(composition, path, instance.status, catalog, newest)
                counts[path, default: [:]][text, default: 0] += 1
            }
        }
    }

    /// The values that the keys mean for a process, except for those that it reports as refused.
    private static func composition(
        _ desired: DesiredState, _ status: FleetStatus, _ instance: FleetInstance
    ) -> Composition {
        let left = Set(status.refused.compactMap(\.rollout))
        let refused = Set(status.refused.filter { $0.rollout == nil }.map(\.path))
        return desired.composed(for: instance, without: left) { path, value in
            refused.contains(path.joined) && desired.values[path]?.value.value == value ? .refused("") : .accepted
        }
    }

    private static func text(
        _ composition: Composition, _ path: TweakPath, _ status: FleetStatus, _ catalog: BuildCatalog, _ newest: Int64
    ) -> String {
        if catalog.lacks(path, build: status.build) { return "a build that lacks it" }
        var text = "nothing from the fleet"
        if let value = composition.values[path] {
            text = value.value.text + (value.rollout.map { " by rollout \($0)" } ?? "")
        } else if composition.keptPaths.contains(path) {
            text = "refused, so the previous value"
        }
        if status.covered.contains(path.joined) { text = "a local override above \(text)" }
        return status.revision < newest ? "\(text), not yet reported" : text
    }

    /// The groups of processes for a path, the largest first.
    package func of(_ path: TweakPath) -> [Group] {
        (counts[path] ?? [:]).map { Group(count: $0.value, text: $0.key) }
            .sorted { ($1.count, $0.text) < ($0.count, $1.text) }
    }

    package func json(_ path: TweakPath, _ desired: TweakValue?) -> JSON {
        .object([
            ("path", .string(path.joined)), ("desired", desired?.json ?? .null),
            (
                "held",
                .array(
                    of(path).map { .object([("count", .count($0.count)), ("text", .string($0.text))]) })
            ),
        ])
    }
}
