// Every time that a server tells is told by the clocks that it was given.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct ClockTests {
    @Test func timesAreOfTheServersOwnClocks() throws {
        let clock = ManualClock()
        let registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
        _ = Tweak("A", "B", "Size", 1, registry: registry)
        // 2026-11-21T10:00:00Z
        let server = try ScopedServer(registry: registry, clock: clock, wallClock: 1_795_255_200_000)
        let client = try server.connect("admin")
        #expect(try client.ask("set A/B/Size 2").last == "ok rev 1")
        clock.advance(by: .seconds(3_600))
        let history = try client.ask("history")
        #expect(history.contains { $0.contains("rev 1  2026-11-21T09:00:00Z  ") }, "\(history)")
        let layers = try client.ask("explain A/B/Size").dropLast()
        #expect(layers.count == 2 && layers.allSatisfy { $0.hasSuffix(" at 2026-11-21T09:00:00Z") }, "\(layers)")
        #expect(try client.ask("stats").contains("  uptimeSeconds: 3600"))
    }
}
