// The alarm: it rings at each end, sleeps for the next one, and sleeps not at all while there is none.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct ExpiryAlarmTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry

    init() {
        let clock = clock
        registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
    }

    /// Waits until exactly these are slept for.
    private func asleep(_ seconds: [Int], since start: ContinuousClock.Instant) async {
        let wanted = seconds.map { start + .seconds($0) }
        while clock.sleepers != wanted { await Task.yield() }
    }

    @Test func ringsAtEachEnd() async throws {
        let start = clock.now
        let tweaks = try (0..<3).map { try registry.register("A", "B", "T\($0)", 0) }
        for (position, tweak) in tweaks.enumerated() { try tweak.set(1, for: .seconds(10 * (position + 1))) }
        for second in [10, 20, 30] {
            await asleep([second], since: start)
            clock.advance(by: .seconds(10))
        }
        for await value in tweaks[2].values where value == 0 { break }
        #expect(tweaks.map(\.value) == [0, 0, 0] && registry.revision == 6)
        await asleep([], since: start)
        // One sleep for each end, and none before or after.
        #expect(clock.sleeps == 3)
    }

    @Test func anEarlierEndIsSleptForInstead() async throws {
        let start = clock.now
        let one = try registry.register("A", "B", "One", 0)
        let two = try registry.register("A", "B", "Two", 0)
        try one.set(1, for: .seconds(60))
        await asleep([60], since: start)
        try two.set(1, for: .seconds(5))
        await asleep([5], since: start)
        two.reset()
        await asleep([60], since: start)
        try one.keep()
        await asleep([], since: start)
    }

    @Test func anOrdinaryCommitWakesNobody() async throws {
        let start = clock.now
        let pending = try registry.register("A", "B", "Pending", 0)
        let other = try registry.register("A", "B", "Other", 0)
        try pending.set(1, for: .seconds(60))
        await asleep([60], since: start)
        for value in 1...100 { try other.set(value) }
        #expect(clock.sleeps == 1)
    }

    @Test func aRegistryThatGoesLeavesNobodyAsleep() async throws {
        let clock = clock
        do {
            let registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
            try registry.register("A", "B", "Size", 0).set(1, for: .seconds(60))
            while clock.sleepers.isEmpty { await Task.yield() }
        }
        while !clock.sleepers.isEmpty { await Task.yield() }
    }

    /// The system's own clock, once: what is set for a moment is gone after it.
    @Test func byTheRealClock() async throws {
        let registry = TweakRegistry()
        let size = try registry.register("A", "B", "Size", 0)
        let values = size.values
        try size.set(1, for: .milliseconds(20))
        var seen: [Int] = []
        for await value in values {
            seen.append(value)
            if value == 0, registry.revision == 2 { break }
        }
        #expect(seen.last == 0 && registry.history.first?.origin == .expired)
    }
}
