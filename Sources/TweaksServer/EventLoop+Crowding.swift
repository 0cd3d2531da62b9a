// Too many connections: who makes room for whom, and who is turned away.

import Tweaks

extension EventLoop {
    /// Refused connections linger, so that they can read why. Beyond so many there is no waiting for that.
    private static let mostLingering = 64

    /// Makes room for a newcomer where it can be made.
    /// - Returns: Why there is none.
    func makeRoom(for newcomer: Session) -> TweakError? {
        let key = newcomer.peer.culprit
        if sessionsOfPeer[key, default: 0] >= limits.sessionsPerPeer, !evictStranger(.sessionsPerPeer, of: key) {
            return TweakError(
                .tooMany, "\(limits.sessionsPerPeer) sessions of yours are open; close one, or raise the limit",
                limit: .sessionsPerPeer)
        }
        if sessionCount >= limits.sessions, !evictStranger(.sessions) {
            return TweakError(
                .tooMany, "\(limits.sessions) sessions are open; close one, or raise the limit", limit: .sessions)
        }
        return nil
    }

    /// Whether a connection cannot even be told with patience why it is refused.
    func isOverrun(by key: String) -> Bool {
        sessionCount >= limits.sessions + Self.mostLingering
            || sessionsOfPeer[key, default: 0] >= limits.sessionsPerPeer + Self.mostLingering
    }

    /// Turns a connection away at once.
    func turnAway(_ descriptor: Descriptor, _ error: TweakError, _ listener: Listener) {
        count(error)
        let text = listener.front?.refusal(error) ?? Array("error \(error)\n".utf8)
        _ = text.withUnsafeBytes { descriptor.write($0) }
        descriptor.endOutput()
        // Closed over unread bytes, the error would be lost to a reset.
        _ = descriptor.read(into: scratch)
    }

    // MARK: Who makes room

    /// Puts a newcomer behind the others who have not sent a line. The lists must not grow with all who ever came.
    func noteNewcomer(_ newcomer: Session) {
        if strangers.count > 2 * sessionCount + 64 { strangers.removeAll { session($0)?.hasSentLine ?? true } }
        strangers.append(newcomer.id)
        guard isUnauthenticated(newcomer) else { return }
        unauthenticated.removeAll { id in session(id).map { !isUnauthenticated($0) } ?? true }
        unauthenticated.append(newcomer.id)
        while unauthenticated.count > limits.unauthenticatedSessions {
            let oldest = unauthenticated.removeFirst()
            guard let session = session(oldest) else { continue }
            let text = "others are waiting and nobody has shown a token here"
            evict(session, TweakError(.tooMany, text, limit: .unauthenticatedSessions))
        }
    }

    private func isUnauthenticated(_ session: Session) -> Bool {
        session.isOpen && (!session.isAdmitted || session.isDenied)
    }

    /// The oldest connection that never sent a line makes room: of all, or of one peer.
    private func evictStranger(_ limit: TweakLimit, of key: String? = nil) -> Bool {
        var position = 0
        var found: Session?
        while found == nil, position < strangers.count {
            let session = session(strangers[position])
            if let session, session.isOpen, !session.hasSentLine, key.map({ $0 == session.peer.culprit }) ?? true {
                found = session
            }
            position += 1
        }
        guard let found else { return false }
        strangers.remove(at: position - 1)
        evict(found, TweakError(.tooMany, "others are waiting and this connection has sent nothing", limit: limit))
        return true
    }

    private func evict(_ session: Session, _ error: TweakError) {
        say(error, to: session)
        // What it had sent is read first: closed over unread bytes, the error would be lost to a reset.
        _ = session.descriptor.read(into: scratch)
        close(session)
    }
}
