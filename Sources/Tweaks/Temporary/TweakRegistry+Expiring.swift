// The ends of temporary overrides: a commit like any other, made by nobody.

import Synchronization

extension TweakRegistry {
    /// When the next temporary override ends; nil while there is none.
    package var nextExpiry: ContinuousClock.Instant? { state.withLock { $0.expiries.next } }

    /// How many temporary overrides are in force.
    package var temporaryCount: Int { state.withLock { $0.expiries.count } }

    /// What remains of a tweak's temporary override; nil without one.
    package func timeLeft(_ node: TweakNode) -> Duration? {
        let end = state.withLock { state in
            state.expiries.next == nil || !state.holds(node)
                ? nil : state.overlays[node.slot][.temporaryOverride]?.expires
        }
        return end.map { timeLeft($0) }
    }

    /// Has the alarm ring at the next end.
    func setAlarm() {
        alarm.set({ [self] in nextExpiry }) { [weak self] in self?.expire() }
    }

    /// Ends what has run out, as one commit.
    package func expire() {
        var commit = PendingCommit(.expiry, .expired, currentTime)
        state.withLock { state in
            let steps = state.expiries.due(commit.moment).map { CommitStep(node: $0, change: .expire(commit.moment)) }
            if !steps.isEmpty { _ = state.apply(steps, &commit) }
        }
        deliver(commit, .carrier)
        setAlarm()
    }
}
