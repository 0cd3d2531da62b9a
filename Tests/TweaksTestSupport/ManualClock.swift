// A clock that only a test advances, for code that reads the time or sleeps.

import Synchronization
package import Tweaks

/// A clock that stands still until it is advanced.
package final class ManualClock: Sendable {
    private struct State {
        var now = Moment.now
        var sleepers: [UInt64: (end: Moment, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var canceled: Set<UInt64> = []
        var count: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    package var now: Moment { state.withLock { $0.now } }

    /// The wake-up times of all sleeping tasks, in order.
    package var sleepers: [Moment] { state.withLock { $0.sleepers.values.map(\.end).sorted() } }

    /// The number of calls of ``sleep(until:)``.
    package var sleeps: UInt64 { state.withLock { $0.count } }

    /// Returns when the clock reaches the time; throws when the task is canceled.
    package func sleep(until end: Moment) async throws {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.canceled.contains(number) { return .failure(CancellationError()) }
                    if end <= state.now { return .success(()) }
                    state.sleepers[number] = (end, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.canceled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the clock and wakes the tasks whose time has come.
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
