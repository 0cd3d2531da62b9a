// Tests the alarm, which runs at each expiry, sleeps until the next one, and does not sleep if there is none.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct ExpiryAlarmTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let start: Moment

    init() {
        let clock = clock
        start = clock.now
        registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
    }

    private func register(_ name: String) throws -> Tweak<Int> { try registry.register("A", "B", name, 0) }

    /// Waits until the sleepers wait for exactly these times after the start.
    private func sleepers(_ seconds: Int...) async {
        while clock.sleepers != seconds.map({ start + .seconds($0) }) { await Task.yield() }
    }

    @Test func runsOnceAtEachExpiry() async throws {
        let tweaks = try (0..<3).map { try register("T\($0)") }
        for (position, tweak) in tweaks.enumerated() { try tweak.set(1, for: .seconds(10 * (position + 1))) }
        for second in [10, 20, 30] {
            await sleepers(second)
            clock.advance(by: .seconds(10))
        }
        for await value in tweaks[2].values where value == 0 { break }
        #expect(tweaks.map(\.value) == [0, 0, 0] && registry.revision == 6)
        await sleepers()
        #expect(clock.sleeps == 3)
    }

    @Test func sleepsUntilTheEarliestExpiry() async throws {
        let (one, two) = try (register("One"), register("Two"))
        try one.set(1, for: .seconds(60))
        await sleepers(60)
        try two.set(1, for: .seconds(5))
        await sleepers(5)
        two.reset()
        await sleepers(60)
        try one.keep()
        await sleepers()
    }

    @Test func anOrdinaryCommitDoesNotWakeIt() async throws {
        let (pending, other) = try (register("Pending"), register("Other"))
        try pending.set(1, for: .seconds(60))
        await sleepers(60)
        for value in 1...100 { try other.set(value) }
        #expect(clock.sleeps == 1)
    }

    @Test func aReleasedRegistryEndsTheSleep() async throws {
        let clock = clock
        do {
            let registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
            try registry.register("A", "B", "Size", 0).set(1, for: .seconds(60))
            while clock.sleepers.isEmpty { await Task.yield() }
        }
        while !clock.sleepers.isEmpty { await Task.yield() }
    }

    @Test func theSystemClockEndsATemporaryOverride() async throws {
        let registry = TweakRegistry()
        let size = try registry.register("A", "B", "Size", 0)
        let values = size.values
        try size.set(1, for: .milliseconds(20))
        var last: Int?
        for await value in values {
            last = value
            if value == 0, registry.revision == 2 { break }
        }
        #expect(last == 0 && registry.history.first?.origin == .expired)
    }
}
