// Asks the program whether a session is given more rights.

import Synchronization
public import Tweaks

/// A session's wish for more rights. Decide at once, later from any thread, or never: until then the session waits
/// without it, and is told when it comes.
///
/// ```swift
/// TweakAccess(onRequest: { request in
///     request.scopes == [.read] ? request.allow() : request.decline()
/// })
/// ```
public final class TweakScopeRequest: Sendable {
    /// Who asks, as it was then.
    public let session: TweakSession
    /// What it asks for, all or nothing.
    public let scopes: [TweakScope]
    private let decision = Mutex<Bool?>(nil)
    /// Called once, with the first decision.
    private let whenDecided: @Sendable (TweakScopeRequest) -> Void

    package init(
        _ session: TweakSession, _ scopes: [TweakScope], whenDecided: @escaping @Sendable (TweakScopeRequest) -> Void
    ) {
        (self.session, self.scopes, self.whenDecided) = (session, scopes, whenDecided)
    }

    /// Gives it these rights, until it ends or gives them up. Only the first decision counts; a session that has ended
    /// meanwhile is not harmed by it. May be called from any thread.
    public func allow() { decide(true) }

    /// Does not give them to it; it is not asked again for the same rights. Only the first decision counts. May be
    /// called from any thread.
    public func decline() { decide(false) }

    /// What was decided; nil as long as nothing was.
    package var isAllowed: Bool? { decision.withLock { $0 } }

    private func decide(_ isAllowed: Bool) {
        let isFirst = decision.withLock { decision in
            defer { decision = decision ?? isAllowed }
            return decision == nil
        }
        if isFirst { whenDecided(self) }
    }
}
