// Ends sessions: sends the error and the last replies, then closes the descriptor.

import Tweaks
import TweaksWire

extension EventLoop {
    /// Ends a session with an error: sends it, drops an open batch, and discards further input.
    /// - Parameter reason: The reason reported to the program; by default it follows from the error.
    func fail(_ error: TweakError, _ session: Session, _ reason: TweakSession.Reason? = nil) {
        executor.count(error)
        executor.apply(.end(reason ?? .init(error)), session)
        session.isInteractive = false
        session.connection.phase = .draining(discarded: 0)
        session.dialect.prepareToEnd()
        session.send(.error(error))
        end(session)
    }

    /// Sends an unsolicited error after all pending replies, and closes the session.
    func sendAndClose(_ error: TweakError, to session: Session) {
        guard session.isOpen else { return }
        // There may be a prompt on the current line.
        session.leavePrompt()
        fail(error, session)
        advance(session)
    }

    /// Closes a session after its replies are sent.
    func finish(_ session: Session) {
        guard session.isOpen else { return }
        session.connection.phase = .draining(discarded: 0)
        session.output.append { session.dialect.end(to: &$0) }
        end(session)
    }

    private func end(_ session: Session) {
        session.batch = nil
        session.dialect.forgetInput()
        stopWatching(session)
        // Closing with unread input would cause a reset, and the client would lose the last reply.
        schedule(.drain, for: session, in: limits.lingerTime)
    }

    /// Records that everything is sent: from here on the session only waits for its peer to close, and takes no place
    /// from others.
    func linger(_ session: Session) {
        session.accounts.isCounted = false
        session.accounts.lingersSince = now
        sessions.lingeringCount += 1
    }

    /// Takes back what it shows and what it is shown: nothing of a session that ends stays behind.
    func stopWatching(_ session: Session) {
        executor.endPreview(with: session)
        if session.watches.isEmpty { return }
        session.watches = []
        hub.update(session)
    }

    /// Closes a session whose peer has ended its side. If the peer has not read what the kernel keeps for it, it has
    /// limited time to do so.
    func closeWhenRead(_ session: Session) {
        if isStopping || !session.hasUnsent() { return close(session) }
        schedule(.drain, for: session, in: limits.lingerTime)
        // Both directions have ended, which the poller would report all the time.
        poller.remove(session.connection.descriptor.number)
        session.connection.interest = []
    }

    /// - Parameter isOverdue: The peer has had its time to accept what was sent.
    func close(_ session: Session, isOverdue: Bool = false) {
        guard session.connection.phase != .closed else { return }
        session.connection.phase = .closed
        // The kernel would keep for minutes what a client does not read. The replies of a stopping server are its last.
        if !isStopping, session.hasUnsent(withSent: isOverdue) {
            Platform.resetWhenClosed(session.connection.descriptor.number)
        }
        orphanWork(of: session)
        stopWatching(session)
        poller.remove(session.connection.descriptor.number)
        sessions.remove(session)
        fitBuffers()
        chargeMemory(session)
        if session.accounts.isLingering { sessions.lingeringCount -= 1 }
        session.accounts.isCounted = false
        session.accounts.lingersSince = nil
        session.accounts.others = []
        // Sessions come and go while a disk does not answer.
        if executor.awaitingDurability.count > 2 * sessions.count + 64 {
            executor.awaitingDurability.removeAll { self.session($0) == nil }
        }
        executor.metrics.sessions = sessions.count
        executor.apply(.end(.lost), session)
        if admission.isPaused { resumeAccepting() }
    }

    /// Records that the session no longer waits for its background work.
    func orphanWork(of session: Session) {
        // A change that waits for the audit has not begun, and is dropped.
        if let running = session.work.running, !running.isAwaitingAudit {
            if running.kind == .action {
                executor.orphaned.runs.insert(session.id)
            } else {
                executor.orphaned.requests.insert(session.id)
            }
        }
        session.work = .idle
    }

