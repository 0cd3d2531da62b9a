// Tests the texts that an Int tweak accepts and refuses, and all fixed-width integer types.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct IntTests {
    private let tweak = Tweak("Kind", "Of", "Int", 0, registry: TweakRegistry())

    @Test(arguments: [
        ("0", 0), ("42", 42), ("-42", -42), ("+42", 42), ("007", 7), ("1_000_000", 1_000_000),
        ("0x2a", 42), ("0X2A", 42), ("-0x2a", -42), ("+0xff", 255), ("0xFFFF_FFFF", 0xFFFF_FFFF), ("-0", 0),
        ("9223372036854775807", .max), ("-9223372036854775808", .min), ("0x7FFFFFFFFFFFFFFF", .max),
        ("-0x8000000000000000", .min),
    ])
    func acceptsTexts(_ text: String, _ value: Int) throws {
        tweak.value = value == 1 ? 2 : 1
        #expect(try tweak.erased.set(text: text).new == .int(Int64(value)) && tweak.value == value)
    }

    @Test(arguments: [
        "", " ", "4.2", "4.0", "4.", ".5", "1e3", "--1", "+-1", "-", "+", "_1", "1_", "-_1", "0x", "0x_1", "0x1_",
        "1__0", "0xg", "x2a", "2a", "0b1", "0o7", "1 000", "1,000", " 1", "1 ", "1\n", "٣", "１", "∞", "nan", "inf",
        "true", "\0", "9223372036854775808", "-9223372036854775809", "0x8000000000000000", "99999999999999999999999999",
    ])
    func refusesOtherTexts(_ text: String) { expectRefused(text, by: tweak.erased, .badValue) }

    @Test func parsesWhatItPrints() throws {
        var random = SeededGenerator(seed: 2)
        for value in [0, 1, -1, .max, .min] + (0..<500).map({ _ in random.int64() }) {
            #expect(TweakValue.int(value).text == "\(value)")
            try expectRoundTrip(.int(value), by: tweak.erased)
        }
    }

    @Test(arguments: [4, -0x1p63, 0]) func acceptsWholeNumbers(_ number: Double) throws {
        #expect(try tweak.erased.set(.number(number)).new == .int(Int64(number)))
    }

    @Test(arguments: [
        TweakValue.number(4.2), .number(0x1p63), .number(.nan), .number(.infinity), .number(-.infinity), .bool(true),
        .string("4"), .choice("4"), .color(.black), .duration(.seconds(4)),
    ])
    func refusesValuesOfOtherKinds(_ value: TweakValue) { expectRefused(value, by: tweak.erased, .badValue) }
}

/// Each integer type accepts exactly its range: nothing wraps or traps.
struct IntegerTypeTests {
    private let registry = TweakRegistry()

    @Test func eachTypeAcceptsItsRange() throws {
        try check(Int8.self, below: "-129", above: "128")
        try check(Int16.self, below: "-32769", above: "32768")
        try check(Int32.self, below: "-2147483649", above: "2147483648")
        try check(UInt8.self, below: "-1", above: "256")
        try check(UInt16.self, below: "-1", above: "65536")
        try check(UInt32.self, below: "-1", above: "4294967296")
    }

    private func check<Value: TweakInteger>(_ type: Value.Type, below: String, above: String) throws {
        let tweak = Tweak("Kind", "Of", "\(type)", Value(1), registry: registry)
        for value in [Value.min, .max, 0, 1] {
            try tweak.erased.set(text: "\(value)")
            #expect(tweak.value == value && tweak.erased.value == .int(Int64(value)))
        }
        for text in [below, above] { expectRefused(text, by: tweak.erased, .outOfRange) }
        #expect(tweak.erased.lowerBound == .int(Int64(Value.min)) && tweak.erased.upperBound == .int(Int64(Value.max)))
    }

    @Test func int64AndIntAccept64Bits() throws {
        let long = Tweak("Kind", "Of", "Int64", Int64(0), registry: registry)
        let plain = Tweak("Kind", "Of", "Int", 0, registry: registry)
        for text in ["9223372036854775807", "-9223372036854775808"] {
            try long.erased.set(text: text)
            try plain.erased.set(text: text)
            #expect(long.value == Int64(text) && plain.value == Int(text))
        }
    }
}
