// Detects whether a rollout's members go silent more often than other processes.

import Tweaks

/// The processes that a driver has seen since the step began.
struct SilenceDetector: Sendable {
    private struct SeenProcess {
        var instance: FleetInstance
        var lastSeen: Int64
        var isLive = true
        /// When it appeared; nil if it existed at the start.
        var appearedAt: Int64?
        /// Its ID changes with each restart.
        var isUnstable: Bool
        /// The start times seen: a process that keeps restarting counts as silent.
        var starts: Set<Int64>

        init(_ live: LiveInstance, _ now: Int64, appearedAt: Int64?) {
            (instance, lastSeen, self.appearedAt) = (live.instance, now, appearedAt)
            (isUnstable, starts) = (live.status.isUnstable, [live.start])
        }
    }

    /// The number of members and other processes, and of those that are silent.
    private struct Counts {
        var members = 0
        var others = 0
        var silent: [String] = []
        var silentOthers = 0
    }

    private var processes: [String: SeenProcess] = [:]

    /// This many starts since the step began count as a crash loop.
    private static let crashLoopStarts = 3
    /// With more members than this, a single silent one is not significant.
    private static let significantShare = 50

    /// Starts a new step; forgets processes that are not live.
    /// - Parameter lifetime: How long a dead process's status lives: processes that appeared within it may be its
    ///   replacement.
    mutating func begin(_ live: [LiveInstance], _ now: Int64, lifetime: Int64) {
        let recent = processes.compactMapValues(\.appearedAt).filter { now &- $0.value < lifetime }
        processes = [:]
        for instance in live { processes[instance.id] = SeenProcess(instance, now, appearedAt: recent[instance.id]) }
    }

    mutating func see(_ live: [LiveInstance], _ now: Int64) {
        for id in processes.keys { processes[id]?.isLive = false }
        for instance in live {
            var process = processes[instance.id] ?? SeenProcess(instance, now, appearedAt: now)
            (process.instance, process.lastSeen, process.isLive) = (instance.instance, now, true)
            process.starts.insert(instance.start)
            processes[instance.id] = process
        }
    }

    /// Whether a member is missing but not yet counted as silent.
    func isAwaiting(_ rollout: Rollout) -> Bool {
        let unstableAreReplaced = unstableAreReplaced
        return processes.values.contains { process in
            !process.isLive && !(process.isUnstable && unstableAreReplaced) && rollout.includes(process.instance)
        }
    }

    /// Whether as many unstable processes have appeared as are missing: these have restarted with new IDs. In a crash
    /// loop processes appear and disappear, and more are missing than have appeared.
    private var unstableAreReplaced: Bool {
        let unstable = processes.values.filter(\.isUnstable)
        return unstable.count { $0.appearedAt != nil && $0.isLive } >= unstable.count { !$0.isLive }
    }

    /// Returns why silent members abort the rollout: at least one is silent, and their share is more than twice that of
    /// other processes, whose silence has other causes.
    func silence(_ rollout: Rollout, now: Int64, after: Int64) -> String? {
        let counts = counts(rollout, now, after)
        let (silent, members, others) = (counts.silent.count, counts.members, counts.others)
        let isSignificant = silent > 0 && silent * Self.significantShare >= members
        // silent / members > 2 × silentOthers / others, without a division.
        let isAboveOthers = others == 0 || silent * others > 2 * counts.silentOthers * members
        guard isSignificant, isAboveOthers else { return nil }
        let names = counts.silent.sorted().prefix(5).joined(separator: ", ") + (silent > 5 ? ", …" : "")
        return "\(silent) of \(members) members are silent or crash at start (\(names)), "
            + "and \(counts.silentOthers) of \(others) others"
    }

    private func counts(_ rollout: Rollout, _ now: Int64, _ after: Int64) -> Counts {
        var counts = Counts()
        let unstableAreReplaced = unstableAreReplaced
        for (id, process) in processes {
            if !process.isLive, process.isUnstable, unstableAreReplaced { continue }
            let isAway = !process.isLive && now &- process.lastSeen >= after
            let isSilent = isAway || process.starts.count >= Self.crashLoopStarts
            if rollout.includes(process.instance) {
                counts.members += 1
                if isSilent { counts.silent.append(id) }
            } else {
                counts.others += 1
                if isSilent { counts.silentOthers += 1 }
            }
        }
        return counts
    }
}
