// Keeps the loop within its memory budget: each session is weighed after its turn, and the greediest loses first.

import Tweaks
import TweaksWire

extension EventLoop {
    /// Counts what a session holds now.
    func weigh(_ session: Session) {
        let held = session.connection.phase == .closed ? 0 : session.memory
        executor.memory.sessions += session.payer.hold(held)
    }

    /// Ends sessions until all that is held is within the budget.
    func relieveMemory() {
        while executor.memory.excess({ executor.stateBytes }) > 0, let session = greediest() {
            shed(session)
        }
    }

    /// The greediest session of the peer that holds most: many small ones are no better than a large one.
    private func greediest() -> Session? {
        let all = sessions.all.filter { $0.connection.phase != .closed && $0.greed > 0 }
        var byPeer: [ObjectIdentifier: Int] = [:]
        for session in all { byPeer[ObjectIdentifier(session.account), default: 0] += session.greed }
        let most = byPeer.max { $0.value < $1.value }?.key
        return all.filter { ObjectIdentifier($0.account) == most }.max { $0.greed < $1.greed }
    }

    /// Ends a session, and lets go of all that it holds at once: it is not about to read that.
    private func shed(_ session: Session) {
        let text =
            "clients may have this process hold \(limits.memoryBytes) bytes, and this session held \(session.greed), "
            + "the most; read replies as they come"
        let error = TweakError(.tooMany, text, limit: .memoryBytes)
        session.forgetOutput()
        if session.dialect.takesInterruptions, session.isOpen {
            fail(error, session)
            advance(session)
        } else {
            // In the midst of a response whatever would be said would be taken for a part of it; and who does not read the
            // last words will not read others.
            executor.count(error)
            executor.take(.end(.init(error)), session)
            close(session)
        }
        weigh(session)
    }
}
