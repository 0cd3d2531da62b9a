// Ends expired temporary overrides with a commit whose origin is `expired`.

import Synchronization

extension TweakRegistry {
    /// When the next temporary override expires; nil if there is none.
    package var nextExpiry: ContinuousClock.Instant? { state.withLock { $0.expiries.next } }

    /// The number of active temporary overrides.
    package var temporaryCount: Int { state.withLock { $0.expiries.count } }

    /// The remaining time of a tweak's temporary override; nil without one.
    package func timeLeft(_ node: TweakNode) -> Duration? {
        let end = state.withLock { state in
            state.expiries.next == nil || !state.holds(node)
                ? nil : state.overlays[node.slot][.temporaryOverride]?.expires
        }
        return end.map { timeLeft($0) }
    }

    /// Sets the alarm to the next expiry.
    func setAlarm() {
        alarm.set({ [self] in nextExpiry }) { [weak self] in self?.expire() }
    }

    /// Ends all expired temporary overrides, as one commit.
    package func expire() {
        var commit = PendingCommit(.expiry, .expired, currentTime)
        state.withLock { state in
            let steps = state.expiries.due(commit.moment).map { CommitStep(node: $0, change: .expire(commit.moment)) }
            if !steps.isEmpty { _ = state.apply(steps, &commit) }
        }
        deliver(commit, .executor)
        setAlarm()
    }
}
