// Two looks side by side: diff and swap, with a real daemon.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct PresetComparingTests {
    private let station: Station

    init() throws { station = try Station() }

    @Test func diff() throws {
        try station.put("warm", "Content/Text/Size = 72\nContent/Text/Gone = 1\nContent/Text/Fade = 1m\n")
        try station.put("cold", "Content/Text/Size = 60\n")
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try client.ask("Content/Text/Alignment = right")
        #expect(
            try client.ask("diff warm") == [
                "  Content/Text/Size 60 → 72", "  Content/Text/Alignment right, in force only",
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
        #expect(
            try client.lines(3)[1]
                == #"{"ok":true,"left":"in force","right":"cold","count":1,"differences":[{"path":"Content/Text/Alignment","left":"right","right":null}]}"#
        )
        station.stop(daemon)
    }

    @Test func swapping() throws {
        try station.save("Content/Text/Size = 64\n")
        try station.put("warm", "Content/Text/Size = 72\n")
        let daemon = try station.start(.init(station.config))
        let (client, other) = (try station.connect(daemon), try station.connect(daemon))
        try client.ask("Content/Text/Fade = 250ms")
        let there = [
            "Content/Text/Size = 72      # was 64", "Content/Text/Fade = 250ms   # was 250ms",
        ]
        #expect(try client.ask("swap warm") == there + ["ok rev 3 swapped to warm; swap warm goes back"])
        // Whoever types it: the way back is the program's.
        #expect(
            try other.ask("swap warm") == [
                "Content/Text/Size = 64      # was 72", "Content/Text/Fade = 250ms   # was 250ms",
                "ok rev 4 back from warm",
            ])
        #expect(try client.ask("explain Content/Text/Fade").contains { $0.contains("→ override") })
        #expect(try client.ask("explain Content/Text/Size").contains { $0.contains("→ config file") })
        #expect(try client.ask("swap warm").last == "ok rev 5 swapped to warm; swap warm goes back")
        try other.ask("Content/Text/Size = 80")
        #expect(
            try station.ask(client, "swap warm") == [
                "error conflict Content/Text/Size has changed since, in revision 6 by uid 1000; "
                    + "swap warm force goes back all the same"
            ])
        #expect(try client.ask("swap warm force").last == "ok rev 7 back from warm")
        try client.send("json\nswap warm\nswap warm\njson off\n")
        let lines = try client.lines(4)
        #expect(lines[1].hasPrefix(#"{"ok":true,"rev":8,"swapped":"warm","tweaks":["#))
        #expect(lines[2].hasPrefix(#"{"ok":true,"rev":9,"back":"warm","tweaks":["#))
        // Taken back by undo, the next one goes there again.
        try client.ask("swap warm")
        try client.ask("undo")
        #expect(try client.ask("swap warm").last == "ok rev 12 swapped to warm; swap warm goes back")
        station.stop(daemon)
    }
}
