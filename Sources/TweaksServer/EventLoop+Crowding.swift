// Too many connections: who makes room for whom, and who is turned away.

import Tweaks

extension EventLoop {
    /// Makes room for a newcomer where it can be made.
    /// - Returns: Why there is none.
    func makeRoom(for newcomer: Session) -> TweakError? {
        guard let refusal = crowding(newcomer) else { return nil }
        return takesKeptPlace(newcomer) ? nil : refusal
    }

    private func crowding(_ newcomer: Session) -> TweakError? {
        let account = newcomer.account
        if account.sessions >= limits.sessionsPerPeer, !evictStranger(.sessionsPerPeer, of: account) {
            return TweakError(
                .tooMany, "\(limits.sessionsPerPeer) sessions of yours are open; close one, or raise the limit",
                limit: .sessionsPerPeer)
        }
        if sessions.count >= limits.sessions, !evictStranger(.sessions) {
            return TweakError(
                .tooMany, "\(limits.sessions) sessions are open; close one, or raise the limit", limit: .sessions)
        }
        return nil
    }

    /// Beyond all limits there is one place for each user who may do everything here: an operator has to be able to look, and
    /// to end what takes the others.
    func takesKeptPlace(_ newcomer: Session) -> Bool {
        guard newcomer.identity.peer.transport == .unix, newcomer.grants.rights.isWhole(.admin) else { return false }
        if let holder = crowd.keptPlaces[newcomer.identity.peer.culprit], session(holder) != nil { return false }
        crowd.keptPlaces[newcomer.identity.peer.culprit] = newcomer.id
        return true
    }

    /// Whether a connection cannot even be told with patience why it is refused.
    func isOverrun(by account: Account) -> Bool {
        // Limits may be as high as numbers go.
        sessions.count - limits.refusedSessions >= limits.sessions
            || account.sessions - limits.refusedSessions >= limits.sessionsPerPeer
    }

    /// Turns a connection away at once.
    func turnAway(_ descriptor: Descriptor, _ error: TweakError, _ listener: Listener) {
        executor.count(error)
        let text = listener.front?.refusal(error) ?? Array("error \(error)\n".utf8)
        _ = text.withUnsafeBytes { descriptor.write($0) }
        descriptor.endOutput()
        // Closed over unread bytes, the error would be lost to a reset.
        _ = descriptor.read(into: scratch)
    }

    // MARK: Who makes room

    /// Puts a newcomer behind the others who have not sent a line. The lists must not grow with all who ever came.
    func noteNewcomer(_ newcomer: Session) {
        if crowd.strangers.count > 2 * sessions.count + 64 {
            crowd.strangers.removeAll { session($0)?.input.hasSentLine ?? true }
        }
        crowd.strangers.append(newcomer.id)
        guard isUnauthenticated(newcomer) else { return }
        crowd.unauthenticated.removeAll { id in session(id).map { !isUnauthenticated($0) } ?? true }
        while crowd.unauthenticated.count >= max(limits.unauthenticatedSessions, 1) {
            let index = yielding(to: newcomer)
            guard let session = session(crowd.unauthenticated.remove(at: index)) else { continue }
            let text = "others are waiting and nobody has shown a token here"
            evict(session, TweakError(.tooMany, text, limit: .unauthenticatedSessions))
        }
        crowd.unauthenticated.append(newcomer.id)
    }

    private func isUnauthenticated(_ session: Session) -> Bool {
        session.isOpen && (!session.isAdmitted || session.identity.isDenied)
    }

    /// Which of those makes room that have not shown who they are. An address with more than its share takes from itself;
    /// one that has asked something speaks the protocol and may be about to show a token, so that silent ones go before
    /// it; and of several the oldest goes, of the address that has the most.
    private func yielding(to newcomer: Session) -> Int {
        let waiting = crowd.unauthenticated.map { session($0) }
        var counts = [newcomer.identity.peer.culprit: 1]
        for session in waiting { counts[session?.identity.peer.culprit ?? "", default: 0] += 1 }
        let count = { (index: Int) in counts[waiting[index]?.identity.peer.culprit ?? ""] ?? 0 }
        let share = max(limits.unauthenticatedSessions / 4, 1)
        let greedy = waiting.indices.filter { count($0) > share }
        let candidates = greedy.isEmpty ? Array(waiting.indices) : greedy
        let silent = candidates.filter { waiting[$0]?.input.hasAsked != true }
        let yielding = silent.isEmpty ? candidates : silent
        let most = yielding.map(count).max()
        return yielding.first { count($0) == most } ?? 0
    }

    /// The oldest connection that never sent a line makes room: of all, or of one peer.
    private func evictStranger(_ limit: TweakLimit, of account: Account? = nil) -> Bool {
        var position = 0
        var found: Session?
        while found == nil, position < crowd.strangers.count {
            let session = session(crowd.strangers[position])
            if let session, session.isOpen, !session.input.hasSentLine, account.map({ $0 === session.account }) ?? true
            {
                found = session
            }
            position += 1
        }
        guard let found else { return false }
        crowd.strangers.remove(at: position - 1)
        evict(found, TweakError(.tooMany, "others are waiting and this connection has sent nothing", limit: limit))
        return true
    }

    private func evict(_ session: Session, _ error: TweakError) {
        say(error, to: session)
        // What it had sent is read first: closed over unread bytes, the error would be lost to a reset.
        _ = session.connection.descriptor.read(into: scratch)
        close(session)
    }
}
