// Keeps the memory of sessions within budget: measures each after its turn, and ends the largest first.

import Tweaks
import TweaksWire

extension EventLoop {
    /// Updates the count of bytes that a session holds.
    func updateMemoryUse(_ session: Session) {
        let isClosed = session.connection.phase == .closed
        executor.memory.sessions += session.accounts.hold(isClosed ? 0 : session.memory)
        // What does not fit waits in the output. The buffer may have been larger when it was filled.
        let isFull = !isClosed && !session.output.isEmpty
        let kernel = isFull ? max(session.connection.kernelBytes, session.connection.sendBytes) : 0
        // Nothing tells how much arrives meanwhile.
        let isUnread = !isClosed && !session.connection.interest.contains(.read) && !session.input.hasEnded
        let unread = isUnread ? session.connection.receiveBytes : 0
        executor.memory.kernel += kernel - session.connection.kernelBytes
        executor.memory.unread += unread - session.connection.unreadBytes
        (session.connection.kernelBytes, session.connection.unreadBytes) = (kernel, unread)
    }

    /// Ends sessions until the memory in use is within the budget.
    func enforceMemoryBudget() {
        while executor.memory.excess({ executor.stateBytes }) > 0, let session = largestSession() {
            evictForMemory(session)
            if hub.isFollowed { hub.trim() }
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
            close(session, isOverdue: true)
        }
        updateMemoryUse(session)
    }
}
