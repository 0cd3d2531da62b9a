// Describes single processes of a fleet: what each reports, and which rollouts include it.

package import Tweaks

/// A live process beside the fleet's desired state.
package struct InstanceReport: Sendable {
    package let live: LiveInstance
    /// The rollouts and standing rules that include the process, in the order in which they apply; also those that it
    /// refuses.
    package let rollouts: [Rollout]
    /// For those of them with strata, by ID: how much of the stratum of the process is included.
    package let strata: [String: StratumCount]
    /// Whether it has not reported the last operator's write.
    package let isLagging: Bool
    /// Whether the declarations of its build are stored.
    package let isDeclared: Bool

    package var status: FleetStatus { live.status }

    /// - Parameter strata: The strata of each rollout, by ID.
    package init(_ live: LiveInstance, _ view: OperatorView, builds: Set<String>, strata: [String: [StratumCount]]) {
        self.live = live
        rollouts = view.ordered.map(\.value).filter { $0.includes(live.instance) }
        self.strata = rollouts.reduce(into: [:]) { own, rollout in
            let value = rollout.per.flatMap { live.instance.labels[$0] }
            own[rollout.id] = strata[rollout.id]?.first { $0.value == value }
        }
        isLagging = view.isApart(live.status) || live.status.revision < view.head?.modRevision ?? 0
        isDeclared = builds.contains(live.status.build)
    }
}

extension FleetOperator {
    /// Reads the live processes that have all of the labels, sorted by ID.
    package func instances(with labels: Labels) async throws(FleetRefusal) -> [InstanceReport] {
        let view = try await readState()
        let statuses = try await instanceStatuses()
        // The declarations themselves are not needed.
        let stored = try await range(.prefix(keys.builds), keysOnly: true).keys
        let builds = Set(stored.map { String(decoding: $0.key.dropFirst(keys.builds.count), as: UTF8.self) })
        let live = statuses.live
        let strata = view.rollouts.mapValues { $0.value.strata(live) }
        return live.filter { $0.instance.has(labels) }.map {
            InstanceReport($0, view, builds: builds, strata: strata)
        }
    }

    /// Reads one live process.
    package func instance(_ id: String) async throws(FleetRefusal) -> InstanceReport {
        let all = try await instances(with: [:])
        if let report = all.first(where: { $0.live.id == id }) { return report }
        let near = Spelling.nearest(to: id, among: all.map(\.live.id))
        let remedy = near.map { "did you mean \($0)?" } ?? "instances lists the \(all.count.processes) that live"
        throw FleetRefusal("no process \(Quoting.excerpt(id)) lives; \(remedy)")
    }
}

extension InstanceReport {
    package var json: JSON {
        .object([
            ("id", .string(live.id)), ("host", .text(status.host)), ("labels", status.labels.json),
            ("build", .string(status.build)),
            ("declared", .bool(isDeclared)), ("unstable", .bool(status.isUnstable)), ("edition", .int(status.edition)),
            ("started", .int(status.started)),
            ("at", .int(status.at)), ("revision", .int(status.revision)), ("head", .unsigned(status.head)),
            ("lagging", .bool(isLagging)), ("rollouts", .array(rollouts.map { .string($0.id) })),
            ("strata", .object(strata.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })),
            ("refused", .array(status.refused.map(Self.json))), ("moreRefused", .count(status.moreRefused)),
            ("covered", .array(status.covered.map { .string($0) })), ("moreCovered", .count(status.moreCovered)),
            ("overrides", .object(status.overrides.map { ($0.path, .text($0.value)) })),
            ("moreOverrides", .count(status.moreOverrides)),
            ("trouble", status.trouble.map { .string($0) } ?? .null),
            ("figures", .object(status.metrics.sorted { $0.key < $1.key }.map { ($0.key, .number($0.value)) })),
        ])
    }

    private static func json(_ refusal: FleetStatus.Refusal) -> JSON {
        .object([
            ("rollout", refusal.rollout.map { .string($0) } ?? .null), ("path", .string(refusal.path)),
            ("reason", .string(refusal.reason)),
        ])
    }
}
