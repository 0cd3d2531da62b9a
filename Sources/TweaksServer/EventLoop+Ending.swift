// How sessions end: an error that is said, the last replies on their way, the descriptor closed.

import Tweaks
import TweaksWire

extension EventLoop {
    /// An error that ends the session: it is sent, an open batch is dropped, all further input is thrown away.
    /// - Parameter reason: What the program is told; usually it follows from the error.
    func fail(_ error: TweakError, _ session: Session, _ reason: TweakSession.Reason? = nil) {
        executor.count(error)
        executor.take(.end(reason ?? .init(error)), session)
        session.isInteractive = false
        session.connection.phase = .draining(discarded: 0)
        session.dialect.prepareToEnd()
        session.send(.error(error))
        end(session)
    }

    /// An error that no request asked for; it comes after every owed reply, and the session closes.
    func say(_ error: TweakError, to session: Session) {
        guard session.isOpen else { return }
        // A prompt may stand there.
        session.leavePrompt()
        fail(error, session)
        advance(session)
    }

    /// Closes a session when its replies are sent.
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
        // Closed at once, the kernel would answer unread input with a reset, and the last reply would be lost.
        schedule(.drain, for: session, in: limits.lingerTime)
    }

    func stopWatching(_ session: Session) {
        if session.watches.isEmpty { return }
        session.watches = []
        hub.update(session)
    }

    func close(_ session: Session) {
        guard session.connection.phase != .closed else { return }
        session.connection.phase = .closed
        abandonWork(of: session)
        stopWatching(session)
        poller.remove(session.connection.descriptor.number)
        sessions.remove(session)
        weigh(session)
        session.payer.isCounted = false
        session.payer.otherAccounts = []
        // While a disk does not answer, sessions come and go.
        if executor.owing.count > 2 * sessions.count + 64 { executor.owing.removeAll { self.session($0) == nil } }
        executor.figures.sessions = sessions.count
        executor.take(.end(.lost), session)
        if crowd.isPaused { resumeAccepting() }
    }

    /// Notes that nobody waits any more for what others do for this session.
    func abandonWork(of session: Session) {
        if let running = session.work.running {
            if running.kind == .action {
                executor.abandoned.runs.insert(session.id)
            } else {
                executor.abandoned.requests.insert(session.id)
            }
        }
        session.work = .idle
    }

    // MARK: A server that stops

    func beginStopping() {
        if isStopping { return }
        isStopping = true
        schedule(.stopping, in: limits.lingerTime)
        executor.cancelRuns()
        for listener in listeners {
            poller.remove(listener.descriptor.number)
        }
        for session in sessions.all {
            sayClosing(session)
            // One that was ending before need not wait any longer for its peer.
            advance(session)
        }
    }

    /// Ends a session of a stopping server, once the reply that is under way is complete; that of an action is not waited
    /// for, since it may be the one that stops the server.
    func sayClosing(_ session: Session) {
        session.endPenalty()
        if session.work.running?.kind == .action { session.work = .idle }
        guard session.isOpen, !session.work.isBusy, session.replies.rest == nil else { return }
        say(TweakError(.closing, "the process is shutting down"), to: session)
    }

    func closeAll() {
        for session in sessions.all {
            executor.take(.end(.shutdown), session)
            close(session)
        }
    }
}

extension TweakSession.Reason {
    /// Why a session ends with this error.
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
