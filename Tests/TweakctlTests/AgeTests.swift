// Tests of times shown as ages.

import Testing
import Tweaks
import TweaksSystem

@testable import tweakctl

@Suite struct AgeTests {
    private let now: Int64 = 1_795_000_000_000

    @Test(
        arguments: [
            (0, "just now"), (4, "just now"), (5, "5 s ago"), (59, "59 s ago"), (60, "1 min ago"),
            (3_599, "59 min ago"), (3_600, "1 h ago"), (86_399, "23 h ago"), (86_400, "1 day ago"),
            (172_800, "2 days ago"), (-3, "just now"), (-60, nil),
        ] as [(Int64, String?)])
    func anAgeHasItsLargestUnit(_ seconds: Int64, _ text: String?) {
        #expect(Age.text(since: now - seconds * 1_000, now: now) == text)
    }

    @Test(arguments: [
        ("  rev 44  TIME  uid 1000: A/B/C 72 → 80", "  rev 44  3 min ago  uid 1000: A/B/C 72 → 80"),
        ("  → override  72  by uid 1000 at TIME", "  → override  72  by uid 1000 3 min ago"),
        ("  until TIME, then 5", "  until 3 min ago, then 5"),
        ("A/B/C \"TIME\"", "A/B/C \"TIME\""),
        ("A \"at TIME now\" by me at TIME", "A \"at TIME now\" by me 3 min ago"),
        ("A \"a \\\" TIME now\" at TIME", "A \"a \\\" TIME now\" 3 min ago"), ("  no time here", "  no time here"),
        ("", ""),
    ])
    func timesOutsideOfValuesAreReplaced(_ line: String, _ expected: String) {
        let time = TimeText.seconds(now - 180_000)
        #expect(Age.inWords(line.replacing("TIME", with: time), now: now) == expected.replacing("TIME", with: time))
    }

    @Test(
        arguments: [
            (0, 5_000), (4_999, 1), (5_000, 1_000), (59_001, 999), (60_000, 60_000), (3_599_000, 1_000),
            (3_600_000, 3_600_000), (86_399_999, 1), (86_400_000, 86_400_000), (-3_000, 8_000), (-60_000, nil),
        ] as [(Int64, Int64?)])
    func anAgeTellsWhenItChanges(_ age: Int64, _ time: Int64?) {
        let moment: Int64 = 1_795_000_000_000
        let line = "rev 1  \(TimeText.seconds(moment))  code"
        #expect(Age.timeUntilChange(of: line, now: moment + age) == time)
        guard let time else { return }
        #expect(Age.inWords(line, now: moment + age) == Age.inWords(line, now: moment + age + time - 1))
        #expect(Age.inWords(line, now: moment + age) != Age.inWords(line, now: moment + age + time))
    }

    @Test func timesAreReplacedOnTerminalsOnly() {
        let line = "  rev 1  \(TimeText.seconds(now))  code: A/B/C 1 → 2"
        var formatter = ReplyFormatter(style: .plain)
        formatter.now = { [now] in now + 60_000 }
        #expect(formatter.lines(Answer(body: [line], status: "ok", isRefusal: false)) == [line])
        formatter = ReplyFormatter(style: Style(isHumanReadable: true), now: formatter.now)
        #expect(
            formatter.lines(Answer(body: [line], status: "ok", isRefusal: false)) == [
                "  rev 1  1 min ago  code: A/B/C 1 → 2"
            ])
    }
}
