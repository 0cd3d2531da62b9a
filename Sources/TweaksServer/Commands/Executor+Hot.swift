// The short way for single gets and sets: the same answers without the lists in between.

import Tweaks
import TweaksWire

extension Executor {
    /// Answers a plain get or set at once. Meanwhile the session's output is not its own: what is said goes to `bytes`.
    /// - Returns: False when it needs the ordinary way: batches, JSON, paths that are unknown or out of reach.
    func answer(
        _ hot: HotLine, _ line: UnsafeBufferPointer<UInt8>, _ encoder: ReplyEncoder, to bytes: inout [UInt8],
        for session: Session
    ) -> Bool {
        if encoder.isJSON || !session.isAdmitted { return false }
        let isAnswered =
            switch hot {
            case .get(let path): get(UnsafeBufferPointer(rebasing: line[path]), encoder, &bytes, session)
            case .set(let path, let value):
                set(
                    UnsafeBufferPointer(rebasing: line[path]), UnsafeBufferPointer(rebasing: line[value]), encoder,
                    &bytes, session)
            }
        if isAnswered {
            figures.requests += 1
            session.input.hasSentLine = true
        }
        return isAnswered
    }

    private func get(
        _ path: UnsafeBufferPointer<UInt8>, _ encoder: ReplyEncoder, _ bytes: inout [UInt8], _ session: Session
    ) -> Bool {
        // It would have to wait behind others.
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
        _ path: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, _ encoder: ReplyEncoder,
        _ bytes: inout [UInt8], _ session: Session
    ) -> Bool {
        // A batch collects it; and what is written first takes effect later.
        if session.batch != nil || store?.isRequired == true { return false }
        guard let node = registry.node(path), session.may(.write, node.path) else { return false }
        do throws(TweakError) {
            let wanted = try node.read(String(decoding: value, as: UTF8.self), from: .person)
            // What may not fit is looked at more closely on the ordinary way.
            if let count = wanted.textBytes, count >= 256, !hasRoom(for: count) { return false }
            try spend(session, session.input.lastActivity)
            beginRound()
            let outcome = try registry.commit(
                node, .set(wanted), origin: session.origin, kind: .change(session: session.number),
                at: session.input.lastActivity, delivery: .carrier)
            session.input.isProven = true
            if outcome.didStore { session.changes.commits += 1 }
            say(outcome, of: node, encoder, &bytes, session)
        } catch {
            count(error)
            tellRefused(error, session)
            say(.error(error), encoder, &bytes, session)
        }
        return true
    }

    private func say(
        _ outcome: TweakOutcome, of node: TweakNode, _ encoder: ReplyEncoder, _ bytes: inout [UInt8],
        _ session: Session
    ) {
        let revision = outcome.revision
        let line = outcome.didStore ? TweakLine(node, outcome.new, .was(outcome.old, outcome.adjustment)) : nil
        if session.replies.queueIsEmpty, evidence.has(revision) {
            encoder.appendText(line, revision: revision, unchanged: line == nil, to: &bytes)
            return session.appendPrompt(to: &bytes)
        }
        let reply = line.map { .revision(revision, "", .items([.tweak($0)])) } ?? unchanged(revision)
        say(awaiting(reply, revision, session), encoder, &bytes, session)
    }

    /// The same as `Session.send`, for a short reply.
    private func say(_ reply: Reply, _ encoder: ReplyEncoder, _ bytes: inout [UInt8], _ session: Session) {
        if reply.awaits != nil || !session.replies.queueIsEmpty { return session.replies.append(reply, encoder) }
        _ = encoder.append(reply, to: &bytes)
        session.appendPrompt(to: &bytes)
    }
}
