// Accepts new connections, and handles running out of descriptors.

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
        executor.metrics.accepted += 1
        let session = makeSession(descriptor, listener)
        let refusal = isLast ? claimsReservedSlot(session) ? nil : Self.noDescriptors : makeRoom(for: session)
        if let refusal, isLast || isOverloaded(by: session.account) { return reject(descriptor, refusal, listener) }
        guard register(session) else { return reject(descriptor, Self.noDescriptors, listener) }
        executor.notify(.state, session)
        if let refusal { return sendAndClose(refusal, to: session) }
        admit(session, listener)
        trackNewSession(session)
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
            dialect: listener.makeDialect(number, executor.identity.instance) ?? LineDialect(limit: limits.lineBytes))
        if let scopes, !scopes.isEmpty { session.grants.add(scopes, from: .peer) }
        executor.identify(session)
        return session
    }

    private func internetPeer(_ number: Int32, _ listener: Listener) -> Peer {
        let port = SocketAddress.port(of: number, peer: true) ?? 0
        let address = listener.isLoopback ? nil : SocketAddress.host(of: number)
        return Peer(
            address: address ?? (listener.isVersion6 ? "[::1]" : "127.0.0.1"), port: port,
            user: listener.isLoopback ? loopbackUser(of: number) : nil, listener.endpoint == nil ? .tcp : .http)
    }

    private func loopbackUser(of connection: Int32) -> UInt32? {
        executor.hooks.loopbackUser.map { $0() } ?? loopbackUsers.user(of: connection)
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
}
