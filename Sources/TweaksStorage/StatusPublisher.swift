// Publishes the progress of a writing thread and notifies observers.

import Synchronization
import Tweaks

/// A status that one thread publishes and any thread can read.
final class StatusPublisher: Sendable {
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
            // The closure's captures are released outside the lock.
            _ = state.withLock { $0.observers.removeValue(forKey: number) }
        }
    }

    /// Sets the status and notifies the observers.
    func publish(_ status: SaveStatus) {
        let observers = state.withLock { state in
            state.status = status
            return Array(state.observers.values)
        }
        for observer in observers { observer(status) }
    }
}
