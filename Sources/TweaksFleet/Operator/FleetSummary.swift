// Summarizes a fleet: its live processes, their builds and the problems that they report.

import Tweaks

/// The state of a fleet at one moment.
package struct FleetSummary: Sendable {
    /// A refusal, and the number of processes that report it.
    package struct Refusal: Hashable, Sendable {
        package var rollout: String?
        package var path: String
        package var reason: String
        package var count: Int
        /// The ID of one process that reports it.
        package var example: String
    }

    package struct Build: Hashable, Sendable {
        package var hash: String
        package var live: Int
        /// Whether the declarations of the build are stored.
        package var isKnown: Bool
    }

    package let live: Int
    /// The revision of the last operator's write.
    package let revision: Int64
    /// The processes that have not applied it.
    package let lagging: [LiveInstance]
    package let builds: [Build]
    package let refusals: [Refusal]
    /// The number of refusals that did not fit into the statuses.
    package let moreRefused: Int
    /// Paths with a local override above the fleet's value, with the number of processes.
    package let covered: [(path: String, count: Int)]
    package let moreCovered: Int
    package let trouble: [(text: String, count: Int, example: String)]
    /// The number of processes whose ID changes with each restart.
    package let unstable: Int

    package init(_ view: OperatorView, _ statuses: InstanceStatuses, builds known: Set<String>) {
        let live = statuses.live
        self.live = live.count
        let revision = view.head?.modRevision ?? 0
        self.revision = revision
        lagging = live.filter { $0.status.revision < revision }
        let counts = Dictionary(grouping: live, by: \.status.build).mapValues(\.count)
        builds = Set(counts.keys).union(known).sorted().map {
            Build(hash: $0, live: counts[$0] ?? 0, isKnown: known.contains($0))
        }.sorted { ($1.live, $0.hash) < ($0.live, $1.hash) }
        refusals = Self.refusals(live)
        moreRefused = live.reduce(0) { $0 &+ max(0, $1.status.moreRefused) }
        let paths = live.flatMap(\.status.covered)
        covered = Dictionary(grouping: paths) { $0 }.map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
        moreCovered = live.reduce(0) { $0 &+ max(0, $1.status.moreCovered) }
        let troubled = live.filter { $0.status.trouble != nil }
        trouble = Dictionary(grouping: troubled) { $0.status.trouble ?? "" }
            .map { ($0.key, $0.value.count, $0.value.first?.id ?? "") }.sorted { $0.0 < $1.0 }
        unstable = live.count { $0.status.isUnstable }
    }

    private static func refusals(_ live: [LiveInstance]) -> [Refusal] {
        var counted: [FleetStatus.Refusal: (count: Int, example: String)] = [:]
        for instance in live {
            for refusal in instance.status.refused {
                counted[refusal, default: (0, instance.id)].count += 1
            }
        }
        return counted.map { refusal, entry in
            Refusal(
                rollout: refusal.rollout, path: refusal.path, reason: refusal.reason, count: entry.count,
                example: entry.example)
        }.sorted { ($0.path, $0.reason, $0.rollout ?? "") < ($1.path, $1.reason, $1.rollout ?? "") }
    }
}
