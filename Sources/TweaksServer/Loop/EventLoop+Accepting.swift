// Accepts connections: makes room for them, or evicts and rejects some.

import Tweaks
import TweaksSystem

extension EventLoop {
    func accept(from listener: Listener) {
        if admission.isPaused { return }
        for _ in 0..<64 {
            switch listener.accept() {
            case .connection(let descriptor): open(descriptor, from: listener)
            case .wouldBlock: return
            case .exhausted: return handleDescriptorExhaustion(listener)
            }
        }
    }

    /// - Parameter isLast: This is the last descriptor, so only a client with full rights may keep it.
    private func open(_ descriptor: Descriptor, from listener: Listener, isLast: Bool = false) {
        let isProbe = listener.endpoint?.needsTokens == false
        open(makeSession(descriptor, listener), wantsToken: listener.wantsToken, isLast: isLast, isProbe: isProbe) {
            listener.endpoint?.refusal($0) ?? Array("error \($0)\n".utf8)
        }
    }

    /// - Parameters:
    ///   - isProbe: Whether it can only look whether the process lives: it may when no other session has a place left.
    ///   - text: What a client is sent that is not even kept until it has read why it was refused.
    func open(
        _ session: Session, wantsToken: Bool, isLast: Bool = false, isProbe: Bool = false,
        refusal text: (TweakError) -> [UInt8]
    ) {
        executor.metrics.accepted += 1
        let refusal: TweakError?
        if isLast {
            refusal = claimsReservedSlot(session) ? nil : Self.noDescriptors
        } else {
            refusal = makeRoom(for: session, beyond: isProbe ? Self.probePlaces : 0)
        }
        if let refusal, isLast || isOverloaded(by: session.account) { return reject(session, refusal, text) }
        guard register(session) else { return reject(session, Self.noDescriptors, text) }
        executor.notify(.state, session)
        if let refusal { return sendAndClose(refusal, to: session) }
        admit(session, wantsToken: wantsToken)
        limitUnauthenticated(session)
        // Each current session has only a few timers.
        timers.compact(limit: 8 * sessions.count + 64) { self.session($0) != nil }
        schedule(.firstLine, for: session, in: limits.timeToFirstLine)
        if let idle = idleTime(session) { schedule(.idle, for: session, in: idle) }
    }

    private func makeSession(_ descriptor: Descriptor, _ listener: Listener) -> Session {
        let number = descriptor.number
        let peer: Peer
        var scopes: [TweakScope]? = listener.wantsToken ? [] : [.admin]
        if listener.isUnix {
            let user = UserNamespace.current.known(Platform.peerUser(number))
            peer = Peer(user)
            scopes = executor.hooks.access.scopes(of: user) { Platform.peerGroups(number) }
        } else {
            var on: Int32 = 1
            setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            peer = internetPeer(number, listener)
        }
        let session = Session(
            id: SessionID(number: sessions.makeNumber(), descriptor: number), descriptor: descriptor, peer: peer,
            isDenied: scopes == nil, now: now,
            dialect: listener.makeDialect(number, executor.identity.instance, readiness)
                ?? LineDialect(limit: limits.lineBytes))
        if let scopes, !scopes.isEmpty { session.grants.add(scopes, from: .peer) }
        executor.identify(session)
        return session
    }

    private func internetPeer(_ number: Int32, _ listener: Listener) -> Peer {
        let address = SocketAddress.of(number, peer: true)
        var host = listener.isLoopback ? nil : address?.host
        if host == nil { host = listener.isVersion6 ? "[::1]" : "127.0.0.1" }
        var user: UInt32?
        if listener.isLoopback {
            user = executor.hooks.loopbackUser.map { $0() } ?? loopbackUsers.user(of: number)
        }
        return Peer(
            address: host ?? "", port: address?.port ?? 0, user: user, listener.endpoint == nil ? .tcp : .http)
    }

