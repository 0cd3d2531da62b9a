// Unsigned integers of 64 bits: every value up to 2⁶⁴ − 1 is set, kept and told exactly.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct UnsignedTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<UInt64>

    init() { tweak = Tweak("Kind", "Of", "UInt64", UInt64(7), registry: registry) }

    @Test(
        "text, value and what is printed",
        arguments: [
            ("0", 0), ("9223372036854775807", (1 << 63) - 1), ("9223372036854775808", 1 << 63),
            ("+9223372036854775808", 1 << 63), ("0x8000_0000_0000_0000", 1 << 63),
            ("18446744073709551615", .max), ("0xFFFFFFFFFFFFFFFF", .max), ("18_446_744_073_709_551_615", .max),
        ] as [(String, UInt64)])
    func accepts(_ text: String, _ value: UInt64) throws {
        try tweak.erased.set(text: text)
        #expect(tweak.value == value && tweak.erased.value == TweakValue(whole: value))
        #expect(tweak.erased.value?.text == "\(value)" && tweak.erased.value?.kind == .int)
        #expect(tweak.erased.description == "Kind/Of/UInt64 = \(value)")
        #expect(registry.snapshot()[tweak] == value)
        #expect(registry.snapshot()["Kind/Of/UInt64"] == TweakValue(whole: value))
    }

    @Test(
        "what 64 bits do not hold",
        arguments: ["18446744073709551616", "0x10000000000000000", "1e19", "-9223372036854775809"])
    func refuses(_ text: String) { expectRefused(text, by: tweak.erased, .badValue) }

    @Test func endsAtItsBounds() throws {
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

    @Test("signed tweaks end where they did", arguments: ["9223372036854775808", "18446744073709551615"])
    func signed(_ text: String) {
        expectRefused(text, by: Tweak("Kind", "Of", "Int", 0, registry: registry).erased, .badValue)
        let bounded = Tweak("Kind", "Of", "Bounded", 0, in: 0...9, registry: registry)
        expectRefused(text, by: bounded.erased, .outOfRange)
        expectRefused(text, by: Tweak("Kind", "Of", "Byte", UInt8(0), registry: registry).erased, .outOfRange)
    }

    @Test("a small value is an int, whoever says it is unsigned") func oneForm() throws {
        #expect(try tweak.erased.set(.unsigned(5)).new == .int(5))
        #expect(try Tweak("Kind", "Of", "Int", 0, registry: registry).erased.set(.unsigned(5)).new == .int(5))
        #expect(try tweak.erased.set(.number(0x1p63)).new == .unsigned(1 << 63))
        #expect(refusal { try tweak.erased.set(.number(0x1p64)) }?.code == .outOfRange)
        let number = Tweak("Kind", "Of", "Double", 0.0, registry: registry)
        #expect(try number.erased.set(.unsigned(1 << 63)).new == .number(0x1p63))
        #expect(refusal { try number.erased.set(.unsigned(.max)) }?.code == .badValue)
    }

    @Test("sums cross 2⁶³ both ways and end at 2⁶⁴ − 1") func sums() throws {
        func change(_ change: TweakBatch.Change) throws -> UInt64 {
            var batch = TweakBatch()
            batch.append(tweak.node, change)
            try registry.commit(batch, origin: .code, policy: nil, delivery: .caller)
            return tweak.value
        }
        try tweak.set((1 << 63) - 1)
        #expect(try change(.add(.int(1))) == 1 << 63)
        #expect(try change(.subtract(.int(1))) == (1 << 63) - 1)
        #expect(try change(.add(.unsigned(1 << 63))) == .max)
        #expect(throws: TweakError.self) { try change(.add(.int(1))) }
        #expect(try change(.subtract(.unsigned(.max))) == 0)
        #expect(throws: TweakError.self) { try change(.subtract(.int(1))) }
        #expect(throws: TweakError.self) { try change(.add(.int(-1))) }
        #expect(try change(.subtract(.int(-1))) == 1)
    }

    @Test func observedAndListed() throws {
        let seen = Recorder<UInt64>()
        let token = tweak.observe { seen.note($0.new) }
        try tweak.set(.max)
        try tweak.set(1 << 63)
        #expect(seen.all == [.max, 1 << 63] && tweak.erased.layers.map(\.value) == [.int(7), .unsigned(1 << 63)])
        token.cancel()
    }
}
