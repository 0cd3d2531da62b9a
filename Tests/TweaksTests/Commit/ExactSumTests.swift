// Tests that += and -= are exact where both texts are decimals, at steps of all sizes.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct ExactSumTests {
    private let registry = TweakRegistry()

    private func change(_ tweak: Tweak<Double>, _ change: TweakBatch.Change) throws {
        var batch = TweakBatch()
        batch.append(tweak.node, change)
        _ = try registry.commit(batch, origin: .code, delivery: .caller)
    }

    @Test func aSmallStepGivesItsDecimal() throws {
        let rate = Tweak("A", "B", "Rate", 0.00032, registry: registry)
        try change(rate, .add(.number(0.00001)))
        #expect(rate.value == 0.00033)
        try change(rate, .subtract(.number(0.00001)))
        #expect(rate.value == 0.00032 && !rate.isModified)
    }

    @Test(arguments: [
        (0.0, 1e-8), (0.00032, 1e-8), (1, 1e-8), (0.1, 0.2), (0.3, 1e-5), (2.5e-300, 1e-300), (1e300, 1e299),
        (-0.7, 0.1), (0, .leastNonzeroMagnitude), (1e16, 1e3), (123_456.789, 1e-6),
    ])
    func twentyStepsAndTwentyBackEndWhereTheyBegan(_ start: Double, _ step: Double) throws {
        let tweak = Tweak("A", "B", "Value", start, registry: registry)
        for _ in 0..<20 { try change(tweak, .add(.number(step))) }
        #expect(tweak.value == Decimals.multiple(20, of: step, from: start) && tweak.isModified)
        for _ in 0..<20 { try change(tweak, .subtract(.number(step))) }
        #expect(tweak.value == start && !tweak.isModified, "\(tweak.value)")
    }

    /// A double has about 16 digits.
    @Test func aTypedAmountKeepsAllItsDigits() throws {
        let tweak = Tweak("A", "B", "Value", 1.0, unit: "px", registry: registry)
        let text = "9007199254740993 px"
        try change(tweak, .add(tweak.node.read(text, from: .typed), exactly: tweak.node.decimal(text)))
        #expect(tweak.value == 9_007_199_254_740_994)
        try change(tweak, .subtract(tweak.node.read(text, from: .typed), exactly: tweak.node.decimal(text)))
        #expect(tweak.value == 1 && !tweak.isModified)
    }

    @Test func aSumBeyondTheDoublesIsRefused() throws {
        let tweak = Tweak("A", "B", "Value", Double.greatestFiniteMagnitude, registry: registry)
        let error = refusal { try change(tweak, .add(.number(.greatestFiniteMagnitude))) }
        #expect(error?.code == .badValue && !tweak.isModified)
    }

    /// A text with an exponent counts as a decimal, too.
    @Test func aSmallDeclaredStepSnapsToItsDecimal() throws {
        let tweak = Tweak("A", "B", "Value", 0.0, in: 0...1, step: 1e-5, policy: .snap, registry: registry)
        try tweak.set(0.0003214)
        #expect(tweak.value == 0.00032)
        let tiny = Tweak("A", "B", "Tiny", 0.0, in: 0...1, step: 1e-300, policy: .snap, registry: registry)
        try tiny.set(3.2e-300)
        #expect(tiny.value == 3e-300)
    }
}
