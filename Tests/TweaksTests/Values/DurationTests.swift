// Tests the texts that a Duration tweak accepts and refuses.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct DurationTests {
    private let tweak = Tweak("Kind", "Of", "Duration", Duration.nanoseconds(7), registry: TweakRegistry())

    /// The text, its nanoseconds, and their printed text.
    @Test(arguments: [
        ("250ms", 250_000_000, "250ms"), ("0s", 0, "0s"), ("0ns", 0, "0s"), ("-0s", 0, "0s"),
        ("1.5s", 1_500_000_000, "1.5s"), ("1ns", 1, "1ns"), ("1us", 1_000, "1us"), ("1500us", 1_500_000, "1.5ms"),
        ("2m", 120_000_000_000, "2m"), ("90s", 90_000_000_000, "1m30s"), ("1h30m", 5_400_000_000_000, "1h30m"),
        ("1.5h", 5_400_000_000_000, "1h30m"), ("1h1m1s1ms1us1ns", 3_661_001_001_001, "1h1m1.001001001s"),
        ("-250ms", -250_000_000, "-250ms"), ("-1h30m", -5_400_000_000_000, "-1h30m"), ("0.000000001s", 1, "1ns"),
        ("1.500000000000000000s", 1_500_000_000, "1.5s"), ("007s", 7_000_000_000, "7s"), ("0.5us", 500, "500ns"),
        ("1h0m", 3_600_000_000_000, "1h"), ("60m", 3_600_000_000_000, "1h"),
        ("9223372036854775807ns", Int64.max, "2562047h47m16.854775807s"),
        ("-9223372036854775808ns", .min, "-2562047h47m16.854775808s"),
        ("2562047h47m16.854775807s", .max, "2562047h47m16.854775807s"),
    ])
    func acceptsTexts(_ text: String, _ nanoseconds: Int64, _ printed: String) throws {
        let new = try tweak.erased.set(text: text).new
        #expect(new == .duration(.nanoseconds(nanoseconds)) && tweak.value == .nanoseconds(nanoseconds))
        #expect(new.text == printed)
    }

    @Test(arguments: [
        "", " ", "-", "0", "1", "1.5", "s", "ms", ".5s", "1.s", "1..5s", "+1s", "--1s", "1s-1ms", "1 s", " 1s", "1s ",
        "1h 30m", "1S", "1Ms", "1sec", "1d", "1µs", "1m1m", "30m1h", "1ms1s", "1e3s", "0x1s", "1_000s", "1,5s", "١s",
        "1s\n", "inf", "nan", "0.5ns", "0.0000000001s", "1.0000000001s", "9223372036854775808ns",
        "-9223372036854775809ns", "2562048h", "99999999999999999999s", "18446744073709551616ns",
        "1.0000000000000000001h", "\0",
    ])
    func refusesOtherTexts(_ text: String) { expectRefused(text, by: tweak.erased, .badValue) }

    @Test func parsesWhatItPrints() throws {
        var random = SeededGenerator(seed: 9)
        let extremes: [Int64] = [
            0, 1, -1, .max, .min, .max - 1, .min + 1, 59_999_999_999, 60_000_000_000, 3_599_999_999_999,
        ]
        for nanoseconds in extremes + (0..<500).map({ _ in random.int64() }) {
            #expect(DurationText.parse(DurationText.print(nanoseconds)) == nanoseconds)
            try expectRoundTrip(.duration(.nanoseconds(nanoseconds)), by: tweak.erased)
        }
    }

    /// Finer or longer durations are refused, not rounded.
    @Test(arguments: [
        Duration(secondsComponent: 0, attosecondsComponent: 1), .seconds(Int64.max), .seconds(Int64.min),
        .nanoseconds(Int64.max) + .nanoseconds(1), .nanoseconds(Int64.min) - .nanoseconds(1),
        Duration(secondsComponent: -1, attosecondsComponent: 999_999_999),
    ])
    func refusesWhatIsNotA64BitNumberOfNanoseconds(_ duration: Duration) {
        #expect(refusal { try tweak.set(duration) }?.code == .badValue)
        tweak.value = duration
        #expect(tweak.value == .nanoseconds(7))
    }

    @Test(arguments: [Int64.min, .min + 1, .max]) func extremesAreExact(nanoseconds: Int64) throws {
        try tweak.set(.nanoseconds(nanoseconds))
        #expect(tweak.value == .nanoseconds(nanoseconds))
    }

    @Test(arguments: [TweakValue.int(1), .number(1), .string("1s"), .choice("1s"), .bool(true), .color(.black)])
    func refusesValuesOfOtherKinds(_ value: TweakValue) { expectRefused(value, by: tweak.erased, .badValue) }
}
