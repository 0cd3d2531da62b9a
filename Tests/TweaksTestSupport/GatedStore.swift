// A fake store whose progress a test controls.

import Synchronization
package import Tweaks
import TweaksStorage

/// A store that writes nothing and reports the status that a test sets.
package final class GatedStore: TweakStore {
    private struct State {
        var status = SaveStatus(saved: 0, attempted: 0)
        var observers: [Int: @Sendable (SaveStatus) -> Void] = [:]
        var proposals: [@Sendable (String?) -> Void] = []
        var withdrawn = 0
        var flushes = 0
        var isInRound = false
        var rounds = 0
        var count = 0
    }

    private let state = Mutex(State())
    package let isRequired: Bool
    package let keepsHistory = false
    private let source = Mutex<(TweakRegistry, CommitFollower)?>(nil)

    package init(isRequired: Bool) { self.isRequired = isRequired }

    /// Attaches the store to a registry.
    package func attach(to registry: TweakRegistry, overrides: [StoredEntry], revision: UInt64) {
        let follower = registry.attach(self, overrides: overrides, revision: revision) {}
        source.withLock { $0 = follower.map { (registry, $0) } }
    }

    /// Takes the changes that are to be stored since the last call.
    package func takePending() -> (hasUpdates: Bool, isUrgent: Bool) {
        let batch = source.withLock(\.self).flatMap { $0.read($1, .nothing) { StoreBatch($0) } } ?? StoreBatch()
        return (batch.hasUpdates, batch.isUrgent)
    }

    package func beginRound() { state.withLock { $0.isInRound = true } }

    package func endRound() { state.withLock { ($0.isInRound, $0.rounds) = (false, $0.rounds + 1) } }

    /// Whether commits wait for the end of a round.
    package var isInRound: Bool { state.withLock { $0.isInRound } }

    /// How many rounds have ended.
    package var rounds: Int { state.withLock { $0.rounds } }

    package func storeLast(_ last: OverrideUpdate) {}

    package var status: SaveStatus { state.withLock { $0.status } }
    /// How many proposals are pending.
    package var proposals: Int { state.withLock { $0.proposals.count } }
    /// How many paths were withdrawn.
    package var withdrawn: Int { state.withLock { $0.withdrawn } }

    /// The number of calls of `flush()`.
    package var flushes: Int { state.withLock { $0.flushes } }

    package func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        let number = state.withLock { state in
            state.count += 1
            state.observers[state.count] = body
            return state.count
        }
        return StoreObservation { [weak self] in _ = self?.state.withLock { $0.observers.removeValue(forKey: number) } }
    }

    package func propose(_ changes: [OverrideKey: StoredEntry?], then body: @escaping @Sendable (String?) -> Void) {
        state.withLock { $0.proposals.append(body) }
    }

    package func withdraw(_ changes: [OverrideKey: StoredEntry?]) {
        state.withLock { $0.withdrawn += changes.count }
    }

    package func flush() { state.withLock { $0.flushes += 1 } }

    /// Reports that everything up to a revision was saved, or that saving it failed.
    package func finish(_ revision: UInt64, failure: String? = nil) {
        let (status, observers) = state.withLock { state in
            if failure == nil { state.status.saved = revision }
            (state.status.attempted, state.status.failure) = (revision, failure)
            return (state.status, Array(state.observers.values))
        }
        for observer in observers { observer(status) }
    }

    /// Answers all pending proposals.
    package func answerProposals(_ failure: String? = nil) {
        let waiting = state.withLock { state in
            defer { state.proposals = [] }
            return state.proposals
        }
        for body in waiting { body(failure) }
    }
}
