// A disk that does what a test says, when it says so.

import Synchronization
package import Tweaks

/// A storage that writes nothing and says what a test has it say.
package final class GatedStore: TweakStore {
    private struct State {
        var status = SaveStatus(saved: 0, tried: 0)
        var observers: [Int: @Sendable (SaveStatus) -> Void] = [:]
        var proposals: [@Sendable (String?) -> Void] = []
        var withdrawn = 0
        var hurries = 0
        var isInRound = false
        var rounds = 0
        var count = 0
    }

    private let state = Mutex(State())
    package let isRequired: Bool
    package let keepsHistory = false
    private let source = Mutex<(TweakRegistry, CommitFollower)?>(nil)

    package init(isRequired: Bool) { self.isRequired = isRequired }

    /// Becomes the storage of a registry.
    package func attach(to registry: TweakRegistry, overrides: [StoredEntry], revision: UInt64) {
        let follower = registry.attach(self, overrides: overrides, revision: revision) {}
        source.withLock { $0 = follower.map { (registry, $0) } }
    }

    /// What there is to be stored since the last look.
    package func taken() -> StoreBatch {
        source.withLock(\.self).flatMap { $0.takeStored($1, .nothing) } ?? StoreBatch()
    }

    package func beginRound() { state.withLock { $0.isInRound = true } }

    package func endRound() { state.withLock { ($0.isInRound, $0.rounds) = (false, $0.rounds + 1) } }

    /// Whether commits wait for the end of a round.
    package var isInRound: Bool { state.withLock { $0.isInRound } }

    /// How many rounds have ended.
    package var rounds: Int { state.withLock { $0.rounds } }

    package func keep(_ last: StoreBatch) {}

    package var status: SaveStatus { state.withLock { $0.status } }
    /// How many proposals wait.
    package var proposals: Int { state.withLock { $0.proposals.count } }
    /// How many paths were taken back.
    package var withdrawn: Int { state.withLock { $0.withdrawn } }

    /// How often somebody was in a hurry.
    package var hurries: Int { state.withLock { $0.hurries } }

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

    package func hurry() { state.withLock { $0.hurries += 1 } }

    /// Everything up to a revision was tried, well or badly.
    package func finish(_ revision: UInt64, failure: String? = nil) {
        let (status, observers) = state.withLock { state in
            if failure == nil { state.status.saved = revision }
            (state.status.tried, state.status.failure) = (revision, failure)
            return (state.status, Array(state.observers.values))
        }
        for observer in observers { observer(status) }
    }

    /// Answers the proposals that wait.
    package func answerProposals(_ failure: String? = nil) {
        let waiting = state.withLock { state in
            defer { state.proposals = [] }
            return state.proposals
        }
        for body in waiting { body(failure) }
    }
}
