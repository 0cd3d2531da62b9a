// Lets followers sleep by a clock that only tests advance.

import Synchronization
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

extension ManualClock: FleetClock {
    package func randomFraction() -> Double { 0.5 }

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
}
