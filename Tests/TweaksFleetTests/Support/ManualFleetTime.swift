// Is a clock that tests advance.

import Synchronization

@testable import TweaksFleet

/// Sleepers wake when the time has come that a test says it is.
final class ManualFleetTime: FleetTime {
    private struct State {
        var offset = Duration.zero
        var sleepers: [Int: (deadline: ContinuousClock.Instant, continuation: CheckedContinuation<Void, any Error>)] =
            [:]
        var cancelled: Set<Int> = []
        var count = 0
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    var now: ContinuousClock.Instant { start.advanced(by: state.withLock { $0.offset }) }

    var wall: Int64 { 1_700_000_000_000 + Int64(state.withLock { $0.offset } / .milliseconds(1)) }

    func chance() -> Double { 0.5 }

    func advance(by duration: Duration) {
        let awake = state.withLock { state in
            state.offset += duration
            let now = start.advanced(by: state.offset)
            let awake = state.sleepers.filter { $0.value.deadline <= now }
            for id in awake.keys { state.sleepers[id] = nil }
            return awake.values.map(\.continuation)
        }
        for continuation in awake { continuation.resume() }
    }

    /// Lets time pass until something has happened.
    func pass(until event: @escaping @Sendable () async throws -> Void) async throws {
        let hasHappened = Atomic(false)
        let waiting = Task {
            try await event()
            hasHappened.store(true, ordering: .releasing)
        }
        while !hasHappened.load(ordering: .acquiring) {
            advance(by: .milliseconds(500))
            // So that those who were woken come first, and go to sleep again.
            try await Task.sleep(for: .milliseconds(1))
        }
        try await waiting.value
    }

    func sleep(until deadline: ContinuousClock.Instant) async throws {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if state.cancelled.contains(id) { return .failure(CancellationError()) }
                    if deadline <= start.advanced(by: state.offset) { return .success(()) }
                    state.sleepers[id] = (deadline, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
