// Counts whom a rollout reaches at each of its steps.

import Tweaks

/// Whom a rollout would reach among the processes that live.
package struct RolloutReach: Sendable {
    /// Processes that the selector names.
    package let eligible: Int
    /// Processes that live.
    package let live: Int
    /// Members at each step.
    package let members: [(share: Share, count: Int)]
    /// The smallest share that catches one; nil: none does.
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
        smallest = rollout.smallestShare(thatCatches: instances)
    }

    /// Refuses a rollout whose first step reaches nobody.
    package func check(_ rollout: Rollout) throws(FleetRefusal) {
        guard let first = members.first, first.count == 0 else { return }
        if let smallest {
            throw FleetRefusal(
                .refused,
                "the first step, \(first.share.text), reaches none of \(eligible.processes); "
                    + "\(smallest.text) is the smallest that reaches one")
        }
        let whom = rollout.selector.isEmpty ? "no process lives" : "none of \(live.processes) has these labels"
        throw FleetRefusal(.refused, "\(whom), so the rollout reaches nobody; see status")
    }
}
