// Decides which connections to evict or reject when there are too many.

import Tweaks

extension EventLoop {
    /// Makes room for a new session if possible.
    /// - Returns: The error if there is none.
    func makeRoom(for newSession: Session) -> TweakError? {
        guard let refusal = admissionError(newSession) else { return nil }
        return claimsReservedSlot(newSession) ? nil : refusal
    }

    private func admissionError(_ newSession: Session) -> TweakError? {
        let account = newSession.account
        if account.sessions >= limits.sessionsPerPeer, !evictSilentSession(.sessionsPerPeer, of: account) {
            return TweakError(
                .tooMany, "\(limits.sessionsPerPeer) sessions of yours are open; close one, or raise the limit",
                limit: .sessionsPerPeer)
        }
        if sessions.count >= limits.sessions, !evictSilentSession(.sessions) {
            return TweakError(
                .tooMany, "\(limits.sessions) sessions are open; close one, or raise the limit", limit: .sessions)
        }
        return nil
    }

    /// Claims the slot beyond all limits, one for each user with full rights: an operator must be able to inspect the
    /// process and to end the sessions that fill it.
    func claimsReservedSlot(_ newSession: Session) -> Bool {
        let peer = newSession.identity.peer
        guard peer.transport == .unix, newSession.grants.rights.isWhole(.admin) else { return false }
        if let holder = admission.reservedSlots[peer.clientKey], session(holder) != nil { return false }
        admission.reservedSlots[peer.clientKey] = newSession.id
        return true
    }

    /// Whether there are too many connections even to wait until a rejected client has read its error.
    func isOverloaded(by account: Account) -> Bool {
        // Written to avoid overflow: limits may be as high as `Int.max`.
        sessions.count - limits.refusedSessions >= limits.sessions
            || account.sessions - limits.refusedSessions >= limits.sessionsPerPeer
    }

    /// Rejects a connection immediately.
    func reject(_ descriptor: Descriptor, _ error: TweakError, _ listener: Listener) {
        executor.count(error)
        let text = listener.endpoint?.refusal(error) ?? Array("error \(error)\n".utf8)
        _ = text.withUnsafeBytes { descriptor.write($0) }
        descriptor.endOutput()
        // Closing with unread bytes would cause a reset, and the client would lose the error.
        _ = descriptor.read(into: scratch)
    }

    // MARK: - Eviction

    /// Tracks a new session among those that have not sent a line. The lists must not grow with every past session.
    func trackNewSession(_ newSession: Session) {
        if admission.silentSessions.count > 2 * sessions.count + 64 {
            admission.silentSessions.removeAll { session($0)?.input.hasSentLine ?? true }
        }
        admission.silentSessions.append(newSession.id)
        guard isUnauthenticated(newSession) else { return }
        admission.unauthenticated.removeAll { id in session(id).map { !isUnauthenticated($0) } ?? true }
        while admission.unauthenticated.count >= max(limits.unauthenticatedSessions, 1) {
            let index = indexToEvict(for: newSession)
            guard let session = session(admission.unauthenticated.remove(at: index)) else { continue }
            let text = "others are waiting, and this session has not signed in; connect again, and sign in with a token"
            evict(session, TweakError(.tooMany, text, limit: .unauthenticatedSessions))
        }
        admission.unauthenticated.append(newSession.id)
    }

    private func isUnauthenticated(_ session: Session) -> Bool {
        session.isOpen && (!session.isAdmitted || session.identity.isDenied)
    }

    /// Selects the unauthenticated session to evict. An address with more than its share evicts its own sessions.
    /// Silent sessions go before those that have sent a request, which may be about to show a token. Among several, the
    /// oldest of the address with the most sessions goes.
    private func indexToEvict(for newSession: Session) -> Int {
        let waiting = admission.unauthenticated.map { session($0) }
        var counts = [newSession.identity.peer.clientKey: 1]
        for session in waiting { counts[session?.identity.peer.clientKey ?? "", default: 0] += 1 }
        let count = { (index: Int) in counts[waiting[index]?.identity.peer.clientKey ?? ""] ?? 0 }
        let share = max(limits.unauthenticatedSessions / 4, 1)
        let overShare = waiting.indices.filter { count($0) > share }
        let candidates = overShare.isEmpty ? Array(waiting.indices) : overShare
        let silent = candidates.filter { waiting[$0]?.input.hasSentRequest != true }
        let preferred = silent.isEmpty ? candidates : silent
        let most = preferred.map(count).max()
        return preferred.first { count($0) == most } ?? 0
    }

    /// Evicts the oldest connection that never sent a line, of all or of one peer.
    private func evictSilentSession(_ limit: TweakLimit, of account: Account? = nil) -> Bool {
        var position = 0
        var found: Session?
        while found == nil, position < admission.silentSessions.count {
            let session = session(admission.silentSessions[position])
            if let session, session.isOpen, !session.input.hasSentLine, account.map({ $0 === session.account }) ?? true
            {
                found = session
            }
            position += 1
        }
        guard let found else { return false }
        admission.silentSessions.remove(at: position - 1)
        let text = "others are waiting, and this connection has sent nothing; connect again"
        evict(found, TweakError(.tooMany, text, limit: limit))
        return true
    }

    private func evict(_ session: Session, _ error: TweakError) {
        sendAndClose(error, to: session)
        // Reads its input first: closing with unread bytes would cause a reset, and the client would lose the error.
        _ = session.connection.descriptor.read(into: scratch)
        close(session)
    }
}
