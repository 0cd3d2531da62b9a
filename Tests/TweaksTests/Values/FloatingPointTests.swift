// Tests a floating-point type that one line makes convertible.

import Testing

@testable public import Tweaks
import TweaksTestSupport

#if !arch(x86_64) || !os(macOS)
    // A program in another package writes @retroactive before the protocol.
    extension Float16: TweakFloatingPoint {}

    struct FloatingPointTests {
        private let registry = TweakRegistry()

        @Test func aTypeThatOneLineMakesConvertibleIsANumber() throws {
            let tweak = Tweak("Kind", "Of", "Half", Float16(0.1), in: 0...10, step: 0.1, unit: "pt", registry: registry)
            #expect(tweak.erased.kind == .number && tweak.erased.value == .number(0.1))
            try tweak.erased.set(text: "0.3")
            #expect(tweak.value == 0.3 && tweak.erased.upperBound == .number(10))
            tweak.value = 99
            #expect(tweak.value == 10)
            expectRefused("11", by: tweak.erased, .outOfRange)
            expectRefused("nan", by: tweak.erased, .badValue)
        }
    }
#endif
