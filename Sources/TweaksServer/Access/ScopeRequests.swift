// Tracks the scopes that one session has requested, and the decisions.

import Tweaks

/// The scope requests of a session.
struct ScopeRequests {
    /// Granted, in order of decision.
    private(set) var granted: [TweakScope] = []
    /// Declined; the program is not asked for these again.
    private(set) var declined: [TweakScope] = []
    /// Not decided yet.
    private(set) var waiting: [TweakScopeRequest] = []
    /// The request that the program's handler is processing.
    private var asking: TweakScopeRequest?

    /// Records a decision.
    mutating func note(_ scopes: [TweakScope], isGranted: Bool) {
        if isGranted {
            granted += scopes.filter { !granted.contains($0) }
            declined.removeAll(where: scopes.contains)
        } else {
            declined += scopes.filter { !declined.contains($0) }
        }
    }

    /// Forgets grants and pending requests: they belong to a token that is no longer valid.
    mutating func forgetGranted() { (granted, waiting, asking) = ([], [], nil) }

    /// Records that the program's handler was called.
    mutating func ask(_ request: TweakScopeRequest) { asking = request }

    /// Records that the program's handler has returned.
    /// - Returns: False if the request was forgotten meanwhile.
    mutating func endAsking(_ request: TweakScopeRequest) -> Bool {
        defer { asking = nil }
        return asking === request
    }

    /// Records that a decision is pending.
    mutating func wait(for request: TweakScopeRequest) { waiting.append(request) }

    /// Removes a decided request.
    /// - Returns: False if it was not pending.
    mutating func end(_ request: TweakScopeRequest) -> Bool {
        let count = waiting.count
        waiting.removeAll { $0 === request }
        return waiting.count < count
    }
}
