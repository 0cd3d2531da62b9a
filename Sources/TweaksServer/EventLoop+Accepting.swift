// New connections: who is let in, and what happens when there are too many.

import Tweaks

import TweaksSystem

extension EventLoop {
    func accept(from listener: Listener) {
        if crowd.isPaused { return }
        for _ in 0..<64 {
            switch listener.accept() {
            case .connection(let descriptor): open(descriptor, from: listener)
            case .nobody: return
            case .exhausted: return refuseForWantOfDescriptors(listener)
            }
        }
    }

    /// - Parameter isLast: There are no descriptors behind this one, so that it is kept only for who may do everything.
    private func open(_ descriptor: Descriptor, from listener: Listener, isLast: Bool = false) {
        executor.figures.accepted += 1
        let session = makeSession(descriptor, listener)
        let refusal = isLast ? takesKeptPlace(session) ? nil : Self.noDescriptors : makeRoom(for: session)
        if let refusal, isLast || isOverrun(by: session.account) { return turnAway(descriptor, refusal, listener) }
        guard register(session) else { return turnAway(descriptor, Self.noDescriptors, listener) }
        executor.tell(.state, session)
        if let refusal { return say(refusal, to: session) }
        admit(session, listener)
        noteNewcomer(session)
        // Of those who are there, each has a few at most.
        timers.compact(most: 8 * sessions.count + 64) { self.session($0) != nil }
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
            let port = SocketAddress.port(of: number, peer: true) ?? 0
            let address = listener.isLoopback ? nil : SocketAddress.host(of: number)
            peer = Peer(
                address: address ?? (listener.isVersion6 ? "[::1]" : "127.0.0.1"), port: port,
                listener.front == nil ? .tcp : .http)
        }
        let session = Session(
            id: SessionID(number: sessions.makeNumber(), descriptor: number), descriptor: descriptor, peer: peer,
            isDenied: scopes == nil, now: now,
            dialect: listener.makeDialect(number, executor.identity.instance) ?? LineDialect(limit: limits.lineBytes))
        if let scopes, !scopes.isEmpty { session.grants.add(scopes, from: .peer) }
        executor.identify(session)
        return session
    }

    private func register(_ session: Session) -> Bool {
        do {
            try poller.add(session.connection.descriptor.number, .read)
        } catch {
            return false
        }
        sessions.insert(session)
        session.payer.isCounted = true
        executor.figures.sessions = sessions.count
        return true
    }

    // MARK: - No descriptors

    /// Out of descriptors: spends the spare one on an answer, or on who comes to mend that; then waits a little for others
    /// to be closed.
    private func refuseForWantOfDescriptors(_ listener: Listener) {
        crowd.spare = nil
        executor.figures.hit(.descriptors)
        // A Unix socket first: those who may do everything come there.
        for listener in listeners.filter({ $0.isUnix && $0 !== listener }) + [listener] {
            guard case .connection(let descriptor) = listener.accept() else { continue }
            open(descriptor, from: listener, isLast: true)
            break
        }
        crowd.spare = Self.makeSpare()
        pauseAccepting()
        // Where it cannot be said, more is heard of newcomers meanwhile, and ignored.
        for listener in listeners { try? poller.modify(listener.descriptor.number, []) }
    }

    private static var noDescriptors: TweakError {
        TweakError(
            .tooMany, "this process has no descriptors left; close something and try again", limit: .descriptors)
    }

    func resumeAccepting() {
        crowd.isPaused = false
        if isStopping { return }
        if crowd.spare == nil { crowd.spare = Self.makeSpare() }
        do {
            for listener in listeners { try poller.modify(listener.descriptor.number, .read) }
        } catch {
            pauseAccepting()
        }
    }

    private func pauseAccepting() {
        crowd.isPaused = true
        schedule(.accepting, in: .milliseconds(100))
    }

    static func makeSpare() -> Descriptor? {
        let number = Platform.openNull()
        return number < 0 ? nil : Descriptor(number)
    }
}
