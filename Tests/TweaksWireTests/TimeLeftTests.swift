// Tests the text of remaining times: rounded up, without overflow.

import Testing
import TweaksWire

struct TimeLeftTests {
    @Test(arguments: [
        (Duration.seconds(599), "9m59s"), (.milliseconds(598_001), "9m59s"), (.seconds(10), "10s"),
        (.milliseconds(9_950), "10s"), (.milliseconds(9_901), "10s"), (.milliseconds(9_900), "9.9s"),
        (.nanoseconds(1), "100ms"), (.zero, "0s"),
        // A file can hold any two dates.
        (.seconds(-5), "0s"), (.seconds(Int64.min), "0s"), (.seconds(8_000 * 365 * 86_400), "2500000h"),
        (.seconds(Int64.max), "2500000h"),
    ])
    func remainingTimesAreRoundedUp(_ duration: Duration, _ text: String) { #expect(TimeLeft.text(duration) == text) }

    @Test func fieldsForProgramsAreExact() {
        let texts = [Duration.milliseconds(1_500), .nanoseconds(1), .seconds(Int64.max)].map { duration in
            TimeLeft.fields(duration).map { "\($0.0) \($0.1)" }
        }
        #expect(texts.map(\.count) == [2, 2, 2])
        #expect(texts[0] != texts[1])
    }
}
