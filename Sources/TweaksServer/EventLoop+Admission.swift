// Decides which connections to evict or reject when there are too many.

import Tweaks

extension EventLoop {
    /// Makes room for a new session if possible.
    /// - Returns: The error if there is none.
    func makeRoom(for newSession: Session) -> TweakError? {
        closeLingering()
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
        if sessions.count - sessions.lingeringCount >= limits.sessions, !evictSilentSession(.sessions) {
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
        if let id = admission.reservedSlots[peer.clientKey], let holder = session(id), !holder.accounts.isLingering {
            return false
        }
        admission.reservedSlots[peer.clientKey] = newSession.id
        return true
    }

    /// Whether there are too many connections even to wait until a rejected client has read its error.
    func isOverloaded(by account: Account) -> Bool {
        // Written to avoid overflow: limits may be as high as `Int.max`.
        sessions.count - limits.refusedSessions >= limits.sessions
            || account.sessions + account.lingering - limits.refusedSessions >= limits.sessionsPerPeer
    }

    /// Closes the oldest ended connections while they and the others have all descriptors that sessions may have.
    private func closeLingering() {
        while sessions.count - limits.refusedSessions >= limits.sessions, !admission.lingering.isEmpty {
            guard let session = session(admission.lingering.removeFirst()) else { continue }
            discardInput(session)
            close(session)
        }
    }

    /// Reads what has arrived: closing with unread bytes would cause a reset, and the client would lose the error.
    private func discardInput(_ session: Session) { _ = session.connection.descriptor.read(into: scratch) }

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
        limitUnauthenticated(newSession)
        admission.unauthenticated.append(newSession.id)
    }

    private func isUnauthenticated(_ session: Session) -> Bool {
        session.isOpen && (!session.isAdmitted || session.identity.isDenied)
    }

    /// Makes room for another unauthenticated session. Those whose first message names a known key have as many places of
    /// their own, which no others can take.
    private func limitUnauthenticated(_ newSession: Session) {
        let limit = max(limits.unauthenticatedSessions, 1)
        while admission.unauthenticated.count >= limit, freePlace(for: newSession, limit) {}
    }

    /// Ends an unauthenticated session of those that have more places than the limit.
    /// - Returns: False if there are none.
    private func freePlace(for newSession: Session, _ limit: Int) -> Bool {
        let waiting = admission.unauthenticated.compactMap { session($0) }.filter(isUnauthenticated)
        admission.unauthenticated = waiting.map(\.id)
        let others = waiting.filter { $0.credentials.expectedKey == nil }
        if others.count >= limit {
            evictUnlessExpected(sessionToEvict(others, newSession))
            return true
        }
        guard waiting.count - others.count > limit else { return false }
        evictUnauthenticated(Self.oldestOfMostFrequentKey(waiting))
        return true
    }

    private func evictUnlessExpected(_ session: Session) {
        // Its message may have arrived by now, although it was accepted only in this round.
        hear(session)
        var steps = 1
        while steps < Self.heardSteps, session.credentials.expectedKey == nil, isUnauthenticated(session),
            session.input.mayHaveMore, session.mayBegin
        {
            advance(session)
            steps += 1
        }
        if isUnauthenticated(session), session.credentials.expectedKey == nil { evictUnauthenticated(session) }
    }

    /// Reads and answers what a session has sent.
    private func hear(_ session: Session) {
        receive(session)
        advance(session)
    }

    /// The steps of an unauthenticated session in front of its SCRAM message that are carried out before it yields: what
    /// the headers of a browser tell, or a greeting. A round of many connections is over its time, so that each call of
    /// `advance` carries out one step.
    private static let heardSteps = 8

    private func evictUnauthenticated(_ session: Session) {
        let text = "others are waiting, and this session has not signed in; connect again, and sign in with a token"
        evict(session, TweakError(.tooMany, text, limit: .unauthenticatedSessions))
    }

    /// Selects the unauthenticated session to evict. An address with more than its share evicts its own sessions.
    /// Silent sessions go before those that have sent a request, which may be about to show a token. Among several, the
    /// oldest of the address with the most sessions goes.
    /// - Parameter waiting: At least one, oldest first.
    private func sessionToEvict(_ waiting: [Session], _ newSession: Session) -> Session {
        var counts = [newSession.identity.peer.clientKey: 1]
        for session in waiting { counts[session.identity.peer.clientKey, default: 0] += 1 }
        let count = { (session: Session) in counts[session.identity.peer.clientKey] ?? 0 }
        let share = max(limits.unauthenticatedSessions / 4, 1)
        let overShare = waiting.filter { count($0) > share }
        let candidates = overShare.isEmpty ? waiting : overShare
        let silent = candidates.filter { !$0.input.hasSentRequest }
        let preferred = silent.isEmpty ? candidates : silent
        let most = preferred.map(count).max()
        return preferred.first { count($0) == most } ?? waiting[0]
    }

    /// - Parameter waiting: At least one with an expected key, oldest first.
    private static func oldestOfMostFrequentKey(_ waiting: [Session]) -> Session {
        let expected = waiting.filter { $0.credentials.expectedKey != nil }
        let counts = Dictionary(grouping: expected) { $0.credentials.expectedKey }.mapValues(\.count)
        let most = counts.values.max()
        return expected.first { counts[$0.credentials.expectedKey] == most } ?? waiting[0]
    }

    /// Evicts the oldest connection that never sent a line, of all or of one peer.
    private func evictSilentSession(_ limit: TweakLimit, of account: Account? = nil) -> Bool {
        var position = 0
        var found: Session?
        while found == nil, position < admission.silentSessions.count {
            let session = session(admission.silentSessions[position])
            if let session, session.isOpen, !session.input.hasSentLine, account.map({ $0 === session.account }) ?? true
            {
                // Its first line may have arrived by now.
                hear(session)
                if session.isOpen, !session.input.hasSentLine { found = session }
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
        discardInput(session)
        close(session)
    }
}
