// Provides a clock that only tests advance.

import Synchronization

@testable import TweaksFleet

/// A clock whose sleepers wake when a test advances it to their deadlines.
final class ManualFleetClock: FleetClock {
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

    func randomFraction() -> Double { 0.5 }

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

    /// Advances in small steps until an event has happened.
    func pass(until event: @escaping @Sendable () async throws -> Void) async throws {
        let hasHappened = Atomic(false)
        let waiting = Task {
            try await event()
            hasHappened.store(true, ordering: .releasing)
        }
        while !hasHappened.load(ordering: .acquiring) {
            advance(by: .milliseconds(500))
            // Awakened tasks run and sleep again first.
            try await Task.sleep(for: .milliseconds(1))
        }
        try await waiting.value
    }

    /// Advances in small steps by a duration, to run all that happens in it.
    func pass(_ duration: Duration) async throws {
        let end = now.advanced(by: duration)
        try await pass { while self.now < end { await Task.yield() } }
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
