// Calls a registry when its next temporary override expires.

import Synchronization

/// A timer with one sleeping task while an expiry is pending, and none otherwise.
final class ExpiryAlarm: Sendable {
    /// Sleeps until a moment; throws when the task is canceled.
    typealias Sleep = @Sendable (ContinuousClock.Instant) async throws -> Void

    private struct State {
        var deadline: ContinuousClock.Instant?
        var task: Task<Void, Never>?
    }

    private let sleep: Sleep
    private let state = Mutex(State())

    init(sleep: @escaping Sleep) { self.sleep = sleep }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Updates the deadline.
    /// - Parameters:
    ///   - next: Returns the next expiry; called under the lock, so that the later of two callers wins.
    ///   - onExpiry: Called at that time, on a thread of the concurrency runtime.
    func set(_ next: () -> ContinuousClock.Instant?, onExpiry: @escaping @Sendable () -> Void) {
        let old = state.withLock { state -> Task<Void, Never>? in
            let deadline = next()
            if deadline == state.deadline { return nil }
            defer { state = State(deadline: deadline, task: deadline.map { task($0, onExpiry) }) }
            return state.task
        }
        // Not under the lock: canceling wakes the sleeping task.
        old?.cancel()
    }

    private func task(
        _ deadline: ContinuousClock.Instant, _ onExpiry: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        Task.detached { [sleep, weak self] in
            guard (try? await sleep(deadline)) != nil, !Task.isCancelled else { return }
            self?.clear(deadline)
            onExpiry()
        }
    }

    /// Clears the deadline after it has fired, so that setting the same moment again starts a new task.
    private func clear(_ deadline: ContinuousClock.Instant) {
        state.withLock { if $0.deadline == deadline { $0 = State() } }
    }
}
