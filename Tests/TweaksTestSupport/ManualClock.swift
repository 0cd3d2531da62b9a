// A clock that only a test advances, for code that reads the time or sleeps.

package import Dispatch
import Foundation
import Synchronization
package import Testing
package import Tweaks
import TweaksStorage

/// A monotonic clock and a wall clock that stand still until they are advanced.
///
/// A running one is the system's monotonic clock, which a test puts forward: it jumps past a timeout at once, so that
/// only what has to expire does, even on a slow machine.
package final class ManualClock: StorageTime {
    private struct State {
        /// Nil: it is running.
        let start: Moment?
        var offset = Duration.zero
        var wall: Int64
        var sleepers: [UInt64: (end: Moment, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var canceled: Set<UInt64> = []
        var count: UInt64 = 0
        /// The thread that sleeps.
        var thread: (semaphore: DispatchSemaphore, deadline: Moment?)?
        /// How often it began to sleep.
        var naps = 0

        var now: Moment { (start ?? .now) + offset }
    }

    private let state: Mutex<State>
    private let condition = NSCondition()

    /// - Parameter wall: The wall clock, in milliseconds since 1970; by default it begins on 2026-11-21 at 9:30.
    package init(wall: Int64 = 1_795_253_400_123, isRunning: Bool = false) {
        state = Mutex(State(start: isRunning ? nil : .now, wall: wall))
    }

    package var now: Moment { state.withLock { $0.now } }

    package var wall: Int64 {
        get { state.withLock { $0.wall } }
        set { state.withLock { $0.wall = newValue } }
    }

    /// Sets the wall clock.
    package func jump(by milliseconds: Int64) { state.withLock { $0.wall += milliseconds } }

    /// Advances both clocks, or the monotonic one alone, and wakes the tasks and the thread whose time has come.
    package func advance(by duration: Duration, movesWall: Bool = true) {
        let (tasks, thread) = state.withLock { state in
            state.offset += duration
            if movesWall { state.wall += Int64(duration / .milliseconds(1)) }
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            let isThreadDue = state.thread?.deadline.map { $0 <= state.now } ?? false
            return (due.values.map(\.continuation), isThreadDue ? state.thread?.semaphore : nil)
        }
        for task in tasks { task.resume() }
        thread?.signal()
    }

    // MARK: Tasks

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

    // MARK: The thread of a storage

    package func wait(for semaphore: DispatchSemaphore, until deadline: Moment?) {
        // A thread with a signal left is not asleep, although a wait would begin.
        if semaphore.wait(timeout: .now()) == .success { return }
        let isOver = state.withLock { state in
            if let deadline, deadline <= state.now { return true }
            state.thread = (semaphore, deadline)
            state.naps += 1
            return false
        }
        if isOver { return }
        condition.withLock { condition.broadcast() }
        semaphore.wait()
        state.withLock { $0.thread = nil }
    }

    /// Blocks until the storage sleeps for exactly this long, then advances by as much.
    package func advance(whenAsleepFor duration: Duration, at location: SourceLocation = #_sourceLocation) {
        waitUntilAsleep(for: duration, at: location)
        advance(by: duration)
    }

    /// Blocks until the storage sleeps for exactly one of these durations.
    package func waitUntilAsleep(for durations: Duration..., at location: SourceLocation = #_sourceLocation) {
        waitUntil("for \(durations)", location) { state in
            durations.contains { state.thread?.deadline == state.now + $0 }
        }
    }

    /// Blocks until the storage sleeps without a deadline.
    package func waitUntilIdle(at location: SourceLocation = #_sourceLocation) {
        waitUntil("without a deadline", location) { $0.thread.map { $0.deadline == nil } ?? false }
    }

    /// Blocks until the storage sleeps again, after an advance that has woken it.
    package func waitUntilAsleep(at location: SourceLocation = #_sourceLocation) {
        waitUntil("again", location) { state in
            state.thread.map { $0.deadline.map { $0 > state.now } ?? true } ?? false
        }
    }

    /// Uses up a wakeup that the test's own calls have left: wakes the storage, and blocks until it sleeps again.
    package func settle(at location: SourceLocation = #_sourceLocation) {
        waitUntil("at all", location) { $0.thread != nil }
        let (naps, thread) = state.withLock { ($0.naps, $0.thread?.semaphore) }
        thread?.signal()
        waitUntil("again", location) { $0.naps > naps && $0.thread != nil }
    }

    private func waitUntil(_ wanted: String, _ location: SourceLocation, _ isTrue: (State) -> Bool) {
        let end = Date(timeIntervalSinceNow: Double(TestClient.timeout) / 1_000)
        let isThere = condition.withLock {
            while !state.withLock({ isTrue($0) }) {
                if !condition.wait(until: end) { return false }
            }
            return true
        }
        if isThere { return }
        let rest = state.withLock { state in state.thread.map { $0.deadline.map { $0 - state.now } } }
        Issue.record("the storage does not sleep \(wanted), but \(String(describing: rest))", sourceLocation: location)
    }
}
