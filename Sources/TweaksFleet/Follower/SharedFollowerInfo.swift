// Shares the state of a follower with other threads, for `stats`.

import Synchronization
import Tweaks

/// A snapshot of a follower's state.
package struct FollowerInfo: Sendable {
    package var state: String
    package var revision: Int64 = 0
    package var values = 0
    package var refused = 0
    package var rollouts: [String] = []
    /// When the store last replied; nil before its first reply.
    package var contact: ContinuousClock.Instant?
}

/// Holds the latest snapshot of a follower, for other threads to read.
package final class SharedFollowerInfo: Sendable {
    private let info = Mutex(FollowerInfo(state: "starting"))

    package init() {}

    package var current: FollowerInfo { info.withLock { $0 } }

    func set(_ info: FollowerInfo) { self.info.withLock { $0 = info } }
}
