// Represents a session's request for more rights, which the program decides.

import Synchronization
public import Tweaks

/// A session's request for more rights. The program can decide at once, later on any thread, or never: until then the
/// session continues without these rights; it is notified of the decision.
///
/// ```swift
/// TweakAccess(onRequest: { request in
///     request.scopes == [.read] ? request.allow() : request.decline()
/// })
/// ```
public final class TweakScopeRequest: Sendable {
    /// The requesting session when it made the request.
    public let session: TweakSession
    /// The requested rights, all or nothing.
    public let scopes: [TweakScope]
    private let decision = Mutex<Bool?>(nil)
    /// Called once, with the first decision.
    private let whenDecided: @Sendable (TweakScopeRequest) -> Void

    package init(
        _ session: TweakSession, _ scopes: [TweakScope], whenDecided: @escaping @Sendable (TweakScopeRequest) -> Void
    ) {
        (self.session, self.scopes, self.whenDecided) = (session, scopes, whenDecided)
    }

    /// Grants the rights until the session ends or gives them up. Only the first decision counts; it has no effect on a
    /// session that has ended. May be called on any thread.
    public func allow() { decide(true) }

    /// Declines the rights; further requests for the same rights are declined without asking. Only the first decision
    /// counts. May be called on any thread.
    public func decline() { decide(false) }

    /// The decision; nil until there is one.
    package var isAllowed: Bool? { decision.withLock { $0 } }

    private func decide(_ isAllowed: Bool) {
        let isFirst = decision.withLock { decision in
            defer { decision = decision ?? isAllowed }
            return decision == nil
        }
        if isFirst { whenDecided(self) }
    }
}
