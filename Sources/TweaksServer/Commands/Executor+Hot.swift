// The short way for single gets and sets: the same answers without the lists in between.

import Tweaks
import TweaksWire

extension Executor {
    /// Answers a plain get or set at once.
    /// - Returns: False when it needs the ordinary way: batches, JSON, paths that are unknown or out of reach.
    func answer(_ hot: HotLine, _ line: UnsafeBufferPointer<UInt8>, for session: Session) -> Bool {
        if session.encoder.isJSON || !session.owed.isEmpty || !session.isAdmitted { return false }
        switch hot {
        case .get(let path): return get(UnsafeBufferPointer(rebasing: line[path]), session)
        case .set(let path, let value):
            // With a disk or an audit to wait for, this way is not the one that saves time.
            if session.batch != nil || store != nil || hooks.audit != nil { return false }
            return set(
                UnsafeBufferPointer(rebasing: line[path]), UnsafeBufferPointer(rebasing: line[value]), session)
        }
    }

    private func get(_ path: UnsafeBufferPointer<UInt8>, _ session: Session) -> Bool {
        guard let (node, value, left) = registry.read(path), session.sees(node) else { return false }
        session.isProven = true
        session.send(TweakLine(node, value, .explained, timeLeft: left), revision: nil)
        return true
    }

    private func set(
        _ path: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, _ session: Session
    ) -> Bool {
        guard let node = registry.node(path), session.may(.write, node.path) else { return false }
        do throws(TweakError) {
            let wanted = try node.read(String(decoding: value, as: UTF8.self), from: .person)
            // What may not fit is looked at more closely on the ordinary way.
            if let bytes = wanted.textBytes, bytes >= 256, !hasRoom(for: bytes) { return false }
            try spend(session, session.lastActivity)
            let outcome = try registry.commit(
                node, .set(wanted), origin: session.origin, kind: .change(session: session.number),
                at: session.lastActivity, delivery: .carrier)
            let line = outcome.didStore ? TweakLine(node, outcome.new, .was(outcome.old, outcome.adjustment)) : nil
            session.isProven = true
            if outcome.didStore { session.commits += 1 }
            session.send(line, revision: outcome.revision)
        } catch {
            count(error)
            tellRefused(error, session)
            session.send(.error(error))
        }
        return true
    }
}
