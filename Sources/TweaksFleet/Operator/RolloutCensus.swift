// Counts the live processes that a rollout selects: moves the cutoffs of its strata, and finds those that cannot follow.

package import Tweaks

/// The members among the live processes of one stratum.
package struct StratumCount: Hashable, Sendable {
    package var label: String
    /// The value of the label; nil without the label.
    package var value: String?
    package var members: Int
    package var live: Int

    /// `zone=eu 3 of 26`, `no zone 1 of 2`
    package var text: String { "\(value.map { "\(label)=\($0)" } ?? "no \(label)") \(members) of \(live)" }

    package var json: JSON {
        .object([
            ("stratum", value.map { .string($0) } ?? .null), ("members", .count(members)), ("live", .count(live)),
        ])
    }
}

extension [StratumCount] {
    /// `zone=eu 3 of 26, zone=us 1 of 4`, with at most twelve strata.
    package var text: String {
        prefix(12).map(\.text).joined(separator: ", ") + (count > 12 ? ", … \(count) in all" : "")
    }
}

extension Rollout {
    /// The members of each stratum, sorted by the label's value; empty without strata.
    package func strata(_ live: [LiveInstance]) -> [StratumCount] {
        guard let per else { return [] }
        let instances = live.map(\.instance).filter(selects)
        return Dictionary(grouping: instances) { $0.labels[per] ?? "" }.sorted { $0.key < $1.key }.map { value, all in
            StratumCount(
                label: per, value: value.isEmpty ? nil : value, members: all.count(where: includes), live: all.count)
        }
    }

    /// Moves the cutoffs to the share of the live processes. Those with another ID after each restart do not count, since
    /// they could not keep a position.
    package mutating func moveCutoffs(_ live: [LiveInstance]) {
        if per == nil { return }
        let counted = live.filter { !$0.status.isUnstable && selects($0.instance) }
        moveCutoffs(over: counted.map { position(of: $0.instance) })
    }

    /// Throws if live processes cannot find out whether they are members, or there are too many strata.
    package func checkFollowed(by live: [LiveInstance]) throws(FleetRefusal) {
        let selected = live.filter { selects($0.instance) }
        let old = selected.filter { $0.status.edition < edition }.map(\.id)
        if !old.isEmpty {
            let names = old.prefix(5).joined(separator: ", ") + (old.count > 5 ? ", …" : "")
            let verb = old.count == 1 ? "is" : "are"
            throw FleetRefusal(
                "rollout \(id): \(old.count.processes) \(verb) of an older version that knows neither --seed, --canary nor "
                    + "--per: \(names); restart them with a newer build, or select others by --where")
        }
        guard let per, share < .all else { return }
        let strata = Set(selected.map { $0.status.labels[per] ?? "" }).union(cutoffs.map { $0.stratum ?? "" })
        if strata.count > Self.maxStrata {
            throw FleetRefusal(
                "rollout \(id): \(per) has \(strata.count) values, and --per takes at most \(Self.maxStrata); begin one "
                    + "with another label, or abort \(id), or finish \(id) --force")
        }
    }
}

/// The processes that a write of a rollout counts. Each attempt to write reads them anew.
struct RolloutCensus {
    /// After this many attempts the write goes on although processes appear all the time.
    private static let attempts = 4

    private var attempt = 0

    /// Moves the cutoffs of a rollout to the processes that live now.
    mutating func count(_ rollout: inout Rollout, _ fleet: FleetOperator) async throws(FleetRefusal) -> Result {
        let statuses = try await fleet.instanceStatuses()
        let live = statuses.live
        try rollout.checkFollowed(by: live)
        rollout.moveCutoffs(live)
        attempt += 1
        var result = Result(statuses: statuses)
        if rollout.per != nil, rollout.share < .all {
            if attempt <= Self.attempts {
                result.compare = .noneCreated(prefix: fleet.keys.instances, after: statuses.revision)
            } else {
                result.note = "processes appear all the time: the shares may be off by some until the next step"
            }
        }
        return result
    }

    struct Result {
        let statuses: InstanceStatuses
        /// Holds while the shares are exact: no process has appeared.
        var compare: EtcdTransaction.Compare?
        /// Why they may not be.
        var note: String?
    }
}
