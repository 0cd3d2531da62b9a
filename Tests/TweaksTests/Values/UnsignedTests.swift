// Tests unsigned integers of 64 bits: values up to 2⁶⁴ − 1 are set, stored and printed exactly.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct UnsignedTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<UInt64>

    init() { tweak = Tweak("Kind", "Of", "UInt64", UInt64(7), registry: registry) }

    @Test(
        arguments: [
            ("0", 0), ("9223372036854775807", (1 << 63) - 1), ("9223372036854775808", 1 << 63),
            ("+9223372036854775808", 1 << 63), ("0x8000_0000_0000_0000", 1 << 63),
            ("18446744073709551615", .max), ("0xFFFFFFFFFFFFFFFF", .max), ("18_446_744_073_709_551_615", .max),
        ] as [(String, UInt64)])
    func acceptsTextsUpToTheMaximum(_ text: String, _ value: UInt64) throws {
        try tweak.erased.set(text: text)
        #expect(tweak.value == value && tweak.erased.value == TweakValue(whole: value))
        #expect(tweak.erased.value?.text == "\(value)" && tweak.erased.value?.kind == .int)
        #expect(tweak.erased.description == "Kind/Of/UInt64 = \(value)")
        let snapshot = registry.snapshot()
        #expect(snapshot[tweak] == value && snapshot["Kind/Of/UInt64"] == TweakValue(whole: value))
    }

    @Test(arguments: ["18446744073709551616", "0x10000000000000000", "1e19", "-9223372036854775809"])
    func refusesTextsBeyond64Bits(_ text: String) { expectRefused(text, by: tweak.erased, .badValue) }

    @Test func refusesAndClampsValuesOutOfRange() throws {
        expectRefused("-1", by: tweak.erased, .outOfRange)
        #expect(tweak.erased.lowerBound == .int(0) && tweak.erased.upperBound == .unsigned(.max))
        let plain = Tweak("Kind", "Of", "UInt", UInt.max, registry: registry)
        #expect(plain.value == .max && plain.erased.upperBound == .unsigned(.max))
        let high = Tweak("Kind", "Of", "High", UInt64.max, in: ((1 << 63) + 2)..., step: 4, registry: registry)
        #expect(refusal { try high.set(1 << 63) }?.code == .outOfRange)
        #expect(refusal { try high.set((1 << 63) + 3) }?.description.contains("9223372036854775810") == true)
        try high.set((1 << 63) + 6)
        high.value = 5
        #expect(high.value == 9_223_372_036_854_775_810 as UInt64)
        let small = Tweak("Kind", "Of", "Small", UInt64(7), in: 0...100, registry: registry)
        #expect(refusal { try small.set(.max) }?.description.contains("is outside 0...100") == true)
        small.value = .max
        #expect(small.value == 100)
    }

    @Test(arguments: ["9223372036854775808", "18446744073709551615"])
    func signedTweaksRefuseTextsBeyondTheirMaximum(_ text: String) {
        expectRefused(text, by: Tweak("Kind", "Of", "Int", 0, registry: registry).erased, .badValue)
        let bounded = Tweak("Kind", "Of", "Bounded", 0, in: 0...9, registry: registry)
        expectRefused(text, by: bounded.erased, .outOfRange)
        expectRefused(text, by: Tweak("Kind", "Of", "Byte", UInt8(0), registry: registry).erased, .outOfRange)
    }

    @Test func unsignedValuesThatFitAnIntBecomeOne() throws {
        #expect(try tweak.erased.set(.unsigned(5)).new == .int(5))
        #expect(try Tweak("Kind", "Of", "Int", 0, registry: registry).erased.set(.unsigned(5)).new == .int(5))
        #expect(try tweak.erased.set(.number(0x1p63)).new == .unsigned(1 << 63))
        #expect(refusal { try tweak.erased.set(.number(0x1p64)) }?.code == .outOfRange)
        let number = Tweak("Kind", "Of", "Double", 0.0, registry: registry)
        #expect(try number.erased.set(.unsigned(1 << 63)).new == .number(0x1p63))
        #expect(refusal { try number.erased.set(.unsigned(.max)) }?.code == .badValue)
    }

    @Test func relativeChangesCross2To63AndEndAtTheMaximum() throws {
        func change(_ change: TweakBatch.Change) throws -> UInt64 {
            try registry.commit(origin: .code) { $0.append(tweak.node, change) }
            return tweak.value
        }
        try tweak.set((1 << 63) - 1)
        #expect(try change(.add(.int(1))) == 1 << 63 && change(.subtract(.int(1))) == (1 << 63) - 1)
        #expect(try change(.add(.unsigned(1 << 63))) == .max)
        #expect(throws: TweakError.self) { try change(.add(.int(1))) }
        #expect(try change(.subtract(.unsigned(.max))) == 0)
        #expect(throws: TweakError.self) { try change(.subtract(.int(1))) }
        #expect(throws: TweakError.self) { try change(.add(.int(-1))) }
        #expect(try change(.subtract(.int(-1))) == 1)
    }

    @Test func observersAndLayersHaveTheExactValue() throws {
        let changes = ChangeRecorder(tweak) { $0.new }
        try tweak.set(.max)
        try tweak.set(1 << 63)
        #expect(changes.all == [.max, 1 << 63] && tweak.erased.layers.map(\.value) == [.int(7), .unsigned(1 << 63)])
    }
}
