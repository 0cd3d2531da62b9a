// Tests the arithmetic of ranges and steps: which values fit, which value is the nearest, and that nothing overflows.

import Testing

@testable import Tweaks
import TweaksTestSupport

/// A value, its limits, and the expected result of the check.
struct LimitsRow<Number: SignedNumeric & Comparable & Sendable>: Sendable, CustomTestStringConvertible {
    let value: Number
    let lower: Number?
    let upper: Number?
    let step: Number?
    let standard: Number?
    let result: TweakLimits.CheckResult<Number>

    init(
        _ value: Number, _ lower: Number?, _ upper: Number?, step: Number? = nil, default standard: Number? = nil,
        _ result: TweakLimits.CheckResult<Number>
    ) {
        (self.value, self.lower, self.upper, self.step) = (value, lower, upper, step)
        (self.standard, self.result) = (standard, result)
    }

    var testDescription: String {
        "\(value) in \(lower.map { "\($0)" } ?? "")...\(upper.map { "\($0)" } ?? "") by \(step ?? 0)"
    }
}

struct WholeLimitsTests {
    typealias Row = LimitsRow<Int128>
    private static let lowest = Int128(Int64.min)
    private static let highest = Int128(Int64.max)

    @Test(arguments: [
        // Ranges, open on either side.
        Row(5, 0, 10, .fits), Row(0, 0, 10, .fits), Row(10, 0, 10, .fits), Row(-1, 0, 10, .outside(nearest: 0)),
        Row(11, 0, 10, .outside(nearest: 10)), Row(highest, 0, nil, .fits), Row(-1, 0, nil, .outside(nearest: 0)),
        Row(lowest, nil, 0, .fits), Row(1, nil, 0, .outside(nearest: 0)), Row(lowest, nil, nil, .fits),
        // A step is measured from the minimum, or else from the default, and from 0 where there is neither.
        Row(8, nil, nil, step: 5, default: 3, .fits), Row(-2, nil, 10, step: 5, default: 3, .fits),
        Row(5, nil, nil, step: 5, default: 3, .offStep(nearest: 3)),
        Row(6, nil, 7, step: 5, default: 3, .offStep(nearest: 7)),
        // The default is valid off-step.
        Row(3, 0, 10, step: 5, default: 3, .fits), Row(8, 0, 10, step: 5, default: 3, .offStep(nearest: 10)),
        Row(highest, nil, nil, step: highest, default: lowest, .offStep(nearest: highest - 1)),
        Row(7, 1, 10, step: 3, .fits), Row(6, 1, 10, step: 3, .offStep(nearest: 7)),
        Row(5, 1, 10, step: 3, .offStep(nearest: 4)), Row(6, nil, 10, step: 3, .fits), Row(-6, nil, 10, step: 3, .fits),
        Row(-7, nil, 10, step: 3, .offStep(nearest: -6)), Row(-8, nil, nil, step: 3, .offStep(nearest: -9)),
        Row(5, nil, nil, step: 10, .offStep(nearest: 10)),
        // The maximum is valid off-step, and may be the nearest.
        Row(9, 0, 9, step: 4, .fits), Row(8, 0, 9, step: 4, .fits), Row(7, 0, 9, step: 4, .offStep(nearest: 8)),
        Row(14, 0, 14, step: 10, .fits), Row(6, 0, 8, step: 10, .offStep(nearest: 8)),
        Row(7, 0, 8, step: 16, .offStep(nearest: 8)), Row(3, 0, 8, step: 16, .offStep(nearest: 0)),
        // Extremes.
        Row(highest, lowest, highest, step: highest, .fits), Row(highest - 1, lowest, highest, step: 2, .fits),
        Row(0, lowest, highest, step: highest, .offStep(nearest: -1)), Row(-1, lowest, nil, step: highest, .fits),
        Row(highest, nil, nil, step: 10, .offStep(nearest: 9_223_372_036_854_775_800)),
        Row(lowest, nil, nil, step: 10, .offStep(nearest: -9_223_372_036_854_775_800)),
        Row(highest, 1, nil, step: highest, .offStep(nearest: 1)),
    ])
    func aValueFitsOrHasANearestValidValue(_ row: Row) {
        let result = checkLimits(row.value, lower: row.lower, upper: row.upper, step: row.step, default: row.standard)
        #expect(result == row.result)
    }

    @Test func theNearestValueFits() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let bounds = [random.int64(), random.int64()].sorted().map { Int128($0) }
            let lower = Bool.random(using: &random) ? bounds[0] : nil
            let upper = Bool.random(using: &random) ? bounds[1] : nil
            let step = max(1, random.int64().magnitude >> 1)
            let value = Int128(random.int64())
            switch checkLimits(value, lower: lower, upper: upper, step: Int128(step), default: nil) {
            case .fits: #expect(value >= lower ?? value && value <= upper ?? value)
            case .outside(let nearest): #expect(nearest == (value < nearest ? lower : upper))
            case .offStep(let nearest):
                let again = checkLimits(nearest, lower: lower, upper: upper, step: Int128(step), default: nil)
                #expect(again == .fits, "\(value) → \(nearest) in \(bounds) by \(step)")
                let distance = (value - nearest).magnitude
                // At most half a step, unless the next step is out of range.
                let isEdge = upper == nil || lower == nil || nearest == upper
                #expect(distance * 2 <= step || isEdge && distance <= step)
            }
        }
    }
}

