// Remembers which processes were seen, and judges whether those in a rollout fall silent more than others.

import Tweaks

/// The processes that a driver has seen since the step began.
struct DriverWitnesses: Sendable {
    private struct Witness {
        var instance: FleetInstance
        var lastSeen: Int64
        var isLive = true
        /// The starts that were seen: one that starts again and again is as good as silent.
        var starts: Set<Int64>
    }

    private var witnesses: [String: Witness] = [:]

    /// So many starts since the step began are a crash after each start.
    private static let manyStarts = 3
    /// Of more members than this, one that is away is no sign.
    private static let leastShare = 50

    /// Forgets those who are not live: a new step counts anew.
    mutating func keepOnly(_ live: [LiveInstance]) {
        witnesses = [:]
        for instance in live {
            witnesses[instance.id] = Witness(
                instance: instance.instance, lastSeen: .min, starts: [instance.start])
        }
    }

    mutating func see(_ live: [LiveInstance], _ rollout: Rollout, _ now: Int64) {
        for id in witnesses.keys { witnesses[id]?.isLive = false }
        for instance in live {
            var witness =
                witnesses[instance.id]
                ?? Witness(instance: instance.instance, lastSeen: now, starts: [])
            (witness.instance, witness.lastSeen, witness.isLive) = (instance.instance, now, true)
            witness.starts.insert(instance.start)
            witnesses[instance.id] = witness
        }
    }

    /// Whether a member is away, and it is not said yet whether for good.
    func isAwaiting(_ rollout: Rollout) -> Bool {
        witnesses.values.contains { !$0.isLive && rollout.includes($0.instance) }
    }

    /// Why the silence of members stops the rollout: at least one is silent, and their share is more than twice that of the
    /// others, who share what is not the rollout's fault.
    func silence(_ rollout: Rollout, now: Int64, after: Int64) -> String? {
        var (members, others, silentOthers) = (0, 0, 0)
        var silent: [String] = []
        for (id, witness) in witnesses {
            let isAway = !witness.isLive && now &- witness.lastSeen >= after
            let isSilent = isAway || witness.starts.count >= Self.manyStarts
            if rollout.includes(witness.instance) {
                members += 1
                if isSilent { silent.append(id) }
            } else {
                others += 1
                if isSilent { silentOthers += 1 }
            }
        }
        let isMuch = !silent.isEmpty && silent.count * Self.leastShare >= members
        // silent / members > 2 × silentOthers / others, without a division.
        let isTheirs = others == 0 || silent.count * others > 2 * silentOthers * members
        guard isMuch, isTheirs else { return nil }
        let names = silent.sorted().prefix(5).joined(separator: ", ") + (silent.count > 5 ? ", …" : "")
        return "\(silent.count) of \(members) members are silent or crash at start (\(names)), "
            + "and \(silentOthers) of \(others) others"
    }
}
