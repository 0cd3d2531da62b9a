// New connections: who is let in, and what happens when there are too many.

import Tweaks

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension EventLoop {
    func accept(from listener: Listener) {
        if acceptsAgainAt != nil { return }
        for _ in 0..<64 {
            switch listener.accept() {
            case .connection(let descriptor): open(descriptor, from: listener)
            case .nobody: return
            case .exhausted: return refuseForWantOfDescriptors(listener)
            }
        }
    }

    private func open(_ descriptor: Descriptor, from listener: Listener) {
        executor.figures.accepted += 1
        let session = makeSession(descriptor, listener)
        let refusal = makeRoom(for: session)
        if let refusal, isOverrun(by: session.peer.culprit) { return turnAway(descriptor, refusal, listener) }
        guard register(session) else { return turnAway(descriptor, Self.noDescriptors, listener) }
        executor.tell(.state, session)
        if let refusal { return say(refusal, to: session) }
        admit(session, listener)
        noteNewcomer(session)
        // Of those who are there, each has a few at most.
        timers.compact(most: 8 * sessionCount + 64) { self.session($0) != nil }
        timers.add(.init(deadline: session.openedAt + limits.timeToFirstLine, session: session.id, kind: .firstLine))
        if let idle = idleTime(session) {
            timers.add(.init(deadline: session.openedAt + idle, session: session.id, kind: .idle))
        }
    }

    private func makeSession(_ descriptor: Descriptor, _ listener: Listener) -> Session {
        nextNumber += 1
        let number = descriptor.number
        let peer: Peer
        var scopes: [TweakScope]? = listener.wantsToken ? [] : [.admin]
        if listener.isUnix {
            let user = Platform.peerUser(number)
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
            id: SessionID(number: nextNumber, descriptor: number), descriptor: descriptor, peer: peer,
            isDenied: scopes == nil, lineLimit: limits.lineBytes, now: clock(),
            dialect: listener.makeDialect(number, executor.identity.instance))
        if let scopes, !scopes.isEmpty { session.grants.add(scopes, from: .peer) }
        executor.identify(session)
        return session
    }

    private func register(_ session: Session) -> Bool {
        do {
            try poller.add(session.descriptor.number, .read)
        } catch {
            return false
        }
        let number = Int(session.descriptor.number)
        while sessions.count <= number { sessions.append(nil) }
        sessions[number] = session
        sessionCount += 1
        sessionsOfPeer[session.peer.culprit, default: 0] += 1
        executor.figures.sessions = sessionCount
        return true
    }

    // MARK: - No descriptors

    /// Out of descriptors: spends the spare one on an answer, then waits a little for others to be closed.
    private func refuseForWantOfDescriptors(_ listener: Listener) {
        spare = nil
        if case .connection(let descriptor) = listener.accept() {
            turnAway(descriptor, Self.noDescriptors, listener)
        } else {
            executor.figures.hit(.descriptors)
        }
        spare = Self.makeSpare()
        acceptsAgainAt = clock() + Self.pause
        // Where it cannot be said, more is heard of newcomers meanwhile, and ignored.
        for listener in listeners { try? poller.modify(listener.descriptor.number, []) }
    }

    private static var noDescriptors: TweakError {
        TweakError(
            .tooMany, "this process has no descriptors left; close something and try again", limit: .descriptors)
    }

    func resumeAccepting() {
        acceptsAgainAt = nil
        if stopDeadline != nil { return }
        if spare == nil { spare = Self.makeSpare() }
        do {
            for listener in listeners { try poller.modify(listener.descriptor.number, .read) }
        } catch {
            acceptsAgainAt = clock() + Self.pause
        }
    }

    private static let pause = Duration.milliseconds(100)

    static func makeSpare() -> Descriptor? {
        let number = Platform.openNull()
        return number < 0 ? nil : Descriptor(number)
    }
}
