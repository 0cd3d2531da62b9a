// Tests exact decimals: texts, sums and products of any length and exponent, and the nearest double.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct ExactDecimalTests {
    @Test(
        arguments: [
            ("0.00032", "0.00001", 0.00033), ("0.1", "0.2", 0.3), ("1e-300", "2e-300", 3e-300), ("1e300", "-1e300", 0),
            ("1e300", "1e-300", 1e300), ("5e-324", "-1e-323", -.leastNonzeroMagnitude),
            ("9007199254740992", "1", 9007199254740992),
            ("1", "9007199254740993", 9_007_199_254_740_994), ("-0.5", "0.25", -0.25), ("100", "-99.99", 0.01),
            ("1.7976931348623157e308", "1.7976931348623157e308", .infinity), ("0", "-0.0", 0), ("+.5", "1.", 1.5),
            // 10²³ lies halfway between two doubles, so that any amount decides.
            ("1e23", "1e-300", 1.0000000000000001e23), ("1e23", "-1e-300", 9.999999999999999e22),
        ] as [(String, String, Double)])
    func theSumOfTwoTextsIsRoundedOnce(_ left: String, _ right: String, _ sum: Double) throws {
        let (left, right) = (try #require(ExactDecimal(left)), try #require(ExactDecimal(right)))
        #expect(left.plus(right).nearest == sum && right.plus(left).nearest == sum)
        #expect(left.negative.plus(right.negative).nearest == -sum)
    }

    @Test(arguments: [
        "1.5e-9223372036854775808", "1e9223372036854775807", "1e-9223372036854775809", "1e1099511627776", "1e401",
        "0.1e-9223372036854775808", "1e", "e1", ".", "-", "", "1.5.2", "1e1.5", "nan", "inf", "0x1", "1 ", "١",
    ])
    func otherTextsAndExponentsBeyondDoublesAreNil(_ text: String) { #expect(ExactDecimal(text) == nil) }

    @Test func zerosAtTheEndsMakeNoDifference() {
        let zeros = String(repeating: "0", count: 5_000)
        #expect(ExactDecimal("\(zeros)1.5\(zeros)") == ExactDecimal("1.5"))
        #expect(ExactDecimal("1\(zeros)e-5000") == ExactDecimal("1") && ExactDecimal("0.\(zeros)1e5001") != nil)
        #expect(ExactDecimal("-0.0e300") == ExactDecimal("0"))
    }

    /// Compared with whole numbers of 128 bits.
    @Test func sumsAndProductsAreThoseOfWholeNumbers() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 {
            let (left, right) = (random.int64(), random.int64())
            let (first, second) = (try #require(ExactDecimal("\(left)")), try #require(ExactDecimal("\(right)")))
            #expect(first.plus(second) == ExactDecimal("\(Int128(left) + Int128(right))"))
            #expect(first.times(second) == ExactDecimal("\(Int128(left) * Int128(right))"))
        }
    }

    @Test func theNearestDoubleOfAShortestTextIsTheDouble() throws {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<500 {
            let value = random.finiteDouble()
            #expect(try #require(ExactDecimal(value)).nearest == value)
        }
        #expect(ExactDecimal(Double.nan) == nil && ExactDecimal(-Double.infinity) == nil)
    }

    @Test(
        arguments: [
            ("1/3", 1.0 / 3), ("9007199254740993/2", 4_503_599_627_370_496.5), ("1/49*49", 1),
            ("123456789012345678/1000000000000000000", 0.123456789012345678), ("-2/3", -2.0 / 3), ("0/7", 0),
            ("170141183460469231731687303715884105727/1", 0x1p127),
            ("1/170141183460469231731687303715884105727", 0x1p-127),
        ] as [(String, Double)])
    func aCalculationIsRoundedOnce(_ text: String, _ value: Double) {
        #expect(Calculation.number(text)?.nearest == value)
    }
}
