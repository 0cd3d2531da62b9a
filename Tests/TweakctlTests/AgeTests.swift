// Moments as ages: which, in which words, and what is left as it is.

import Testing
import Tweaks
import TweaksTerminal

@testable import tweakctl

@Suite struct AgeTests {
    private let now: Int64 = 1_795_000_000_000

    /// (seconds before now, the words)
    @Test(
        arguments: [
            (0, "just now"), (4, "just now"), (5, "5 s ago"), (59, "59 s ago"), (60, "1 min ago"),
            (3_599, "59 min ago"),
            (3_600, "1 h ago"), (86_399, "23 h ago"), (86_400, "1 day ago"), (172_800, "2 days ago"), (-3, "just now"),
        ] as [(Int64, String)])
    func words(_ seconds: Int64, _ words: String) {
        #expect(Age.text(since: now - seconds * 1_000, now: now) == words)
    }

    @Test func whatIsToComeHasNoAge() { #expect(Age.text(since: now + 60_000, now: now) == nil) }

    @Test func inLines() {
        let time = TimeText.seconds(now - 180_000)
        #expect(
            Age.inWords("  rev 44  \(time)  uid 1000: A/B/C 72 → 80", now: now)
                == "  rev 44  3 min ago  uid 1000: A/B/C 72 → 80")
        #expect(
            Age.inWords("  → override  72  by uid 1000 at \(time)", now: now)
                == "  → override  72  by uid 1000 3 min ago")
        #expect(Age.inWords("  until \(time), then 5", now: now) == "  until 3 min ago, then 5")
        for line in ["A/B/C \"\(time)\"", "  no moment here", ""] { #expect(Age.inWords(line, now: now) == line) }
    }

    @Test func onTerminalsAlone() {
        let line = "  rev 1  \(TimeText.seconds(now))  code: A/B/C 1 → 2"
        var painter = Painter(style: .plain)
        painter.now = { [now] in now + 60_000 }
        #expect(painter.lines([line]) == [line])
        painter = Painter(style: Style(isForPeople: true), now: painter.now)
        #expect(painter.lines([line]) == ["  rev 1  1 min ago  code: A/B/C 1 → 2"])
    }
}
