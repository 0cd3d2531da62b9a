// Says who holds which of the fleet's values, derived from the rollouts and what the processes report.

package import Tweaks

/// Which values the processes hold by what the keys and their statuses say.
package struct FleetHoldings: Sendable {
    /// Processes in the same case.
    package struct Holding: Hashable, Sendable {
        package var count: Int
        /// The value, and why it is that.
        package var text: String
    }

    private let view: OperatorView
    private let live: [LiveInstance]
    private let ordered: [Held<Rollout>]

    package init(_ view: OperatorView, _ population: Population) {
        (self.view, live, ordered) = (view, population.live, view.ordered)
    }

    /// All paths with a value or a rollout, byte by byte.
    package var paths: [TweakPath] {
        Set(view.values.keys).union(ordered.flatMap { $0.record.changes.map(\.path) })
            .sorted { $0.joined.utf8.lexicographicallyPrecedes($1.joined.utf8) }
    }

    /// Who holds what of a path, the most first.
    package func of(_ path: TweakPath) -> [Holding] {
        var counts: [String: Int] = [:]
        let rules = ordered.map(\.record).filter { $0.changes.contains { $0.path == path } }
        for instance in live { counts[text(instance, path, rules), default: 0] += 1 }
        return counts.map { Holding(count: $0.value, text: $0.key) }
            .sorted { ($1.count, $0.text) < ($0.count, $1.text) }
    }

    private func text(_ instance: LiveInstance, _ path: TweakPath, _ rules: [Rollout]) -> String {
        let refused = instance.status.refused
        var text = "nothing from the fleet"
        if let value = view.value(path) {
            text = refused.contains { $0.rollout == nil && $0.path == path.joined } ? "refused" : value.text
        }
        // Later ones lie above; one that is refused is refused whole.
        for rule in rules where rule.includes(instance.instance) {
            guard let change = rule.changes.first(where: { $0.path == path }) else { continue }
            if refused.contains(where: { $0.rollout == rule.id }) { continue }
            text = "\(change.value.text) by rollout \(rule.id)"
        }
        if instance.status.covered.contains(path.joined) { return "a local override above \(text)" }
        let newest = max(view.head?.modRevision ?? 0, 0)
        return instance.status.revision < newest ? "\(text), not yet reported" : text
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
