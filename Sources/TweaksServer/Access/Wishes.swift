// What one session has asked for with `request`, and what became of it.

import Tweaks

/// Requests of a session.
struct Wishes {
    /// Given, in the order in which that was decided.
    private(set) var granted: [TweakScope] = []
    /// Not given; nobody is asked again for these.
    private(set) var declined: [TweakScope] = []
    /// Nobody has decided yet.
    private(set) var waiting: [TweakScopeRequest] = []
    /// The program is just being asked.
    private var asking: TweakScopeRequest?

    /// Notes a decision.
    mutating func note(_ scopes: [TweakScope], isGranted: Bool) {
        if isGranted {
            granted += scopes.filter { !granted.contains($0) }
            declined.removeAll(where: scopes.contains)
        } else {
            declined += scopes.filter { !declined.contains($0) }
        }
    }

    /// Forgets what was given, and what may still be: it was asked for by somebody who has no say here any more.
    mutating func forgetGranted() { (granted, waiting, asking) = ([], [], nil) }

    /// Notes that the program is being asked.
    mutating func ask(_ request: TweakScopeRequest) { asking = request }

    /// Notes that the program's handler has returned.
    /// - Returns: False when who asked has no say here any more.
    mutating func endAsking(_ request: TweakScopeRequest) -> Bool {
        defer { asking = nil }
        return asking === request
    }

    /// Notes that a decision takes its time.
    mutating func wait(for request: TweakScopeRequest) { waiting.append(request) }

    /// Notes that a request is decided.
    /// - Returns: False when nobody waits for it.
    mutating func end(_ request: TweakScopeRequest) -> Bool {
        let count = waiting.count
        waiting.removeAll { $0 === request }
        return waiting.count < count
    }
}
