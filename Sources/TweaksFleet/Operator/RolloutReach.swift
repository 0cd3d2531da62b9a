// Counts the processes that a rollout reaches at each of its steps.

import Tweaks

/// The live processes that a rollout would reach.
package struct RolloutReach: Sendable {
    /// The number of processes that the selector matches.
    package let eligible: Int
    /// The number of live processes.
    package let live: Int
    /// The number of members at each step.
    package let members: [(share: Share, count: Int)]
    /// The smallest share that includes a process; nil if none does.
    package let smallest: Share?

    package init(_ rollout: Rollout, _ live: [LiveInstance]) {
        let instances = live.map(\.instance)
        func count(_ share: Share) -> Int {
            var rollout = rollout
            rollout.share = share
            return instances.count { rollout.includes($0) }
        }
        self.live = live.count
        eligible = count(.all)
        members = rollout.steps.map { ($0, count($0)) }
        smallest = rollout.smallestShare(including: instances)
    }

    /// Throws if the first step reaches no process.
    package func check(_ rollout: Rollout) throws(FleetRefusal) {
        guard let first = members.first, first.count == 0 else { return }
        if let smallest {
            throw FleetRefusal(
                .refused,
                "the first step, \(first.share.text), reaches none of \(eligible.processes); "
                    + "\(smallest.text) is the smallest that reaches one")
        }
        let reason = rollout.selector.isEmpty ? "no process lives" : "none of \(live.processes) has these labels"
        throw FleetRefusal(.refused, "\(reason), so the rollout reaches no process; see status")
    }
}
