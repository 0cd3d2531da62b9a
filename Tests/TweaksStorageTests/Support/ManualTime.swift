// Provides a monotonic clock and a wall clock that tests advance.

import Dispatch
import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

/// Time that stands still until it is advanced. It begins on 2026-11-21 at 9:30.
final class ManualTime: StorageTime {
    private struct State {
        var now = Moment.now
        var wall: Int64 = 1_795_253_400_123
        var sleeper: (semaphore: DispatchSemaphore, deadline: Moment?)?
    }

    private let state = Mutex(State())
    private let condition = NSCondition()

    var now: Moment { state.withLock { $0.now } }
    var wall: Int64 { state.withLock { $0.wall } }

    func wait(for semaphore: DispatchSemaphore, until deadline: Moment?) {
        let isOver = state.withLock { state in
            if let deadline, deadline <= state.now { return true }
            state.sleeper = (semaphore, deadline)
            return false
        }
        if isOver {
            _ = semaphore.wait(timeout: .now())
            return
        }
        condition.withLock { condition.broadcast() }
        semaphore.wait()
        state.withLock { $0.sleeper = nil }
    }

    /// Advances both clocks and wakes the sleeper if its deadline has come.
    func advance(by duration: Duration) {
        let semaphore = state.withLock { state -> DispatchSemaphore? in
            state.now += duration
            state.wall += Int64(duration / .milliseconds(1))
            guard let sleeper = state.sleeper, sleeper.deadline.map({ $0 <= state.now }) == true else { return nil }
            return sleeper.semaphore
        }
        semaphore?.signal()
    }

    /// Sets the wall clock.
    func jump(by milliseconds: Int64) { state.withLock { $0.wall += milliseconds } }

    /// Blocks until the storage sleeps for exactly this long, then advances by as much.
    func advance(whenAsleepFor duration: Duration, at location: SourceLocation = #_sourceLocation) {
        waitUntilAsleep(for: duration, at: location)
        advance(by: duration)
    }

    /// Blocks until the storage sleeps for exactly one of these durations.
    func waitUntilAsleep(for durations: Duration..., at location: SourceLocation = #_sourceLocation) {
        waitUntil("for \(durations)", location) { state in
            durations.contains { state.sleeper?.deadline == state.now + $0 }
        }
    }

    /// Blocks until the storage sleeps without a deadline.
    func waitUntilIdle(at location: SourceLocation = #_sourceLocation) {
        waitUntil("without a deadline", location) { $0.sleeper.map { $0.deadline == nil } ?? false }
    }

    /// Blocks until the storage sleeps again, after an advance that has woken it.
    func waitUntilAsleep(at location: SourceLocation = #_sourceLocation) {
        waitUntil("again", location) { state in
            state.sleeper.map { $0.deadline.map { $0 > state.now } ?? true } ?? false
        }
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
        let rest = state.withLock { state in state.sleeper.map { $0.deadline.map { $0 - state.now } } }
        Issue.record("the storage does not sleep \(wanted), but \(String(describing: rest))", sourceLocation: location)
    }
}
