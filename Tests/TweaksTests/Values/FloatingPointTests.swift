// Tests a floating-point type that one line makes convertible: CGFloat, which Foundation provides on Linux.

import Testing

@testable public import Tweaks
import TweaksTestSupport

#if canImport(CoreGraphics)
    import CoreGraphics
#else
    public import Foundation

    // A program in another package writes @retroactive before the protocol.
    extension CGFloat: TweakFloatingPoint {}
#endif

struct FloatingPointTests {
    private let registry = TweakRegistry()

    @Test func cgFloatIsANumber() throws {
        let tweak = Tweak("Kind", "Of", "CGFloat", CGFloat(0.1), in: 0...10, step: 0.1, unit: "pt", registry: registry)
        #expect(tweak.erased.kind == .number && tweak.erased.value == .number(0.1))
        try tweak.erased.set(text: "0.3")
        #expect(tweak.value == 0.3 && tweak.erased.upperBound == .number(10))
        tweak.value = 99
        #expect(tweak.value == 10)
        expectRefused("11", by: tweak.erased, .outOfRange)
        expectRefused("nan", by: tweak.erased, .badValue)
    }
}
