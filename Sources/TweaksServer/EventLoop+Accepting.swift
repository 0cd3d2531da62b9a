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
        let isFull = sessionCount >= limits.sessions && !evictOldestStranger()
        let session = makeSession(descriptor, listener)
        guard register(session) else { return }
        executor.tell(.state, session)
        if isFull {
            let text = "\(limits.sessions) sessions are open; close one, or raise the limit"
            return say(TweakError(.tooMany, text), to: session)
        }
        admit(session, listener)
        noteStranger(session.id)
        timers.add(.init(deadline: session.openedAt + limits.timeToFirstLine, session: session.id, kind: .firstLine))
        if let idle = limits.idleTime {
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
            peer = Peer(address: listener.isVersion6 ? "[::1]" : "127.0.0.1", port: port)
        }
        let session = Session(
            id: SessionID(number: nextNumber, descriptor: number), descriptor: descriptor, peer: peer,
            isDenied: scopes == nil, lineLimit: limits.lineBytes, now: .now)
        if let scopes, !scopes.isEmpty { session.grants.add(scopes, from: .peer) }
        executor.identify(session)
        return session
    }

    private func register(_ session: Session) -> Bool {
        do {
            try poller.add(session.descriptor.number, .read)
        } catch {
            return false  // The kernel has no room to watch it; letting go of it closes it.
        }
        let number = Int(session.descriptor.number)
        while sessions.count <= number { sessions.append(nil) }
        sessions[number] = session
        sessionCount += 1
        executor.figures.sessions = sessionCount
        return true
    }

    // MARK: - Too many

    /// Puts a newcomer behind the others who have not sent a line. The list must not grow with all who ever came.
    private func noteStranger(_ id: SessionID) {
        if strangers.count > 2 * sessionCount + 64 { strangers.removeAll { session($0)?.hasSentLine ?? true } }
        strangers.append(id)
    }

    /// At the limit the oldest connection that never sent a line makes room.
    private func evictOldestStranger() -> Bool {
        while !strangers.isEmpty {
            let id = strangers.removeFirst()
            guard let session = session(id), session.isOpen, !session.hasSentLine else { continue }
            say(TweakError(.tooMany, "others are waiting and this connection has sent nothing"), to: session)
            // What it had sent is read first: closed over unread bytes, the error would be lost to a reset.
            _ = session.descriptor.read(into: scratch)
            close(session)
            return true
        }
        return false
    }

    /// Out of descriptors: spends the spare one on an answer, then waits a little for others to be closed.
    private func refuseForWantOfDescriptors(_ listener: Listener) {
        executor.figures.limitsHit[.tooMany, default: 0] += 1
        spare = nil
        if case .connection(let descriptor) = listener.accept() {
            let text = "error too-many this process has no descriptors left; close something and try again\n"
            _ = Array(text.utf8).withUnsafeBytes { descriptor.write($0) }
            descriptor.endOutput()
        }
        spare = Self.makeSpare()
        acceptsAgainAt = .now + .milliseconds(100)
        for listener in listeners { poller.modify(listener.descriptor.number, []) }
    }

    func resumeAccepting() {
        acceptsAgainAt = nil
        if stopDeadline != nil { return }
        if spare == nil { spare = Self.makeSpare() }
        for listener in listeners { poller.modify(listener.descriptor.number, .read) }
    }

    static func makeSpare() -> Descriptor? {
        let number = Platform.openNull()
        return number < 0 ? nil : Descriptor(number)
    }
}