    /// Admits a new session, or requires it to show a token first.
    private func admit(_ session: Session, wantsToken: Bool) {
        executor.apply(.identify, session)
        // Its first line is answered with the reason for the refusal.
        if session.identity.isDenied { return }
        guard wantsToken else {
            executor.apply(.open, session)
            return
        }
        session.credentials.needsToken = true
        session.dialect.limitRequests(to: min(limits.unauthenticatedLineBytes, limits.lineBytes))
        schedule(.authentication, for: session, in: limits.timeToAuthenticate)
    }

    private func register(_ session: Session) -> Bool {
        do {
            try poller.add(session.connection.descriptor.number, .read)
        } catch {
            return false
        }
        sessions.insert(session)
        fitBuffers(session)
        session.accounts.isCounted = true
        executor.metrics.sessions = sessions.count
        return true
    }

    // MARK: - No descriptors

    /// Handles running out of descriptors: spends the reserve on an error, or on an operator who can fix it; then
    /// pauses until others are closed.
    private func handleDescriptorExhaustion(_ listener: Listener) {
        admission.reserveDescriptor = nil
        executor.metrics.hit(.descriptors)
        // The Unix socket first: operators connect there.
        for listener in listeners.filter({ $0.isUnix && $0 !== listener }) + [listener] {
            guard case .connection(let descriptor) = listener.accept() else { continue }
            open(descriptor, from: listener, isLast: true)
            break
        }
        admission.reserveDescriptor = Self.openReserveDescriptor()
        pauseAccepting()
        // If this fails, the loop keeps receiving events of new connections, and ignores them.
        for listener in listeners { try? poller.modify(listener.descriptor.number, []) }
    }

    private static var noDescriptors: TweakError {
        TweakError(
            .tooMany, "this process has no descriptors left; close something and try again", limit: .descriptors)
    }

    func resumeAccepting() {
        admission.isPaused = false
        if isStopping { return }
        if admission.reserveDescriptor == nil { admission.reserveDescriptor = Self.openReserveDescriptor() }
        do {
            for listener in listeners { try poller.modify(listener.descriptor.number, .read) }
        } catch {
            pauseAccepting()
        }
    }

    private func pauseAccepting() {
        admission.isPaused = true
        schedule(.accepting, in: .milliseconds(100))
    }

    static func openReserveDescriptor() -> Descriptor? {
        let number = Platform.openNull()
        return number < 0 ? nil : Descriptor(number)
    }

    // MARK: - Room

    /// The places of probes beyond the limit of sessions. One that was refused would have the process restarted.
    private static let probePlaces = 8

    /// Makes room for a new session if possible.
    /// - Parameter more: The places that it may take beyond the limit of sessions.
    /// - Returns: The error if there is none.
    func makeRoom(for newSession: Session, beyond more: Int = 0) -> TweakError? {
        closeLingering()
        guard let refusal = admissionError(newSession, more) else { return nil }
        return claimsReservedSlot(newSession) ? nil : refusal
    }

