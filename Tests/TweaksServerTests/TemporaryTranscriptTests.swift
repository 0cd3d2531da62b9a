// Conversations about temporary overrides: set for a while, look, keep, batch; and the event at their end.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct TemporaryTranscriptTests {
    @Test func usage() throws {
        try replay(
            """
            > set Content/Text/Size 72 for
            error usage set: write set PATH VALUE [for DURATION], …
            > set Content/Text/Size 72 until 10m
            error usage write set Content/Text/Size …
            > set Content/Text/Size 72 "for" 10m
            error usage write set Content/Text/Size …
            > Content/Text/Size = 72 for 10m
            error usage …
            > set Content/Text/Size 720 for 10m
            error out-of-range …
            > set Content/Text/Size 72 for 10
            error bad-value Content/Text/Size: for “10” is no duration; write 90s, 10m or 1h30m
            > set Content/Text/Size 72 for -1s
            error out-of-range …
            > set Content/Text/Size 72 for 8761h
            error out-of-range …
            > set Content/Text/Size 72 for 99999999999h
            error bad-value …
            > set Player/Status/Frames 1 for 10m
            error read-only …
            > set Player/Audio/Mute 1 for 10m
            error bad-value …
            > keep Content/Text/Nothing
            error unknown-tweak …
            > keep
            error usage keep: write keep PATTERN…, …
            > keep Content/Text/*
            error conflict none of these 6 tweaks has a temporary override to keep
            """)
    }

    @Test func severalAtOnce() throws {
        try replay(
            """
            > begin
            ok rev 0
            > set Content/Text/Size 72 for 10m
            ok queued
            > set Content/Text/Alignment right for 1h30m
            ok queued
            > commit
            Content/Text/Size = 72         # was 60, for 10m
            Content/Text/Alignment = right # was left, for 1h30m
            ok rev 1
            > keep *
            Content/Text/Size = 72         # was 72
            Content/Text/Alignment = right # was right
            ok rev 2
            """)
    }

    @Test func secrets() throws {
        try replay(
            """
            > set Player/Audio/Token s3cret for 10m
            Player/Audio/Token = (set)  # was (unset), for 10m
            ok rev 1
            > explain Player/Audio/Token
                default            (unset)  by code at …
              → temporary override (set)  by … at …, … left
            ok
            > reset Player/Audio/Token
            Player/Audio/Token = (unset) # was (set)
            ok rev 2
            """)
    }

    @Test func inJSON() throws {
        try replayJSON(
            #"""
            > set Content/Text/Size 72 for 10m
            {"ok":true,"rev":1,"tweaks":[{"path":"Content/Text/Size","kind":"number","value":72,"was":60,"temporary":true,"timeLeft":"10m"}]}
            > get Content/Text/Size
            {"ok":true,"rev":1,"tweaks":[{"path":"Content/Text/Size","kind":"number","value":72,…,"temporary":true,"timeLeft":"…"}]}
            > explain Content/Text/Size
            {"ok":true,"layers":[{"layer":"default",…},{"layer":"temporary override","value":72,"by":"…","time":"…","current":true,"temporary":true,"timeLeft":"…"}]}
            """#)
    }

    /// The end comes as an event, in a session that does nothing but wait.
    @Test func theEndIsAnEvent() throws {
        let clock = ManualClock()
        let registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
        _ = try registry.register("A", "B", "Size", 60)
        let server = try TestServer(registry: registry)
        let client = try server.connect()
        try client.ask("watch A/B/Size")
        try client.ask("set A/B/Size 72 for 10s")
        _ = try client.line()
        clock.advance(by: .milliseconds(9_950))
        #expect(try client.ask("get A/B/Size")[0].hasSuffix("temporary, 100ms left"))
        clock.advance(by: .milliseconds(50))
        #expect(try client.line() == "event 2 A/B/Size = 60               # was 72 by expired")
        #expect(try client.ask("history 1")[0].hasSuffix("  expired: A/B/Size 72 → 60"))
        #expect(
            try client.ask("undo").last == "error conflict there is nothing to undo; history lists the last commits")
    }

    /// Where nothing may be in effect unsaved, both layers are written first.
    @Test func writtenFirst() throws {
        let server = try GatedServer(isRequired: true)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("set Content/Text/Size 72 for 10m\n")
        try server.waitForProposals(1)
        #expect(try other.ask("modified").dropLast().isEmpty)
        server.store.answerProposals()
        #expect(try client.reply() == ["Content/Text/Size = 72      # was 60, for 10m", "ok rev 1"])
        try client.send("keep Content/Text/Size\n")
        try server.waitForProposals(1)
        server.store.answerProposals("No space left on device")
        #expect(try client.reply()[0].hasPrefix("error io nothing was changed"))
        #expect(try other.ask("get Content/Text/Size")[0].contains(", temporary, "))
    }
}
