// Tests diff and swap of presets with a real daemon.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct PresetComparisonTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    @Test func diffListsChangedAndMissingAndInvalidValues() throws {
        try fixture.savePreset("warm", "Content/Text/Size = 72\nContent/Text/Gone = 1\nContent/Text/Fade = 1m\n")
        try fixture.savePreset("cold", "Content/Text/Size = 60\n")
        let client = try fixture.connect(fixture.start())
        try client.ask("Content/Text/Alignment = right")
        #expect(
            try client.ask("diff warm") == [
                "  Content/Text/Size 60 → 72", "  Content/Text/Alignment right now, not in the preset",
                "  Content/Text/Gone 1, in warm only",
                "  warm, line 3, cannot be compared: out-of-range Content/Text/Fade: 1m is outside 0s...5s",
                "ok 3 differences",
            ])
        #expect(
            try client.ask("diff cold warm").suffix(4).prefix(2) == [
                "  Content/Text/Size 60 → 72", "  Content/Text/Gone 1, in warm only",
            ])
        #expect(try client.ask("diff cold cold") == ["ok 0 differences"])
        try client.send("json\ndiff cold\njson off\n")
        let difference = #"{"path":"Content/Text/Alignment","left":"right","right":null}"#
        let reply = #"{"ok":true,"left":"in force","right":"cold","count":1,"differences":[\#(difference)]}"#
        #expect(try client.lines(3)[1] == reply)
    }

    @Test func aSecondSwapRestoresThePreviousOverrides() throws {
        try fixture.save("Content/Text/Size = 64\n")
        try fixture.savePreset("warm", "Content/Text/Size = 72\n")
        let daemon = try fixture.start(config: fixture.configFile)
        let (client, other) = (try fixture.connect(daemon), try fixture.connect(daemon))
        try client.ask("Content/Text/Fade = 250ms")
        let there = ["Content/Text/Size = 72      # was 64", "Content/Text/Fade = 250ms   # was 250ms"]
        #expect(try client.ask("swap warm") == there + ["ok rev 2 swapped to warm; swap warm goes back"])
        // Another session can swap back.
        let back = ["Content/Text/Size = 64      # was 72", "Content/Text/Fade = 250ms   # was 250ms"]
        #expect(try other.ask("swap warm") == back + ["ok rev 3 back from warm"])
        #expect(try client.ask("explain Content/Text/Fade").contains { $0.contains("→ override") })
        #expect(try client.ask("explain Content/Text/Size").contains { $0.contains("→ config file") })
        #expect(try client.ask("swap warm").last == "ok rev 4 swapped to warm; swap warm goes back")
        try other.ask("Content/Text/Size = 80")
        let conflict = "error conflict Content/Text/Size has changed since, in revision 5 by uid 1000"
        let reply = try fixture.normalizedReply(to: "swap warm", client)
        #expect(reply == ["\(conflict); swap warm force goes back anyway"])
        #expect(try client.ask("swap warm force").last == "ok rev 6 back from warm")
        try client.send("json\nswap warm\nswap warm\njson off\n")
        let lines = try client.lines(4)
        #expect(lines[1].hasPrefix(#"{"ok":true,"rev":7,"swapped":"warm","tweaks":["#))
        #expect(lines[2].hasPrefix(#"{"ok":true,"rev":8,"back":"warm","tweaks":["#))
        // After an undo the next swap applies the preset again.
        try client.ask("swap warm")
        try client.ask("undo")
        #expect(try client.ask("swap warm").last == "ok rev 11 swapped to warm; swap warm goes back")
    }
}
