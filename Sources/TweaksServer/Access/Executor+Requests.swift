// Handles the command request: grants scopes by policy, or asks the program's handler.

import Dispatch
import Tweaks
import TweaksWire

extension Executor {
    /// Requests more scopes. The program's handler runs on another queue, and the session waits for it.
    func request(_ words: [String], _ session: Session) throws(TweakError) -> Outcome {
        let scopes = try [TweakScope](words)
        let missing = scopes.filter { !session.grants.rights.covers($0) }
        if missing.isEmpty { return .reply(granted(scopes)) }
        session.credentials.scopeBytes += words.reduce(0) { $0 + 256 + 2 * $1.utf8.count }
        if session.grants.count >= limits.scopes {
            throw TweakError(.tooMany, "this session has \(limits.scopes) grants already; connect again")
        }
        let given = Rights(hooks.access.grants)
        if missing.allSatisfy(given.covers) {
            notify(.requested(missing), session)
            return .reply(decide(missing, isGranted: true, session))
        }
        if let scope = missing.first(where: session.credentials.scopeRequests.declined.contains) {
            throw TweakError(.denied, "\(scope.token) was declined; the same is not asked again in this session")
        }
        if let waiting = session.credentials.scopeRequests.waiting.first(where: { Set($0.scopes) == Set(missing) }) {
            return .reply(self.waiting(for: waiting.scopes))
        }
        try checkRoom(missing, session)
        notify(.requested(missing), session)
        guard let ask = hooks.access.onRequest else {
            return .reply(decide(missing, isGranted: false, session))
        }
        try refuseIfBusy(session)
        put(missing, session, before: ask)
        return .running()
    }

    private func checkRoom(_ scopes: [TweakScope], _ session: Session) throws(TweakError) {
        if session.credentials.scopeRequests.waiting.count >= limits.scopeRequests {
            throw TweakError(
                .tooMany, "\(limits.scopeRequests) requests of this session are not decided yet; wait for them",
                limit: .scopeRequests)
        }
        let known = session.credentials.scopeRequests.declined.count + session.credentials.scopeRequests.granted.count
        if known + scopes.count > limits.scopes {
            throw TweakError(
                .tooMany, "a session asks for at most \(limits.scopes) scopes; connect again", limit: .scopes)
        }
    }

    private func put(
        _ scopes: [TweakScope], _ session: Session, before ask: @escaping @Sendable (TweakScopeRequest) -> Void
    ) {
        let (id, mailbox) = (session.id, mailbox)
        let request = TweakScopeRequest(session.info, scopes) { mailbox.post(.decided(id, $0)) }
        session.credentials.scopeRequests.ask(request)
        requestQueue.async {
            ask(request)
            mailbox.post(.asked(id, request))
        }
    }

    /// The reply after the program's handler has returned: a decision, or that it is pending.
    func finishAsking(_ request: TweakScopeRequest, _ session: Session) -> Reply {
        guard session.credentials.scopeRequests.endAsking(request) else {
            return .error(TweakError(.denied, "your rights have changed; request it again"))
        }
        if let isAllowed = request.isAllowed { return decide(request.scopes, isGranted: isAllowed, session) }
        session.credentials.scopeRequests.wait(for: request)
        return waiting(for: request.scopes)
    }

    /// Applies a decision that was pending.
    /// - Returns: The event for the session; nil if the reply to its request carries the decision.
    func finishWaiting(_ request: TweakScopeRequest, _ session: Session) -> Event? {
        guard let isAllowed = request.isAllowed, session.credentials.scopeRequests.end(request) else { return nil }
        _ = decide(request.scopes, isGranted: isAllowed, session)
        return .decided(revision: registry.revision, isGranted: isAllowed, request.scopes)
    }

    private func decide(_ scopes: [TweakScope], isGranted: Bool, _ session: Session) -> Reply {
        session.credentials.scopeRequests.note(scopes, isGranted: isGranted)
        if isGranted {
            session.grants.add(scopes, from: .request)
            hub.update(session)
        }
        notify(isGranted ? .granted(scopes) : .declined(scopes), session)
        return isGranted ? granted(scopes) : .error(TweakError(.denied, "\(scopes.text) declined"))
    }

    private func granted(_ scopes: [TweakScope]) -> Reply {
        .ok("granted \(scopes.text)", [("granted", scopes.json)])
    }

    private func waiting(for scopes: [TweakScope]) -> Reply {
        .ok("waiting \(scopes.text)", [("waiting", scopes.json)])
    }
}
