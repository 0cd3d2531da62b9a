// Answers single gets and sets on a fast path that gives the same replies without building lists.

import Tweaks
import TweaksWire

extension Executor {
    /// Answers a plain get or set directly. The session's output is borrowed meanwhile, so the reply goes to `bytes`.
    /// - Returns: False if it needs the normal path: batches, JSON, unknown or inaccessible paths.
    func answer(
        _ hot: FastPath, _ line: UnsafeBufferPointer<UInt8>, _ encoder: ReplyEncoder, to bytes: inout [UInt8],
        for session: Session
    ) -> Bool {
        if encoder.isJSON || !session.isAdmitted || session.changes.gesture != 0 { return false }
        let isAnswered =
            switch hot {
            case .get(let path): get(UnsafeBufferPointer(rebasing: line[path]), for: session, encoder, to: &bytes)
            case .set(let path, let value):
                set(
                    UnsafeBufferPointer(rebasing: line[path]), to: UnsafeBufferPointer(rebasing: line[value]),
                    for: session, encoder, to: &bytes)
            }
        if isAnswered {
            metrics.requests += 1
            session.input.hasSentLine = true
        }
        return isAnswered
    }

    private func get(
        _ path: UnsafeBufferPointer<UInt8>, for session: Session, _ encoder: ReplyEncoder, to bytes: inout [UInt8]
    ) -> Bool {
        // The reply would have to wait behind others.
        guard session.replies.queueIsEmpty, let (node, value, left) = registry.read(path), session.sees(node) else {
            return false
        }
        session.input.isProven = true
        encoder.appendText(
            TweakLine(node, value, .explained, timeLeft: left), revision: nil, unchanged: false, to: &bytes)
        session.appendPrompt(to: &bytes)
        return true
    }

    private func set(
        _ path: UnsafeBufferPointer<UInt8>, to value: UnsafeBufferPointer<UInt8>, for session: Session,
        _ encoder: ReplyEncoder, to bytes: inout [UInt8]
    ) -> Bool {
        // A batch collects the change; a required store delays its effect.
        if session.batch != nil || store?.isRequired == true { return false }
        guard let node = registry.node(path), session.may(.write, node.path) else { return false }
        do throws(TweakError) {
            let wanted = try node.read(String(decoding: value, as: UTF8.self), from: .typed)
            guard isReady(for: wanted, session) else { return false }
            try session.accounts.chargeCommit(session.input.lastActivity)
            beginRound()
            let outcome = try registry.commit(
                node, .set(wanted), origin: session.origin, kind: .change(session: session.number),
                at: session.input.lastActivity, delivery: .executor)
            note(outcome, session)
            send(outcome, of: node, for: session, encoder, to: &bytes)
        } catch {
            count(error)
            notifyRefused(error, session)
            send(.error(error), for: session, encoder, to: &bytes)
        }
        return true
    }

    @inline(__always)
    private func isReady(for wanted: TweakValue, _ session: Session) -> Bool {
        // The normal path checks the memory limit exactly.
        if let count = wanted.textBytes, count >= 256, !hasRoom(for: count) { return false }
        // The normal path waits for the audit, or refuses.
        return !durability.hasAudit || isAuditReady(512 + 2 * (wanted.textBytes ?? 0), session)
    }

    @inline(__always)
    private func note(_ outcome: TweakOutcome, _ session: Session) {
        session.input.isProven = true
        if outcome.didStore { session.changes.commits += 1 }
        if durability.hasAudit {
            durability.noteCommit(outcome.revision, bytes: Self.auditedBytes(outcome.old, outcome.new))
        }
    }

    private func send(
        _ outcome: TweakOutcome, of node: TweakNode, for session: Session, _ encoder: ReplyEncoder,
        to bytes: inout [UInt8]
    ) {
        let revision = outcome.revision
        let line = outcome.didStore ? TweakLine(node, outcome.new, .was(outcome.old, outcome.adjustment)) : nil
        if session.replies.queueIsEmpty, durability.isDurable(revision) {
            encoder.appendText(line, revision: revision, unchanged: line == nil, to: &bytes)
            return session.appendPrompt(to: &bytes)
        }
        let reply = line.map { .revision(revision, "", .items([.tweak($0)])) } ?? unchanged(revision)
        send(awaiting(reply, revision, session), for: session, encoder, to: &bytes)
    }

    /// Sends a short reply, as `Session.send` does.
    private func send(_ reply: Reply, for session: Session, _ encoder: ReplyEncoder, to bytes: inout [UInt8]) {
        if reply.durableRevision != nil || !session.replies.queueIsEmpty {
            return session.replies.append(reply, encoder)
        }
        _ = encoder.append(reply, to: &bytes)
        session.appendPrompt(to: &bytes)
    }
}
