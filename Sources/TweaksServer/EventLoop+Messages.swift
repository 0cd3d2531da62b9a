// What other threads have to say to the I/O thread: actions that ended, disks that have written, tokens that changed.

import Tweaks
import TweaksWire

extension EventLoop {
    func handle(_ message: Mailbox.Message) {
        if let id = message.worksFor { executor.abandoned.remove(id) }
        carryOut(message)
        if let id = message.worksFor, !isPending(id) { executor.endPending(id) }
    }

    /// Whether work for a session is under way: what was read may have to be written next, or the session has begun
    /// something else meanwhile. A wrong token that is to cost time is no work.
    private func isPending(_ id: SessionID) -> Bool {
        if let session = session(id) { return session.work.running != nil }
        return executor.abandoned.contains(id)
    }

    private func carryOut(_ message: Mailbox.Message) {
        switch message {
        case .stop: beginStopping()
        case .actionEnded(let id, let result):
            executor.runs[id] = nil
            if session(id)?.work.running != nil { answer(id, executor.reply(result)) }
        case .judged(let id, let finish):
            guard let session = session(id), let running = session.work.running else { return }
            if let refusal = running.permit?.refusal { return answer(id, .error(refusal)) }
            switch finish(executor, session) {
            case .reply(let reply): answer(id, reply)
            case .running(let next): session.work = session.work.goingOn(with: next)
            default: break
            }
        case .answered(let id, let reply):
            answer(id, session(id)?.work.running?.permit?.secrecy.map { .error($0) } ?? reply)
        case .found(let id, let found):
            if let session = session(id) { answer(id, executor.reply(found, session)) }
        case .proposed(let id, let changes, let failure):
            guard let session = session(id), session.work.running != nil else {
                // Whoever wanted it is gone. Left in the file, it would cover what others set from now on.
                if failure == nil { executor.store?.withdraw(changes) }
                return
            }
            // Nil: it has to be written again.
            if let reply = executor.finishProposal(failure, session) { answer(id, reply) }
        case .saved(let status):
            executor.evidence.note(saved: status)
            settle()
        case .audited(let status):
            executor.evidence.note(audited: status, now)
            settle()
        case .asked(let id, let request): session(id).map { finishAsking(request, $0) }
        case .decided(let id, let request): session(id).map { finishWaiting(request, $0) }
        case .tokensChanged(let table): tokensChanged(table)
        }
    }

    func answer(_ id: SessionID, _ reply: Reply) {
        guard let session = session(id), let running = session.work.running else { return }
        session.work = session.work.ended
        if session.isOpen {
            // A reload promises its revision, too, as does what was read elsewhere first.
            if let revision = reply.awaits {
                executor.evidence.ask(revision, now)
                executor.owe(session)
            }
            if case .error(let error) = reply.status {
                executor.count(error)
                if running.isChange { executor.tellRefused(error, session) }
            }
            session.send(reply)
        }
        advance(session)
    }

    /// Sends what was waiting for disk or audit.
    func settle() {
        let waiting = executor.owing
        executor.owing = []
        for id in waiting {
            guard let session = session(id) else { continue }
            session.replies.isOwed = false
            advance(session)
            if !session.replies.queueIsEmpty { executor.owe(session) }
        }
    }
}
