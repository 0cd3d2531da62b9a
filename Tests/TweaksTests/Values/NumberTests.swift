// Tests the texts that Double and Float tweaks accept and refuse.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct NumberTests {
    private let tweak = Tweak("Kind", "Of", "Number", 0.0, registry: TweakRegistry())
    private let single = Tweak("Kind", "Of", "Float", Float(0), registry: TweakRegistry())

    @Test(arguments: [
        ("0", 0), ("72", 72), ("-72.5", -72.5), ("+1.5", 1.5), (".5", 0.5), ("-.5", -0.5), ("007", 7), ("1e3", 1000),
        ("1E3", 1000), ("1.5e-3", 0.0015), ("1e+2", 100), ("0.1", 0.1), ("1e300", 1e300), ("-1e308", -1e308),
        ("5e-324", .leastNonzeroMagnitude), ("2.2250738585072014e-308", .leastNormalMagnitude),
        ("1.7976931348623157e308", .greatestFiniteMagnitude), ("0.30000000000000004", 0.1 + 0.2),
        ("9007199254740993", 9_007_199_254_740_992),
    ])
    func acceptsTexts(_ text: String, _ value: Double) throws {
        tweak.value = value == 1 ? 2 : 1
        #expect(try tweak.erased.set(text: text).new == .number(value) && tweak.value == value)
    }

    @Test(arguments: [
        "", " ", "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "∞", "1e309", "-1e309", "0x10", "0x1p3", "1_000",
        "1,5", "1.5.2", "1e", "e3", "1e1.5", ".", "-", "+", "--1", "1-", "1 ", " 1", "1\n", "1 2", "٣", "１", "true",
        "1px", "\0", "1e-400", "-0.0001e-330", "nan(0x1)", "1d", "1f",
    ])
    func refusesOtherTexts(_ text: String) {
        expectRefused(text, by: tweak.erased, .badValue)
        expectRefused(text, by: single.erased, .badValue)
    }

    @Test(arguments: [
        (0, "0"), (-0.0, "0"), (72, "72"), (-72.5, "-72.5"), (0.1, "0.1"), (1e15, "1000000000000000"),
        (0x1p53, "9007199254740992.0"), (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"),
        (0.1 + 0.2, "0.30000000000000004"),
    ])
    func printsTheShortestText(_ value: Double, _ text: String) { #expect(TweakValue.number(value).text == text) }

    @Test func parsesWhatItPrints() throws {
        var random = SeededGenerator(seed: 3)
        let extremes: [Double] = [
            0, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude,
            .ulpOfOne, 0x1p53, 0x1p53 - 1, 0x1p63, -0x1p63,
        ]
        for value in extremes + (0..<500).map({ _ in random.finiteDouble() }) {
            try expectRoundTrip(.number(value), by: tweak.erased)
        }
    }

    @Test(arguments: [
        TweakValue.number(.nan), .number(.infinity), .number(-.infinity), .int(.max), .bool(true), .string("4"),
        .choice("4"), .color(.black), .duration(.seconds(4)),
    ])
    func refusesOtherKindsAndInexactNumbers(_ value: TweakValue) { expectRefused(value, by: tweak.erased, .badValue) }

    @Test func acceptsIntsThatADoubleRepresentsExactly() throws {
        #expect(try tweak.erased.set(.int(1 << 53)).new == .number(0x1p53))
    }

    @Test(arguments: [
        ("0.1", Float(0.1), "0.1"), ("3.4028235e38", .greatestFiniteMagnitude, "3.4028235e+38"),
        ("16777217", 16_777_216, "16777216"), ("0e9", 0, "0"), ("1e-45", .leastNonzeroMagnitude, "1e-45"),
        ("1.1754944e-38", .leastNormalMagnitude, "1.1754944e-38"), ("0.30000000000000004", 0.3, "0.3"),
    ])
    func aFloatIsTheNearestValueAndPrintsShort(_ text: String, _ value: Float, _ printed: String) throws {
        single.value = value == 1 ? 2 : 1
        try single.erased.set(text: text)
        #expect(single.value == value && single.erased.value?.text == printed)
    }

    @Test(arguments: ["1e39", "-1e39", "1e300", "3.5e38", "1e-46", "-1e-46", "1e-60", "1e-300"])
    func aFloatRefusesTextsThatItWouldRoundToInfinityOrZero(_ text: String) {
        expectRefused(text, by: single.erased, .outOfRange)
    }

    @Test func aFloatParsesWhatItPrints() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            let value = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            guard value.isFinite else { continue }
            try expectRoundTrip(value.erased, by: single.erased)
            #expect(single.value == value)
        }
    }
}
