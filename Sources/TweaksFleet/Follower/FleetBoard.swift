// Shows how a process follows its fleet, for stats.

import Synchronization
import Tweaks

/// What there is to say of a follower.
package struct FleetFacts: Sendable {
    package var state: String
    package var revision: Int64 = 0
    package var values = 0
    package var refused = 0
    package var rollouts: [String] = []
    /// When the store last said something; nil: not yet.
    package var contact: ContinuousClock.Instant?
}

/// The facts of a follower, which other threads read.
package final class FleetBoard: Sendable {
    private let facts = Mutex(FleetFacts(state: "starting"))

    package init() {}

    package var current: FleetFacts { facts.withLock { $0 } }

    func set(_ facts: FleetFacts) { self.facts.withLock { $0 = facts } }
}
