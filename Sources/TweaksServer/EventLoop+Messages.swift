// Handles messages from other threads: finished actions, completed writes, changed tokens.

import Tweaks
import TweaksWire

extension EventLoop {
    func handle(_ message: Mailbox.Message) {
        if let id = message.sessionOfCompletedWork { executor.orphaned.remove(id) }
        carryOut(message)
        if let id = message.sessionOfCompletedWork, !isPending(id) { executor.endPending(id) }
    }

    /// Whether a session has background work in progress: a write may follow a read, or the session has begun something
    /// else. The delay after a wrong token is not work.
    private func isPending(_ id: SessionID) -> Bool {
        if let session = session(id) { return session.work.running != nil }
        return executor.orphaned.contains(id)
    }

    private func carryOut(_ message: Mailbox.Message) {
        switch message {
        case .stop: beginStopping()
        case .actionEnded(let id, let result):
            executor.runs[id] = nil
            if session(id)?.work.running != nil { answer(id, executor.reply(result)) }
        case .validated(let id, let finish):
            guard let session = session(id), let running = session.work.running else { return }
            if let refusal = running.cancellation?.refusal { return answer(id, .error(refusal)) }
            switch finish(executor, session) {
            case .reply(let reply): answer(id, reply)
            case .running(let next): session.work = session.work.continuing(with: next)
            default: break
            }
        case .answered(let id, let reply):
            answer(id, session(id)?.work.running?.cancellation?.secrecy.map { .error($0) } ?? reply)
        case .found(let id, let found):
            if let session = session(id) { answer(id, executor.reply(found, session)) }
        case .proposed(let id, let changes, let failure):
            guard let session = session(id), session.work.running != nil else {
                // The session has ended. Left in the file, the values would override what others set from now on.
                if failure == nil { executor.store?.withdraw(changes) }
                return
            }
            // Nil means that it is written again.
            if let reply = executor.finishProposal(failure, session) { answer(id, reply) }
        case .saved(let status):
            executor.durability.note(saved: status)
            sendWaitingReplies()
        case .audited(let status):
            executor.durability.note(audited: status, now)
            sendWaitingReplies()
            resumeAudited()
        case .asked(let id, let request): session(id).map { finishAsking(request, $0) }
        case .decided(let id, let request): session(id).map { finishWaiting(request, $0) }
        case .tokensChanged(let table): tokensChanged(table)
        }
    }

    func answer(_ id: SessionID, _ reply: Reply) {
        guard let session = session(id), session.work.running != nil else { return }
        endWork(of: session, reply)
        advance(session)
    }

    /// Sends the reply to background work, and leaves what the session has sent meanwhile for later.
    private func endWork(of session: Session, _ reply: Reply) {
        guard let running = session.work.running else { return }
        session.work = session.work.ended
        if session.isOpen {
            // A reload and background work promise a revision as well.
            if let revision = reply.durableRevision {
                executor.durability.request(revision, now)
                executor.registerForDurability(session)
            }
            if case .error(let error) = reply.status {
                executor.count(error)
                if running.isChange { executor.notifyRefused(error, session) }
            }
            session.send(reply)
        }
    }

    /// Continues with the changes that were waiting for the audit, in their order. Sessions go on only when all have been
    /// tried: the next change of one would take the room of the others.
    func resumeAudited() {
        let waiting = executor.awaitingAudit
        executor.awaitingAudit = []
        var answered: [Session] = []
        for id in waiting {
            guard let session = session(id), let reply = executor.resumeAudited(session) else { continue }
            endWork(of: session, reply)
            answered.append(session)
        }
        for session in answered { advance(session) }
    }

    /// Sends the replies that were waiting for disk or audit.
    func sendWaitingReplies() {
        let waiting = executor.awaitingDurability
        executor.awaitingDurability = []
        for id in waiting {
            guard let session = session(id) else { continue }
            session.replies.isAwaitingDurability = false
            advance(session)
            if !session.replies.queueIsEmpty { executor.registerForDurability(session) }
        }
    }
}
