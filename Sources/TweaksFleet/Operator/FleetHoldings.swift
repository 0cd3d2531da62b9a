// Says who holds which of the fleet's values, derived from the keys and from what the processes report.

package import Tweaks

/// Which values the processes hold by what the keys and their statuses say.
package struct FleetHoldings: Sendable {
    /// Processes in the same case.
    package struct Holding: Hashable, Sendable {
        package var count: Int
        /// The value, and why it is that.
        package var text: String
    }

    /// All paths with a value or a rollout that are meant, byte by byte.
    package let paths: [TweakPath]
    private var counts: [TweakPath: [String: Int]] = [:]

    package init(
        _ view: OperatorView, _ live: [LiveInstance], _ book: BuildBook, keys: FleetKeys,
        where isMeant: (TweakPath) -> Bool
    ) {
        let values = view.values.filter { isMeant($0.key) }
        let rollouts = view.rollouts.values.filter { $0.value.changes.contains { isMeant($0.path) } }
        var desired = DesiredState(keys: keys)
        desired.replace(with: values.values.map(\.pair) + rollouts.map(\.pair))
        let changed = rollouts.flatMap { $0.value.changes.map(\.path) }.filter(isMeant)
        paths = Set(values.keys).union(changed).sorted {
            $0.joined.utf8.lexicographicallyPrecedes($1.joined.utf8)
        }
        let newest = view.head?.modRevision ?? 0
        for instance in live {
            let composition = Self.composition(desired, instance.status, instance.instance)
            for path in paths {
                let text = Self.text(composition, path, instance.status, book, newest)
                counts[path, default: [:]][text, default: 0] += 1
            }
        }
    }

    /// What the keys mean for a process, less what it says that it refuses.
    private static func composition(
        _ desired: DesiredState, _ status: FleetStatus, _ instance: FleetInstance
    ) -> Composition {
        let left = Set(status.refused.compactMap(\.rollout))
        let refused = Set(status.refused.filter { $0.rollout == nil }.map(\.path))
        return desired.composed(for: instance, without: left) { path, value in
            refused.contains(path.joined) && desired.values[path]?.value.value == value ? .refused("") : .fits
        }
    }

    private static func text(
        _ composition: Composition, _ path: TweakPath, _ status: FleetStatus, _ book: BuildBook, _ newest: Int64
    ) -> String {
        if book.lacks(path, build: status.build) { return "a build that lacks it" }
        var text = "nothing from the fleet"
        if let value = composition.values[path] {
            text = value.value.text + (value.rollout.map { " by rollout \($0)" } ?? "")
        } else if composition.kept.contains(path) {
            text = "refused, so what was there before"
        }
        if status.covered.contains(path.joined) { text = "a local override above \(text)" }
        return status.revision < newest ? "\(text), not yet reported" : text
    }

    /// Who holds what of a path, the most first.
    package func of(_ path: TweakPath) -> [Holding] {
        (counts[path] ?? [:]).map { Holding(count: $0.value, text: $0.key) }
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
