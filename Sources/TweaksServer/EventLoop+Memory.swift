// Keeps the memory of sessions within budget: measures each after its turn, and ends the largest first.

import Tweaks
import TweaksWire

extension EventLoop {
    /// Updates the count of bytes that a session holds.
    func updateMemoryUse(_ session: Session) {
        let used = session.connection.phase == .closed ? 0 : session.memory
        executor.memory.sessions += session.accounts.hold(used)
    }

    /// Ends sessions until the memory in use is within the budget.
    func enforceMemoryBudget() {
        while executor.memory.excess({ executor.stateBytes }) > 0, let session = largestSession() {
            evictForMemory(session)
        }
    }

    /// The largest session of the peer that holds most: splitting over many sessions gives no advantage.
    private func largestSession() -> Session? {
        let all = sessions.all.filter { $0.connection.phase != .closed && $0.reclaimableBytes > 0 }
        var byPeer: [ObjectIdentifier: Int] = [:]
        for session in all { byPeer[ObjectIdentifier(session.account), default: 0] += session.reclaimableBytes }
        let most = byPeer.max { $0.value < $1.value }?.key
        return all.filter { ObjectIdentifier($0.account) == most }.max { $0.reclaimableBytes < $1.reclaimableBytes }
    }

    /// Ends a session and frees its memory at once: the client does not read it anyway.
    private func evictForMemory(_ session: Session) {
        let text =
            "clients may use \(limits.memoryBytes) bytes of memory, and this session used the most, "
            + "\(session.reclaimableBytes); read replies as they come"
        let error = TweakError(.tooMany, text, limit: .memoryBytes)
        session.forgetOutput()
        if session.dialect.acceptsErrorInReply, session.isOpen {
            fail(error, session)
            advance(session)
        } else {
            // Inside a response the error would be taken for a part of it, and a client that does not read would miss
            // it.
            executor.count(error)
            executor.apply(.end(.init(error)), session)
            close(session)
        }
        updateMemoryUse(session)
    }
}
