// Tests times and temporary overrides with clocks that the test controls.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct ClockTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry

    init() {
        let clock = clock
        registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
        _ = Tweak("A", "B", "Size", 60, registry: registry)
    }

    @Test func timesComeFromTheClocksOfTheServer() throws {
        // 2026-11-21T10:00:00Z
        let server = try ScopedServer(registry: registry, clock: clock, wallClock: 1_795_255_200_000)
        let client = try server.connect()
        #expect(try client.status("set A/B/Size 2") == "ok rev 1")
        clock.advance(by: .seconds(3_600))
        let history = try client.ask("history")
        #expect(history.contains { $0.contains("rev 1  2026-11-21T09:00:00Z  ") }, "\(history)")
        let layers = try client.ask("explain A/B/Size").dropLast()
        #expect(layers.count == 2 && layers.allSatisfy { $0.hasSuffix(" at 2026-11-21T09:00:00Z") }, "\(layers)")
        #expect(try client.stats("uptimeSeconds") == "3600")
    }

    @Test func theEndOfATemporaryOverrideIsAnEvent() throws {
        let client = try TestServer(registry: registry).connect()
        try client.ask("watch A/B/Size")
        try client.ask("set A/B/Size 72 for 10s")
        _ = try client.line()
        clock.advance(by: .milliseconds(9_950))
        #expect(try client.ask("get A/B/Size")[0].hasSuffix("temporary, 100ms left"))
        clock.advance(by: .milliseconds(50))
        #expect(try client.line() == "event 2 A/B/Size = 60               # was 72 by expired")
        #expect(try client.ask("history 1")[0].hasSuffix("  expired: A/B/Size 72 → 60"))
        #expect(try client.status("undo") == "error conflict there is nothing to undo; history lists the last commits")
    }
}