    private func admissionError(_ newSession: Session, _ more: Int) -> TweakError? {
        let account = newSession.account
        if account.sessions >= limits.sessionsPerPeer, !evictSilentSession(.sessionsPerPeer, of: account) {
            return .tooMany(
                .sessionsPerPeer, "\(limits.sessionsPerPeer) sessions of yours are open; close one, or raise the limit")
        }
        if sessions.count - sessions.lingeringCount - more >= limits.sessions, !evictSilentSession(.sessions) {
            return .tooMany(.sessions, "\(limits.sessions) sessions are open; close one, or raise the limit")
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
        while sessions.count - limits.refusedSessions >= limits.sessions, sessions.lingeringCount > 0 {
            let lingering = sessions.all.filter(\.accounts.isLingering)
            let since = { (session: Session) in session.accounts.lingersSince ?? self.now }
            guard let session = lingering.min(by: { since($0) < since($1) }) else { return }
            discardInput(session)
            close(session)
        }
    }

    /// Reads what has arrived: closing with unread bytes would cause a reset, and the client would lose the error.
    private func discardInput(_ session: Session) { _ = session.connection.descriptor.read(into: scratch) }

    func reject(_ session: Session, _ error: TweakError, _ text: (TweakError) -> [UInt8]) {
        executor.count(error)
        let descriptor = session.connection.descriptor
        _ = text(error).withUnsafeBytes { descriptor.write($0) }
        descriptor.endOutput()
        // Closing with unread bytes would cause a reset, and the client would lose the error.
        _ = descriptor.read(into: scratch)
    }

    // MARK: - Eviction

    /// Makes room for an unauthenticated session. Those whose first message names a known key have as many places of
    /// their own, which no others can take.
    private func limitUnauthenticated(_ newSession: Session) {
        let limit = max(limits.unauthenticatedSessions, 1)
        while sessions.count >= limit, isUnauthenticated(newSession), freePlace(for: newSession, limit) {}
    }

    private func oldestFirst(_ condition: (Session) -> Bool) -> [Session] {
        sessions.all.filter(condition).sorted { $0.id.number < $1.id.number }
    }

    private func isUnauthenticated(_ session: Session) -> Bool {
        session.isOpen && (!session.isAdmitted || session.identity.isDenied)
            && session.credentials.lifecycle.state.reason == nil
    }

    /// Ends an unauthenticated session of those that have more places than the limit.
    /// - Returns: False if there are none.
    private func freePlace(for newSession: Session, _ limit: Int) -> Bool {
        let waiting = oldestFirst { $0 !== newSession && isUnauthenticated($0) }
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
        evict(session, .tooMany(.unauthenticatedSessions, text))
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
        let isSilent = { (session: Session) in session.isOpen && !session.input.hasSentLine }
        for session in oldestFirst({ isSilent($0) && (account == nil || account === $0.account) }) {
            // Its first line may have arrived by now.
            hear(session)
            if !isSilent(session) { continue }
            let text = "others are waiting, and this connection has sent nothing; connect again"
            evict(session, .tooMany(limit, text))
            return true
        }
        return false
    }

    private func evict(_ session: Session, _ error: TweakError) {
        sendAndClose(error, to: session)
        discardInput(session)
        close(session)
    }

    // MARK: - Socket files

    static let socketCheckInterval = Duration.seconds(10)

    func scheduleSocketCheck() {
        if listeners.contains(where: \.isUnix) { schedule(.sockets, in: Self.socketCheckInterval) }
    }

    /// Checks that clients still find the sockets: programs that clean a temporary directory remove them. As long as
    /// nothing is missing, the thread of the clients makes two calls for a socket, which read no file.
    func checkSockets() {
        if isStopping { return }
        for listener in listeners {
            guard let path = listener.path, let presence = listener.presence else { continue }
            switch presence {
            case .present:
                socketProblems[path] = nil
                listener.renewLock()
            case .missing: remake(listener, path)
            case .unknown(let reason):
                report(
                    "the socket \(path) cannot be looked at: \(reason); clients may not reach this process there until this "
                        + "user can search the directories on its path", path)
            case .replaced:
                report(
                    "the socket \(path) was replaced by another file, so clients no longer reach this process there; "
                        + "remove that file, and this socket is made again", path)
            }
        }
        executor.hooks.onSocketCheck()
        scheduleSocketCheck()
    }

    private func remake(_ listener: Listener, _ path: String) {
        // Clients that connected before the removal.
        accept(from: listener)
        poller.remove(listener.descriptor.number)
        do throws(ServerError) {
            try listener.remakeFile()
            socketProblems[path] = nil
            executor.hooks.report("the socket \(path) was removed, and is made again; let nothing clean its directory")
        } catch {
            report("the socket \(path) was removed, and cannot be made again: \(error)", path)
        }
        // Without it no client is accepted; the next check tries again.
        try? poller.add(listener.descriptor.number, admission.isPaused ? [] : .read)
    }

    private func report(_ text: String, _ path: String) {
        if socketProblems.updateValue(text, forKey: path) != text { executor.hooks.report(text) }
    }
}
