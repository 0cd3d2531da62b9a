// Shows how far a thread has come with what it writes, and calls those who wait for it.

import Synchronization
import Tweaks

/// A status that one thread publishes and all others may look at.
final class StatusBoard: Sendable {
    private struct State {
        var status: SaveStatus
        var observers: [UInt64: @Sendable (SaveStatus) -> Void] = [:]
        var lastObserver: UInt64 = 0
    }

    private let state: Mutex<State>

    init(_ status: SaveStatus) { state = Mutex(State(status: status)) }

    var value: SaveStatus { state.withLock { $0.status } }

    func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        let number = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = body
            return state.lastObserver
        }
        return StoreObservation { [self] in
            // What the closure holds is let go of outside the lock.
            _ = state.withLock { $0.observers.removeValue(forKey: number) }
        }
    }

    /// Says what has come of an attempt.
    func publish(_ status: SaveStatus) {
        let observers = state.withLock { state in
            state.status = status
            return Array(state.observers.values)
        }
        for observer in observers { observer(status) }
    }
}
