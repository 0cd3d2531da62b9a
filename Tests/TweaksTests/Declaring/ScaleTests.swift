// Tests the logarithmic scale with a table that clients in other languages can copy.

import Foundation
import Testing

@testable import Tweaks

struct ScaleTests {
    /// Values, bounds and positions on the logarithmic scale.
    static let table: [(value: Double, lower: Double, upper: Double, position: Double)] = [
        // 0 outside of the range: ln v.
        (1, 1, 1_000, 0), (10, 1, 1_000, 1 / 3), (100, 1, 1_000, 2 / 3), (1_000, 1, 1_000, 1),
        (0.01, 0.0001, 1, 0.5), (60, 1, 3_600, 0.5), (-1_000, -1_000, -1, 0), (-100, -1_000, -1, 1 / 3),
        // 0 inside or at a bound: sign(v) · ln(1 + |v| ÷ c), c = max(|lower|, |upper|) ÷ 1000.
        (0, 0, 3_600, 0), (3.6, 0, 3_600, 0.100_328_82), (10, 0, 3_600, 0.192_384_30),
        (60, 0, 3_600, 0.415_658_06), (600, 0, 3_600, 0.741_374_97), (3_600, 0, 3_600, 1),
        (0, -1_000, 1_000, 0.5), (1, -1_000, 1_000, 0.550_164_41), (-1, -1_000, 1_000, 0.449_835_59),
        (999, -1_000, 1_000, 0.999_927_66), (-1_000, -1_000, 0, 0), (-1, -1_000, 0, 0.899_671_18),
        // Values out of range, and an empty range.
        (5_000, 1, 1_000, 1), (-3, 0, 10, 0), (5, 5, 5, 0),
    ]

    @Test(arguments: table.indices)
    func valuesHaveTheirPositions(_ row: Int) {
        let (value, lower, upper, position) = Self.table[row]
        let scale = TweakScale.logarithmic
        #expect(abs(scale.position(of: value, in: lower...upper) - position) < 1e-8)
        guard lower < upper else { return }
        let back = scale.value(at: position, in: lower...upper)
        #expect(abs(back - min(max(value, lower), upper)) <= (upper - lower) * 1e-7)
    }

    /// Their places are infinitely far from each other, or the same.
    @Test(arguments: [
        -Double.leastNonzeroMagnitude...Double.leastNonzeroMagnitude, 0...Double.leastNonzeroMagnitude,
        -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude,
    ])
    func rangesOfExtremeNumbersHavePositions(_ range: ClosedRange<Double>) {
        for scale in [TweakScale.linear, .logarithmic] {
            for value in [range.lowerBound, 0, range.upperBound, .infinity] {
                #expect((0...1).contains(scale.position(of: value, in: range)))
            }
        }
    }

    @Test func theLinearScaleIsLinear() {
        #expect(TweakScale.linear.position(of: 25, in: 0...100) == 0.25)
        #expect(TweakScale.linear.value(at: 0.25, in: -100...100) == -50)
    }

    @Test func positionsIncreaseAndRoundTripOverManyMagnitudes() {
        for range in [1e-9...1e9, 0...3.6e12, -1e300...1e300, -5...(-1e-3), 0...Double.leastNormalMagnitude * 1e6] {
            var last = -1.0
            for step in 0...200 {
                let value = TweakScale.logarithmic.value(at: Double(step) / 200, in: range)
                let position = TweakScale.logarithmic.position(of: value, in: range)
                #expect(abs(position - Double(step) / 200) < 1e-9 && position > last, "\(value) in \(range)")
                last = position
            }
        }
    }

    @Test func positionsAgreeWithTheLogarithmOfTheCLibrary() {
        for value in [1e-300, 0.3, 1, 1.41, 1.42, 2, 10, 12_345.678, 9e307] {
            let position = TweakScale.logarithmic.position(of: value, in: 1e-300...9e307)
            #expect(abs(position - (log(value) - log(1e-300)) / (log(9e307) - log(1e-300))) < 1e-14)
        }
    }

    @Test func theScaleIsPartOfTheDefinition() throws {
        let registry = TweakRegistry()
        let wait = Tweak(
            "A", "B", "Wait", .seconds(10), in: .zero ... .seconds(3_600), scale: .logarithmic, registry: registry)
        let rate = Tweak("A", "B", "Rate", 5, in: 1...1_000, unit: "1/s", registry: registry)
        #expect(wait.scale == .logarithmic && wait.erased.scale == .logarithmic && rate.scale == .linear)
        #expect(wait.erased.node.definition.summary == "duration 0s...1h logarithmic")
        _ = Tweak("A", "B", "Rate", 5, in: 1...1_000, scale: .logarithmic, unit: "1/s", registry: registry)
        #expect(registry.conflicts.map(\.path.joined) == ["A/B/Rate"])
    }

    // MARK: Without a declared scale

    private func scale(_ standard: Double, _ range: ClosedRange<Double>, step: Double? = nil) -> TweakScale {
        Tweak("A", "B", "C", standard, in: range, step: step, registry: TweakRegistry()).scale
    }

    @Test func aRangeOverThreeDecadesIsLogarithmicUnlessItsDeclarationSaysLinear() {
        // 0 is outside: by the bounds.
        #expect(scale(500, 1...1_000) == .linear && scale(500, 1...1_001) == .logarithmic)
        #expect(scale(-5, -1_001 ... -1) == .logarithmic && scale(-5, -1_000 ... -1) == .linear)
        // 0 is inside: by a tenth of the default, or the step.
        #expect(scale(10, 0...10_000) == .logarithmic && scale(100, 0...10_000) == .linear)
        #expect(scale(10, 0...10_000, step: 10) == .linear && scale(0, 0...10_000, step: 5) == .logarithmic)
        // Nothing says which numbers matter.
        #expect(scale(0, 0...1) == .linear && scale(0, 0...1e9) == .linear)
        // Both sides of 0: by the larger one.
        #expect(scale(-1, -200...10) == .logarithmic && scale(-1, -100...10) == .linear)
        #expect(scale(1, -Double.greatestFiniteMagnitude...1e300) == .logarithmic)

        let registry = TweakRegistry()
        func scaleOf<Value: TweakBounded>(_ name: String, _ value: Value, _ range: ClosedRange<Value>) -> TweakScale {
            Tweak("A", "B", name, value, in: range, registry: registry).scale
        }
        #expect(scaleOf("Few", 0, 0...1_000) == .linear && scaleOf("Many", 0, 0...1_001) == .logarithmic)
        #expect(scaleOf("Median", 5_000, 0...10_000) == .linear)
        #expect(scaleOf("Idle", .seconds(300), .zero ... .seconds(86_400)) == .logarithmic)
        #expect(scaleOf("Fade", .milliseconds(250), .zero ... .seconds(5)) == .linear)
        let even = Tweak("A", "B", "Even", 10, in: 0...10_000, scale: .linear, registry: registry)
        let unbounded = Tweak("A", "B", "Unbounded", 10, in: 0..., registry: registry)
        let secret = Tweak("A", "B", "Pin", 10, in: 0...10_000, flags: .secret, registry: registry)
        let figure = Tweak("A", "B", "Rate", 10, in: 0...10_000, flags: .readOnly, registry: registry)
        #expect([even.scale, unbounded.scale, secret.scale, figure.scale].allSatisfy { $0 == .linear })
        let maybe = Tweak<Double?>("A", "B", "Maybe", 10, in: 0...10_000, registry: registry)
        let list = Tweak("A", "B", "List", [10], in: 0...10_000, registry: registry)
        #expect(maybe.scale == .logarithmic && list.scale == .linear)
    }
}