struct RealLimitsTests {
    typealias Row = LimitsRow<Double>

    @Test(arguments: [
        Row(0.5, 0, 1, .fits), Row(0, 0, 1, .fits), Row(1, 0, 1, .fits), Row(-0.0, 0, 1, .fits),
        Row(1.0000000000000002, 0, 1, .outside(nearest: 1)), Row(-.leastNonzeroMagnitude, 0, 1, .outside(nearest: 0)),
        Row(1e308, 0, nil, .fits), Row(-1e308, nil, 0, .fits),
        // 0.1 × 3 is on step, and the nearest value has no rounding error.
        Row(0.1 * 3, 0, 1, step: 0.1, .fits), Row(0.30000000000000004, nil, nil, step: 0.1, .fits),
        Row(0.7 + 0.1, 0, 1, step: 0.1, .fits), Row(123_456.7, 0, nil, step: 0.1, .fits),
        Row(0.34, 0, 1, step: 0.1, .offStep(nearest: 0.3)), Row(0.36, 0, 1, step: 0.1, .offStep(nearest: 0.4)),
        Row(0.301, 0, 1, step: 0.1, .offStep(nearest: 0.3)), Row(60.25, 10, 100, step: 0.5, .offStep(nearest: 60.5)),
        // From the minimum; from 0 where there is none; negative ones too.
        Row(1.25, 0.25, 9, step: 0.5, .fits), Row(1, 0.25, 9, step: 0.5, .offStep(nearest: 1.25)),
        Row(-1.5, nil, 9, step: 0.5, .fits), Row(-1.6, nil, 9, step: 0.5, .offStep(nearest: -1.5)),
        // From the default where there is no minimum; the default is valid off-step.
        Row(60.8, nil, nil, step: 0.5, default: 60.3, .fits), Row(59.8, nil, 100, step: 0.5, default: 60.3, .fits),
        Row(60.5, nil, nil, step: 0.5, default: 60.3, .offStep(nearest: 60.3)),
        Row(60.3, 10, 100, step: 0.5, default: 60.3, .fits),
        Row(60.4, 10, 100, step: 0.5, default: 60.3, .offStep(nearest: 60.5)),
        // The maximum is valid off-step, and may be the nearest.
        Row(0.95, 0, 0.95, step: 0.1, .fits), Row(0.92, 0, 0.95, step: 0.1, .offStep(nearest: 0.9)),
        Row(0.94, 0, 0.95, step: 0.1, .offStep(nearest: 0.95)),
        // Extremes: the difference of two doubles may be infinite, and so may its quotient.
        Row(9e307, -1e308, 1e308, step: 1e307, .fits),
        Row(9.6e307, -1e308, 1e308, step: 1e307, .offStep(nearest: 1e308)), Row(0, -1e308, 1e308, step: 1, .fits),
        Row(1e308, -1e308, 1e308, step: 5e307, .fits), Row(1, 0, nil, step: .leastNonzeroMagnitude, .fits),
        Row(1e300, 0, nil, step: 0.1, .fits), Row(1e300, 0, 1e300, step: 3, .fits),
        Row(.leastNonzeroMagnitude, 0, 1, step: 0.1, .fits),
        Row(.greatestFiniteMagnitude, nil, nil, step: 1e308, .offStep(nearest: 1e308)),
        Row(-.greatestFiniteMagnitude, nil, nil, step: 1e308, .offStep(nearest: -1e308)),
    ])
    func aValueFitsOrHasANearestValidValue(_ row: Row) {
        let result = checkLimits(row.value, lower: row.lower, upper: row.upper, step: row.step, default: row.standard)
        #expect(result == row.result)
    }

    @Test func theNearestValueFitsAndIsFinite() {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<20_000 {
            let bounds = [random.finiteDouble(), random.finiteDouble()].sorted()
            let lower = Bool.random(using: &random) ? bounds[0] : nil
            let upper = Bool.random(using: &random) ? bounds[1] : nil
            let step = random.finiteDouble().magnitude
            let value = random.finiteDouble()
            if step == 0 { continue }
            let result = checkLimits(value, lower: lower, upper: upper, step: step, default: nil)
            guard case .offStep(let nearest) = result else { continue }
            #expect(nearest.isFinite)
            let again = checkLimits(nearest, lower: lower, upper: upper, step: step, default: nil)
            #expect(again == .fits, "\(value) → \(nearest) in \(bounds) by \(step)")
        }
    }

    @Test func multiplesOfDecimalStepsAreOnStepAndTheirMidpointsAreNot() {
        for step in [0.1, 0.01, 0.05, 0.25, 0.3, 1.1, 0.001] {
            for count in -2_000...2_000 {
                let value = Double(count) * step
                for (value, isOnStep) in [(value, true), (value + step / 2, false)] {
                    let result = checkLimits(value, lower: nil, upper: nil, step: step, default: nil)
                    #expect((result == .fits) == isOnStep, "\(value) by \(step)")
                }
            }
        }
    }

    @Test(arguments: [
        (0.1, 0.2, 0.3), (1.1, 2.2, 3.3), (0.7, 0.1, 0.8), (1e300, 1, 1e300), (0, 5e-9, 5e-9), (-0.3, 0.1, -0.2),
    ])
    func sumsOfDecimalsHaveNoRoundingError(_ left: Double, _ right: Double, _ sum: Double) {
        #expect(Decimals.sum(left, right) == sum)
    }
}
