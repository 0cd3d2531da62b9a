// A clock that a test moves, for those who ask for the time and for those who sleep.

import Synchronization

/// Time that stands still until it is moved on.
package final class ManualClock: Sendable {
    private struct State {
        var now = ContinuousClock.now
        var sleepers: [UInt64: (end: ContinuousClock.Instant, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelled: Set<UInt64> = []
        var count: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    package var now: ContinuousClock.Instant { state.withLock { $0.now } }

    /// Those who sleep, by when they want to be woken.
    package var sleepers: [ContinuousClock.Instant] { state.withLock { $0.sleepers.values.map(\.end).sorted() } }

    /// How often somebody went to sleep.
    package var sleeps: UInt64 { state.withLock { $0.count } }

    /// Returns when the time has come; throws when the task is cancelled.
    package func sleep(until end: ContinuousClock.Instant) async throws {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.contains(number) { return .failure(CancellationError()) }
                    if end <= state.now { return .success(()) }
                    state.sleepers[number] = (end, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves on; whoever sleeps no longer than that wakes.
    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }
}