    // MARK: - Dismissal

    /// Ends the session with this number on behalf of another session.
    func kick(_ number: UInt64, by session: Session) {
        let victims = sessions.all.filter { $0.number == number && $0.credentials.lifecycle.state.reason == nil }
        if victims.isEmpty {
            let text = "session \(number) is not connected; the command sessions lists those that are"
            executor.metrics.refused += 1
            return session.send(.error(TweakError(.conflict, text, isMissing: true)))
        }
        session.input.isProven = true
        session.send(.ok("kicked \(number)", [("kicked", .count(number))]))
        executor.notify(.kicked(number), session)
        for victim in victims { dismiss(victim, TweakError(.closing, "kicked by \(session.origin)"), .kicked) }
    }

    /// Ends a session for an external reason. Work in progress may finish first, within the linger time.
    func dismiss(_ session: Session, _ error: TweakError, _ reason: TweakSession.Reason) {
        guard executor.apply(.end(reason), session) else { return }
        session.batch = nil
        let cancellation = session.work.running?.cancellation
        if reason == .kicked { cancellation?.end() } else { cancellation?.revoke() }
        stopWatching(session)
        session.endAuthenticationDelay()
        // The error takes the place of its reply.
        if session.work.isSweeping { session.work = .idle }
        if session.work.isBusy {
            session.work = session.work.updated { $0.closeReason = error }
            schedule(.closeReason, for: session, in: limits.lingerTime)
        } else {
            sendCloseReason(to: session, error)
        }
    }

    private func sendCloseReason(to session: Session, _ error: TweakError) {
        if session.dialect.isStreaming {
            // The error is sent as an event of its own.
            session.withhold(error)
            sendAndClose(error, to: session)
        } else if session.replies.rest != nil {
            // The reply in progress ends with the error, so no further status line is needed.
            session.isInteractive = false
            session.withhold(error)
            finish(session)
            advance(session)
        } else {
            sendAndClose(error, to: session)
        }
    }

    /// Ends a dismissed session whose work takes too long.
    func endDismissal(_ session: Session) {
        guard session.isOpen, let error = session.work.closeReason else { return }
        orphanWork(of: session)
        sendCloseReason(to: session, error)
    }

    // MARK: - Stopping the server

    func beginStopping() {
        if isStopping { return }
        isStopping = true
        readiness.reach(.stopping)
        schedule(.stopping, in: limits.lingerTime)
        executor.cancelRuns()
        for listener in listeners {
            poller.remove(listener.descriptor.number)
        }
        for session in sessions.all {
            closeForShutdown(session)
            // A session that was ending before need not wait for its peer any longer.
            advance(session)
        }
    }

    /// Ends a session of a stopping server after the reply in progress is complete. Does not wait for actions, since
    /// one of them may stop the server.
    func closeForShutdown(_ session: Session) {
        session.endAuthenticationDelay()
        if session.work.running?.kind == .action { session.work = .idle }
        guard session.isOpen, !session.work.isBusy, session.replies.rest == nil else { return }
        sendAndClose(TweakError(.closing, "the process is shutting down"), to: session)
    }

    func closeAll() {
        for session in sessions.all {
            executor.apply(.end(.shutdown), session)
            close(session)
        }
    }
}

extension Session {
    /// Whether the kernel keeps output that its peer has not read. That of a Unix socket is in the peer's queue already.
    func hasUnsent(withSent: Bool = false) -> Bool {
        !identity.peer.isLocal
            && Platform.unsentBytes(connection.descriptor.number, withSent: withSent) > 0
    }
}

extension TweakSession.Reason {
    init(_ error: TweakError) {
        switch error.code {
        case .tooMany, .tooLong: self = .limit
        case .timeout: self = .idle
        case .closing: self = .shutdown
        case .denied: self = .denied
        default: self = .stranger
        }
    }
}
