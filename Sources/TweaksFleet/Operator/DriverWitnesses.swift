// Remembers which processes were seen, and judges whether those in a rollout fall silent more than others.

import Tweaks

/// The processes that a driver has seen since the step began.
struct DriverWitnesses: Sendable {
    private struct Witness {
        var instance: FleetInstance
        var lastSeen: Int64
        var isLive = true
        /// When it came; nil: it was there before.
        var came: Int64?
        /// It has another ID after each restart.
        var isUnstable: Bool
        /// The starts that were seen: one that starts again and again is as good as silent.
        var starts: Set<Int64>

        init(_ live: LiveInstance, _ now: Int64, came: Int64?) {
            (instance, lastSeen, self.came) = (live.instance, now, came)
            (isUnstable, starts) = (live.status.isUnstable, [live.start])
        }
    }

    /// Members and others, and which of them are silent.
    private struct Tally {
        var members = 0
        var others = 0
        var silent: [String] = []
        var silentOthers = 0
    }

    private var witnesses: [String: Witness] = [:]

    /// So many starts since the step began are a crash after each start.
    private static let manyStarts = 3
    /// Of more members than this, one that is away is no sign.
    private static let leastShare = 50

    /// Forgets those who are not live: a new step counts anew.
    /// - Parameter lifetime: So long the status of one that is gone stays: who came within it may be in its place.
    mutating func begin(_ live: [LiveInstance], _ now: Int64, lifetime: Int64) {
        let recent = witnesses.compactMapValues(\.came).filter { now &- $0.value < lifetime }
        witnesses = [:]
        for instance in live { witnesses[instance.id] = Witness(instance, now, came: recent[instance.id]) }
    }

    mutating func see(_ live: [LiveInstance], _ now: Int64) {
        for id in witnesses.keys { witnesses[id]?.isLive = false }
        for instance in live {
            var witness = witnesses[instance.id] ?? Witness(instance, now, came: now)
            (witness.instance, witness.lastSeen, witness.isLive) = (instance.instance, now, true)
            witness.starts.insert(instance.start)
            witnesses[instance.id] = witness
        }
    }

    /// Whether a member is away, and it is not said yet whether for good.
    func isAwaiting(_ rollout: Rollout) -> Bool {
        let areReplaced = areReplaced
        return witnesses.values.contains { witness in
            !witness.isLive && !(witness.isUnstable && areReplaced) && rollout.includes(witness.instance)
        }
    }

    /// Whether as many unstable processes have come as are away: then these have restarted under other names. Who crashes
    /// at start comes and goes, and more are away than have come.
    private var areReplaced: Bool {
        let unstable = witnesses.values.filter(\.isUnstable)
        return unstable.count { $0.came != nil && $0.isLive } >= unstable.count { !$0.isLive }
    }

    /// Why the silence of members stops the rollout: at least one is silent, and their share is more than twice that of the
    /// others, who share what is not the rollout's fault.
    func silence(_ rollout: Rollout, now: Int64, after: Int64) -> String? {
        let tally = tally(rollout, now, after)
        let (silent, members, others) = (tally.silent.count, tally.members, tally.others)
        let isMuch = silent > 0 && silent * Self.leastShare >= members
        // silent / members > 2 × silentOthers / others, without a division.
        let isTheirs = others == 0 || silent * others > 2 * tally.silentOthers * members
        guard isMuch, isTheirs else { return nil }
        let names = tally.silent.sorted().prefix(5).joined(separator: ", ") + (silent > 5 ? ", …" : "")
        return "\(silent) of \(members) members are silent or crash at start (\(names)), "
            + "and \(tally.silentOthers) of \(others) others"
    }

    private func tally(_ rollout: Rollout, _ now: Int64, _ after: Int64) -> Tally {
        var tally = Tally()
        let areReplaced = areReplaced
        for (id, witness) in witnesses {
            if !witness.isLive, witness.isUnstable, areReplaced { continue }
            let isAway = !witness.isLive && now &- witness.lastSeen >= after
            let isSilent = isAway || witness.starts.count >= Self.manyStarts
            if rollout.includes(witness.instance) {
                tally.members += 1
                if isSilent { tally.silent.append(id) }
            } else {
                tally.others += 1
                if isSilent { tally.silentOthers += 1 }
            }
        }
        return tally
    }
}
