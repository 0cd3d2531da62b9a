// Wakes a registry when its next temporary override ends, and never otherwise.

import Synchronization

/// One sleeping task while something is pending; none else.
final class ExpiryAlarm: Sendable {
    /// How to sleep until a moment; throws when the task is cancelled.
    typealias Sleep = @Sendable (ContinuousClock.Instant) async throws -> Void

    private struct State {
        var deadline: ContinuousClock.Instant?
        var task: Task<Void, Never>?
    }

    private let sleep: Sleep
    private let state = Mutex(State())

    init(sleep: @escaping Sleep) { self.sleep = sleep }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Looks anew when to ring.
    /// - Parameters:
    ///   - next: The next end; asked under this lock, so that of two callers the later one has the last word.
    ///   - ring: Called then, on a thread of the concurrency runtime.
    func set(_ next: () -> ContinuousClock.Instant?, ring: @escaping @Sendable () -> Void) {
        let old = state.withLock { state -> Task<Void, Never>? in
            let deadline = next()
            if deadline == state.deadline { return nil }
            defer { state = State(deadline: deadline, task: deadline.map { task($0, ring) }) }
            return state.task
        }
        // Cancelling wakes the sleeper; not under the lock.
        old?.cancel()
    }

    private func task(_ deadline: ContinuousClock.Instant, _ ring: @escaping @Sendable () -> Void) -> Task<Void, Never>
    {
        Task.detached { [sleep, weak self] in
            guard (try? await sleep(deadline)) != nil, !Task.isCancelled else { return }
            self?.forget(deadline)
            ring()
        }
    }

    /// It has rung: whoever sets the same moment again means a new task.
    private func forget(_ deadline: ContinuousClock.Instant) {
        state.withLock { if $0.deadline == deadline { $0 = State() } }
    }
}
