// Summarizes a fleet: its live processes, their builds and problems, their values, and the reach of a rollout.

package import Tweaks

/// A live process and its newest status.
package struct LiveInstance: Hashable, Sendable {
    package var id: String
    package var start: Int64
    package var status: FleetStatus
    /// The revisions of etcd that created its key, and that wrote the status.
    package var createRevision: Int64 = 0
    package var modRevision: Int64 = 0
    /// The values that it has, if it does not apply those of the store and has written them.
    package var held: HeldValues?

    /// The identity that rollouts select by.
    package var instance: FleetInstance { FleetInstance(id: id, labels: status.labels, edition: status.edition) }

    /// Whether another start of the same process is newer.
    fileprivate func isOlder(than other: LiveInstance) -> Bool {
        (createRevision, start) < (other.createRevision, other.start)
    }
}

/// The statuses of a fleet's processes. After a crash a process can have several; the newest start counts: the one whose
/// key was created last, since the clock of its machine may have been set back.
package struct InstanceStatuses: Sendable {
    /// The newest status of each key.
    private var statuses: [[UInt8]: LiveInstance] = [:]
    /// The values of processes that do not apply those of the store, by hash.
    private var held: [String: HeldValues] = [:]
    /// Unreadable keys, with the reason for each.
    package private(set) var unreadable: [[UInt8]: String] = [:]
    /// The revision of the newest update.
    package private(set) var revision: Int64
    private let keys: FleetKeys

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys) {
        revision = result.header.revision
        self.keys = keys
        for pair in result.keys { put(pair) }
    }

    /// Applies the events of a watch.
    package mutating func apply(_ header: EtcdHeader, _ events: [EtcdEvent]) {
        revision = max(revision, header.revision)
        for event in events {
            switch event.kind {
            case .put: put(event.pair)
            case .delete:
                statuses[event.pair.key] = nil
                unreadable[event.pair.key] = nil
                if let hash = heldHash(event.pair.key) { held[hash] = nil }
            }
        }
    }

    private mutating func put(_ pair: EtcdKeyValue) {
        unreadable[pair.key] = nil
        if let hash = heldHash(pair.key) {
            held[hash] = try? HeldValues(pair.value)
            return
        }
        guard let (id, start) = name(of: pair.key) else {
            unreadable[pair.key] = "the key is not instances/ID/START"
            return
        }
        do throws(FleetProblem) {
            statuses[pair.key] = LiveInstance(
                id: id, start: start, status: try FleetStatus(pair.value), createRevision: pair.createRevision,
                modRevision: pair.modRevision)
        } catch {
            unreadable[pair.key] = error.description
        }
    }

    private func heldHash(_ key: [UInt8]) -> String? {
        key.starts(with: keys.held) ? String(decoding: key.dropFirst(keys.held.count), as: UTF8.self) : nil
    }

    private func name(of key: [UInt8]) -> (id: String, start: Int64)? {
        guard key.starts(with: keys.instances),
            let text = String(validating: key.dropFirst(keys.instances.count), as: UTF8.self)
        else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, FleetInstance.isID(String(parts[0])), let start = Int64(parts[1]) else { return nil }
        return (String(parts[0]), start)
    }

    /// The live processes, sorted by ID, each with its newest start. A process that has left is not live.
    package var live: [LiveInstance] {
        var newest: [String: LiveInstance] = [:]
        for instance in statuses.values where newest[instance.id].map({ $0.isOlder(than: instance) }) ?? true {
            newest[instance.id] = instance
        }
        return newest.values.filter { $0.status.left == nil }.map { instance in
            var instance = instance
            instance.held = instance.status.held.flatMap { held[$0] }
            return instance
        }
        .sorted { $0.id < $1.id }
    }

    /// The starts that ended with a farewell, including those of processes that live again.
    package var left: [LiveInstance] { statuses.values.filter { $0.status.left != nil } }
}

extension FleetOperator {
    /// Reads the live processes.
    package func instanceStatuses() async throws(FleetRefusal) -> InstanceStatuses {
        InstanceStatuses(try await range(.prefix(keys.instances)), keys)
    }
}

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
        lagging = live.filter { view.isApart($0.status) || $0.status.revision < revision }
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

/// The live processes that a rollout would reach.
package struct RolloutReach: Sendable {
    /// The number of processes that the selector matches.
    package let eligible: Int
    /// The number of live processes.
    package let live: Int
    /// The number of members at each step.
    package let members: [(share: Share, count: Int, strata: [StratumCount])]
    /// The smallest share that includes a process; nil if none does.
    package let smallest: Share?
    /// The number of canaries.
    package let canaries: Int

    package init(_ rollout: Rollout, _ live: [LiveInstance]) {
        let instances = live.map(\.instance)
        self.live = live.count
        eligible = instances.count(where: rollout.selects)
        canaries = instances.count { rollout.selects($0) && rollout.isCanary($0) }
        members = rollout.steps.map { share in
            var rollout = rollout
            rollout.share = share
            rollout.moveCutoffs(live)
            return (share, instances.count(where: rollout.includes), rollout.strata(live))
        }
        smallest = rollout.smallestShare(including: instances)
    }

    /// The members at each step, also of each stratum.
    package var json: JSON {
        .array(
            members.map { step in
                .object([
                    ("percent", .number(Double(step.share.hundredths) / 100)), ("members", .count(step.count)),
                    ("strata", .array(step.strata.map(\.json))),
                ])
            })
    }

    /// Throws if the first step reaches no process, or no process is a canary.
    /// - Parameter force: Canaries may be missing.
    package func check(_ rollout: Rollout, force: Bool = false) throws(FleetRefusal) {
        if canaries == 0, !rollout.canary.isEmpty, !force {
            throw FleetRefusal(
                "--canary: none of \(eligible.processes) has the labels \(rollout.canary.text); see instances, or use "
                    + "--force to begin without canaries")
        }
        guard let first = members.first, first.count == 0 else { return }
        if rollout.per != nil, eligible > 0, first.share > .none {
            throw FleetRefusal(
                "--per: none of \(eligible.processes) has an ID that survives a restart, and only those count; set "
                    + "TWEAKS_FLEET_INSTANCE there, or leave out --per")
        }
        if let smallest {
            throw FleetRefusal(
                "the first step, \(first.share.text), reaches none of \(eligible.processes); "
                    + "\(smallest.text) is the smallest that reaches one")
        }
        let reason = rollout.selector.isEmpty ? "no process lives" : "none of \(live.processes) has these labels"
        throw FleetRefusal("\(reason), so the rollout reaches no process; see status")
    }
}
