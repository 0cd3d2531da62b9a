// Clocks that a test moves.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksStorage
import TweaksTestSupport

/// Time that stands still until it is moved on. Begins on 2026-11-21 at 9:30.
final class ManualTime: StorageTime {
    private struct State {
        var now = ContinuousClock.now
        var wall: Int64 = 1_795_253_400_123
        var sleeper: (bell: DispatchSemaphore, deadline: ContinuousClock.Instant?)?
    }

    private let state = Mutex(State())
    private let condition = NSCondition()

    var now: ContinuousClock.Instant { state.withLock { $0.now } }
    var wall: Int64 { state.withLock { $0.wall } }

    func wait(for bell: DispatchSemaphore, until deadline: ContinuousClock.Instant?) {
        let isOver = state.withLock { state in
            if let deadline, deadline <= state.now { return true }
            state.sleeper = (bell, deadline)
            return false
        }
        if isOver {
            _ = bell.wait(timeout: .now())
            return
        }
        condition.withLock { condition.broadcast() }
        bell.wait()
        state.withLock { $0.sleeper = nil }
    }

    /// Moves on; whoever sleeps no longer than that wakes.
    func advance(by duration: Duration) {
        let bell = state.withLock { state -> DispatchSemaphore? in
            state.now += duration
            state.wall += Int64(duration / .milliseconds(1))
            guard let sleeper = state.sleeper, let deadline = sleeper.deadline, deadline <= state.now else {
                return nil
            }
            return sleeper.bell
        }
        bell?.signal()
    }

    /// Somebody sets the wall clock.
    func jump(by milliseconds: Int64) { state.withLock { $0.wall += milliseconds } }

    /// Blocks until the storage sleeps for exactly so long from now, or so long.
    func waitUntilAsleep(for durations: Duration..., at location: SourceLocation = #_sourceLocation) {
        waitUntil("for \(durations)", location) { state in
            durations.contains { state.sleeper?.deadline == state.now + $0 }
        }
    }

    /// Blocks until the storage sleeps, and nothing but somebody's ring will wake it.
    func waitUntilIdle(at location: SourceLocation = #_sourceLocation) {
        waitUntil("until it is rung", location) { $0.sleeper.map { $0.deadline == nil } ?? false }
    }

    /// Blocks until the storage sleeps again, after an advance that has woken it.
    func waitUntilAsleep(at location: SourceLocation = #_sourceLocation) {
        waitUntil("again", location) { state in
            state.sleeper.map { $0.deadline.map { $0 > state.now } ?? true } ?? false
        }
    }

    private func waitUntil(_ wanted: String, _ location: SourceLocation, _ isTrue: (State) -> Bool) {
        let end = Date(timeIntervalSinceNow: Double(TestClient.patience) / 1_000)
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
