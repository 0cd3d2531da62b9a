// Counts which processes have which values, by what they report, and finds those that have another past.

package import Tweaks

/// How many processes have which value of a path.
package struct ValueDistribution: Sendable {
    /// Processes with the same value for the same reason.
    package struct Group: Hashable, Sendable {
        package var count: Int
        /// The value and its source.
        package var text: String
        /// The processes have reported what makes it so; otherwise it is what they have to do.
        package var isReported: Bool
    }

    /// What a process has.
    private struct Holding: Hashable {
        var text: String
        var isReported: Bool
    }

    /// The matching paths with a value or a rollout, sorted by bytes.
    package let paths: [TweakPath]
    private var counts: [TweakPath: [Holding: Int]] = [:]

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
        for instance in live {
            let composition = Self.composition(desired, instance.status, instance.instance)
            for path in paths {
                let holding = Self.holding(path, instance, composition, view, catalog)
                counts[path, default: [:]][holding, default: 0] += 1
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

    /// What a process says that it has; else what its keys mean.
    private static func holding(
        _ path: TweakPath, _ instance: LiveInstance, _ composition: Composition, _ view: OperatorView,
        _ builds: BuildCatalog
    ) -> Holding {
        let status = instance.status
        if builds.lacks(path, build: status.build) { return Holding(text: "a build that lacks it", isReported: true) }
        let covered = status.covered.contains(path.joined) ? "a local override above " : ""
        // Until it reports that it has adopted the store.
        if status.isApart || view.isApart(status) {
            guard let held = instance.held, held.more == 0 || held.values[path] != nil else {
                return Holding(text: "\(covered)an unknown value of another past; see status", isReported: false)
            }
            let value = held.values[path].map { $0.text } ?? "nothing from the fleet"
            return Holding(text: "\(covered)\(value), kept from another past", isReported: true)
        }
        let isReported = status.revision >= view.newestRevision(of: path)
        let text = "\(covered)\(composition.text(of: path))\(isReported ? "" : ", not yet reported")"
        return Holding(text: text, isReported: isReported)
    }

    /// The groups of processes for a path, the largest first.
    package func of(_ path: TweakPath) -> [Group] {
        (counts[path] ?? [:]).map { Group(count: $0.value, text: $0.key.text, isReported: $0.key.isReported) }
            .sorted { ($1.count, $0.text) < ($0.count, $1.text) }
    }

    package func json(_ path: TweakPath, _ desired: TweakValue?) -> JSON {
        .object([
            ("path", .string(path.joined)), ("desired", desired?.json ?? .null),
            (
                "held",
                .array(
                    of(path).map {
                        .object([
                            ("count", .count($0.count)), ("text", .string($0.text)), ("reported", .bool($0.isReported)),
                        ])
                    })
            ),
        ])
    }
}

extension Composition {
    fileprivate func text(of path: TweakPath) -> String {
        if let value = values[path] { return value.value.text + (value.rollout.map { " by rollout \($0)" } ?? "") }
        return keptPaths.contains(path) ? "refused, so the previous value" : "nothing from the fleet"
    }
}

extension OperatorView {
    /// The revision from which on a process has what the keys mean for a path.
    fileprivate func newestRevision(of path: TweakPath) -> Int64 {
        let covering = rollouts.values.filter { $0.value.changes.contains { $0.path == path } }.map(\.modRevision)
        return max(head?.modRevision ?? 0, values[path]?.modRevision ?? 0, covering.max() ?? 0)
    }

    /// Whether a process has applied writes that this store does not have, and that `adopt` has not declared void.
    package func isApart(_ status: FleetStatus) -> Bool {
        let (counter, adopted) = (head?.value.counter ?? 0, head?.value.adopted ?? 0)
        // Any process can claim any number.
        guard status.head >= adopted, status.head <= FleetOperator.highestAdopted else { return false }
        if status.isApart || status.head > counter { return true }
        guard status.head == counter, let chain = head?.value.chain, let own = status.chain else { return false }
        return !chain.hasPrefix(own)
    }

    /// Throws if live processes have applied writes that this store does not have: what is written would not reach them.
    func checkPast(_ live: [LiveInstance], _ keys: FleetKeys) throws(FleetRefusal) {
        let apart = live.filter { isApart($0.status) }
        guard let first = apart.first else { return }
        throw FleetRefusal(
            .suspended,
            "\(keys.name): \(apart.count.processes) \(apart.count == 1 ? "holds" : "hold") writes that this etcd does not have, such as \(first.id) "
                + "(write \(first.status.head), and here \(head?.value.counter ?? 0)): it was restored or replaced; look at "
                + "status and get, and adopt makes it the one to follow")
    }
}

/// What `adopt` would do to the processes that keep values of another past.
package struct FleetAdoption: Sendable {
    /// The change of one tweak, in some processes.
    package struct Change: Hashable, Sendable {
        package var path: TweakPath
        /// Nil for nothing from the fleet.
        package var old: TweakValue?
        package var new: TweakValue?
        package var count: Int
    }

    /// The number of live processes with another past.
    package let apart: Int
    /// Of these, the ones whose values are not known completely.
    package let unknown: Int
    /// Sorted by path.
    package let changes: [Change]

    package init(_ view: OperatorView, _ live: [LiveInstance]) {
        let apart = live.filter { view.isApart($0.status) }
        self.apart = apart.count
        unknown = apart.count { $0.held?.more != 0 }
        var counts: [Change: Int] = [:]
        for instance in apart {
            guard let held = instance.held?.values else { continue }
            let wanted = view.desired.composed(for: instance.instance) { _, _ in .accepted }.values
            for path in Set(held.keys).union(wanted.keys) where held[path] != wanted[path]?.value {
                counts[Change(path: path, old: held[path], new: wanted[path]?.value, count: 0), default: 0] += 1
            }
        }
        changes = counts.map { change, count in
            Change(path: change.path, old: change.old, new: change.new, count: count)
        }
        .sorted { ($0.path.joined, $1.count, $0.old.shown) < ($1.path.joined, $0.count, $1.old.shown) }
    }
}
