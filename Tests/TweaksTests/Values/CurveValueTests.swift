// Tests the progress of timing curves against values that were computed in another way.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct CurveValueTests {
    private static let times = [1e-18, 0.001, 0.1, 0.4999999999, 0.5, 0.500001, 0.75, 0.999, 0.9999999999999999]

    /// Computed in fractions of whole numbers, by 200 bisections, from the definition; rounded to ten places.
    private static let known: [(TweakCurve, [Double])] = [
        (
            TweakCurve(0.25, 0.1, 0.25, 1),
            [
                0, 0.0004048078, 0.0947963057, 0.8024033875, 0.8024033876, 0.8024043817, 0.9604589783, 0.9999994663, 1,
            ]
        ),
        (
            TweakCurve(0.42, 0, 1, 1),
            [
                0, 1.8875e-06, 0.0170266097, 0.3153568125, 0.3153568126, 0.3153578866, 0.6218618692, 0.9982859944, 1,
            ]
        ),
        (
            TweakCurve(0, 0, 0.58, 1),
            [
                0, 0.0017140056, 0.1605721542, 0.6846431873, 0.6846431874, 0.6846442614, 0.9065353493, 0.9999981125, 1,
            ]
        ),
        (
            TweakCurve(0.42, 0, 0.58, 1),
            [
                0, 1.8905e-06, 0.0197224535, 0.4999999998, 0.5, 0.5000017241, 0.870838069, 0.9999981095, 1,
            ]
        ),
        (
            TweakCurve(0.2, 0, 0, 1),
            [
                0, 8.3799e-06, 0.15625, 0.8778336047, 0.8778336048, 0.8778342228, 0.9754800679, 0.9999996665, 1,
            ]
        ),
        (
            TweakCurve(0.68, -0.6, 0.32, 1.6),
            [
                0, -0.0008809944, -0.0728231808, 0.4999999995, 0.5, 0.500005, 1.0977077421, 1.0008809944, 1,
            ]
        ),
        (
            TweakCurve(0.5, 1, 0.5, -1),
            [
                0, 0.0019973313, 0.1711223774, 0.1250000001, 0.125, 0.124999, 0.2200231102, 0.9960026693, 1,
            ]
        ),
        (
            TweakCurve(1, 0, 0, 1),
            [
                0, 3.337e-07, 0.003761675, 0.4995613974, 0.5, 0.5094489079, 0.9702753945, 0.9999996663, 1,
            ]
        ),
        (
            TweakCurve(0, 1, 1, 0),
            [
                1.7e-09, 0.0531107616, 0.387400317, 0.5, 0.5, 0.5, 0.520944533, 0.9468892384, 0.9999999817,
            ]
        ),
        (
            TweakCurve(1, -1000, 0, 1000),
            [
                0, -0.9996662958, -96.2382790009, -0.3138216959, 0.125, 9.5776923558, 220.9967673822, 1.9986659621, 1,
            ]
        ),
        (
            TweakCurve(0.9999999, -1000, 1e-07, 1000),
            [
                0, -0.9996663957, -96.2382878529, -0.2501873749, 0.1249998025, 9.5747163421, 220.9967829121,
                1.9986660619, 1,
            ]
        ),
        (
            TweakCurve(0.999999999999, -1000, 1e-13, 1000),
            [
                0, -0.9996662958, -96.238279001, -0.3133271247, 0.1908204048, 9.5776934023, 220.9967673822,
                1.9986659621, 1,
            ]
        ),
        (
            TweakCurve(0.9999999999999999, -1000, 0, 1000),
            [
                0, -0.9996662958, -96.2382790009, -0.313821635, 0.1282766865, 9.5776923559, 220.9967673822,
                1.9986659621, 1,
            ]
        ),
        (
            TweakCurve(0, 1000, 0, -1000),
            [
                0.002999991, 216.001, 53.5854290551, -288.0431465775, -288.0431465746, -288.0431176984, -202.9054207647,
                -0.0003330739, 1,
            ]
        ),
        (
            TweakCurve(1, 1000, 1, -1000),
            [
                0, 0.999333074, 93.0596533601, 288.5519265687, 288.5519265715, 288.5519545124, 181.8214613003, -215.271,
                0.9855671372,
            ]
        ),
        (
            TweakCurve(0, -1000, 1, 1000),
            [
                -1.7321e-06, -52.1107553771, -287.3928104552, 0.1249998999, 0.125, 0.1260005, 229.3611698001,
                53.0566570142, 1.0000182319,
            ]
        ),
        (
            TweakCurve(1e-300, 1000, 1e-10, -1000),
            [
                0.002999691, 216.0009998758, 53.5854291342, -288.0431465786, -288.0431465758, -288.0431176995,
                -202.9054207785, -0.000333074, 1,
            ]
        ),
    ]

    /// The last ones are vertical, or nearly, at an end or in the middle.
    @Test(arguments: known) func aBezierIsThatOfItsDefinition(curve: TweakCurve, progress: [Double]) {
        for (time, progress) in zip(Self.times, progress) {
            #expect(abs(curve.value(at: time) - progress) < 1e-9, "\(curve) at \(time)")
        }
    }

    /// The two coordinates are the same polynomial, which is computed twice where the control points differ in a bit.
    @Test func withTimesAsProgressTheProgressIsTheTime() {
        var generator = SeededGenerator(seed: 4)
        for round in 0..<4_000 {
            let isExtreme = round % 2 == 0
            let (a, b) = (Double.random(in: 0...1, using: &generator), Double.random(in: 0...1, using: &generator))
            let (x1, x2) = isExtreme ? (1 - a * a * a * a * a * a, b * b * b * b * b * b) : (a, b)
            let time = Double.random(in: 0...1, using: &generator)
            #expect(abs(TweakCurve(x1, x1.nextUp, x2, x2.nextUp).value(at: time) - time) < 1e-12, "\(x1) \(x2) \(time)")
            #expect(TweakCurve(x1, x1, x2, x2).value(at: time) == time)
        }
    }

    private static let ends: [TweakCurve] = [
        .linear, .ease, .easeIn, .easeOut, .easeInOut, .stepStart, .stepEnd, .steps(7, .jumpNone), .steps(3, .jumpBoth),
        TweakCurve(0, 1, 1, 0), TweakCurve(1, 0, 0, 1), TweakCurve(0, 0, 0, 0), TweakCurve(1, -1_000, 1, 1_000),
    ]

    @Test(arguments: ends) func isZeroBeforeTheStartAndOneFromTheEndOn(curve: TweakCurve) {
        for time in [-.infinity, -1, -0.5, -1e-300, .nan] { #expect(curve.value(at: time) == 0, "\(time)") }
        for time in [1, 1.5, .infinity] { #expect(curve.value(at: time) == 1, "\(time)") }
    }

    /// As “CSS Easing Functions Level 1” defines them, in its section 2.3.
    @Test(
        arguments: [
            ("step-start", [0: 1, 0.5: 1]), ("step-end", [0: 0, 0.5: 0, 0.999: 0]),
            ("steps(2,start)", [0: 0.5, 0.25: 0.5, 0.499: 0.5, 0.5: 1, 0.999: 1]),
            ("steps(2,end)", [0: 0, 0.25: 0, 0.499: 0, 0.5: 0.5, 0.999: 0.5]),
            ("steps(3,jump-none)", [0: 0, 0.33: 0, 0.34: 0.5, 0.66: 0.5, 0.67: 1, 0.999: 1]),
            ("steps(2,jump-none)", [0: 0, 0.499: 0, 0.5: 1]),
            ("steps(3,jump-both)", [0: 0.25, 0.33: 0.25, 0.34: 0.5, 0.67: 0.75, 0.999: 0.75]),
            ("steps(1,jump-both)", [0: 0.5, 0.999: 0.5]),
            ("steps(1000,end)", [0.0004: 0, 0.0015: 0.001, 0.9999: 0.999]),
            ("steps(5,jump-none)", [0.9999999999999999: 1]), ("steps(7,start)", [0.9999999999999999: 1]),
        ] as [(String, [Double: Double])])
    func stepsAreThoseOfCSS(text: String, known: [Double: Double]) throws {
        let curve = try #require(TweakCurve(text))
        for (time, progress) in known { #expect(curve.value(at: time) == progress, "\(time)") }
    }

    @Test func theEaseOfFourTweaksIsTheSameCurve() {
        let ease = TweakEase(0.3, 1.5, 0.6, 1)
        #expect(ease.curve == TweakCurve(0.3, 1.5, 0.6, 1) && TweakEase(ease.curve) == ease)
        #expect(ease.progress(at: 0.4) == ease.curve.value(at: 0.4))
        #expect(TweakEase(.steps(3)) == nil)
        let names: [(TweakEase, TweakCurve)] = [
            (.standard, .ease), (.linear, .linear), (.in, .easeIn), (.out, .easeOut), (.inOut, .easeInOut),
        ]
        #expect(names.allSatisfy { $0.curve == $1 && TweakEase($1) == $0 })
        #expect(TweakEase(.nan, .infinity, -1, 0).curve == TweakCurve(0, 1_000, 0, 0))
    }
}
