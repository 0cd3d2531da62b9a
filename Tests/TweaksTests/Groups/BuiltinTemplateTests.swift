// Tests the formulas of the built-in templates against known values.

import Foundation
import Testing
import TweaksTestSupport

@testable import Tweaks

struct EaseTests {
    /// Computed by bisection, in another language, from the definition; browsers give 0.8024 for `ease` at 0.5.
    @Test(
        arguments: [
            (.standard, [0.1: 0.09479630571604324, 0.5: 0.8024033875848569, 0.9: 0.9943164774845563]),
            (.in, [0.1: 0.017026609651562934, 0.5: 0.31535681257253945, 0.9: 0.8394278457624664]),
            (.out, [0.1: 0.16057215423753346, 0.5: 0.6846431874274606, 0.9: 0.982973390348437]),
            (.inOut, [0.1: 0.019722453548311203, 0.5: 0.5, 0.9: 0.9802775464516889]),
            (
                TweakEase(0.68, -0.6, 0.32, 1.6),
                [0.1: -0.07282318079722161, 0.5: 0.5000000000000001, 0.9: 1.0728231807972217]
            ),
            (TweakEase(1, 0, 0, 1), [0.1: 0.0037616749580831658, 0.9: 0.9962383250419169]),
        ] as [(TweakEase, [Double: Double])])
    func agreesWithCSS(ease: TweakEase, known: [Double: Double]) {
        for (time, progress) in known { #expect(abs(ease.progress(at: time) - progress) < 1e-9, "\(time)") }
    }

    @Test(arguments: [
        TweakEase.standard, .linear, .in, .out, .inOut, TweakEase(0, 1, 1, 0), TweakEase(1, 0, 0, 1),
        TweakEase(0, 0, 0, 0),
    ])
    func isZeroBeforeTheStartAndOneAfterTheEnd(ease: TweakEase) {
        for time in [-1, 0, -Double.infinity, .nan] { #expect(ease.progress(at: time) == 0) }
        for time in [1, 2, Double.infinity] { #expect(ease.progress(at: time) == 1) }
    }

    @Test func aSymmetricCurveIsSymmetricAndLinearIsLinear() {
        for time in stride(from: 0, through: 1, by: 0.01) {
            #expect(abs(TweakEase.inOut.progress(at: time) + TweakEase.inOut.progress(at: 1 - time) - 1) < 1e-9)
            #expect(abs(TweakEase.linear.progress(at: time) - time) < 1e-9)
        }
    }

    /// With y = x on both control points, the progress is the time.
    @Test func theParameterFoundForATimeHasThatTimeAsItsX() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2_000 {
            let (x1, x2) = (Double.random(in: 0...1, using: &generator), Double.random(in: 0...1, using: &generator))
            let time = Double.random(in: 0...1, using: &generator)
            #expect(abs(TweakEase(x1, x1, x2, x2).progress(at: time) - time) < 1e-9, "\(x1) \(x2) \(time)")
        }
    }
}

struct SpringTests {
    /// The textbook's formulas, with their three cases.
    private static func textbook(_ zeta: Double, _ omega: Double, _ t: Double, _ v: Double) -> Double {
        if zeta == 1 { return 1 - exp(-omega * t) * (1 + (omega - v) * t) }
        let root = omega * abs(1 - zeta * zeta).squareRoot()
        let other = (zeta * omega - v) / root
        if zeta < 1 { return 1 - exp(-zeta * omega * t) * (cos(root * t) + other * sin(root * t)) }
        return 1 - exp(-zeta * omega * t) * (cosh(root * t) + other * sinh(root * t))
    }

    @Test(arguments: [0, 0.2, 0.5, 0.825, 0.999, 1, 1.001, 1.5, 3, 5], [0.01, 0.1, 0.5, 2, 10])
    func agreesWithTheTextbook(damping: Double, response: Double) {
        let spring = TweakSpring(response: .seconds(response), dampingFraction: damping)
        for time in [0.001, 0.01, 0.1, 0.3, 1, 3] {
            for velocity in [0.0, 4, -2] {
                let expected = Self.textbook(damping, 2 * .pi / response, time, velocity)
                // cosh and sinh of the textbook overflow when the spring has long been at rest.
                guard expected.isFinite else { continue }
                #expect(abs(spring.progress(at: .seconds(time), velocity: velocity) - expected) < 1e-9)
            }
        }
    }

    @Test(arguments: [0.1, 0.825, 1, 5]) func startsAtZeroAndComesToRestAtOne(damping: Double) {
        let spring = TweakSpring(dampingFraction: damping)
        #expect(spring.progress(at: .zero) == 0 && spring.progress(at: .seconds(-1)) == 0)
        #expect(abs(spring.progress(at: .seconds(3_600)) - 1) < 1e-9)
        #expect(TweakSpring(response: .zero).progress(at: .seconds(1)) == 1)
    }

    @Test func overshootsOnlyBelowCriticalDamping() {
        let times = (1...400).map { Duration.milliseconds($0 * 5) }
        #expect(times.contains { TweakSpring(dampingFraction: 0.5).progress(at: $0) > 1.1 })
        #expect(times.allSatisfy { TweakSpring(dampingFraction: 1).progress(at: $0) <= 1 })
    }

    /// SwiftUI's interpolatingSpring(stiffness: 100, damping: 10): ω 10, ζ 0.5.
    @Test func stiffnessAndDampingGiveResponseAndDampingFraction() {
        let spring = TweakSpring(stiffness: 100, damping: 10)
        #expect(abs(spring.dampingFraction - 0.5) < 1e-12 && abs(spring.response / .seconds(1) - 2 * .pi / 10) < 1e-9)
    }
}

struct RetryPolicyTests {
    private var generator = SeededGenerator(seed: 1)

    @Test func theDelayGrowsByTheFactorUpToTheMaximum() {
        let policy = TweakRetryPolicy(
            attempts: 9, baseDelay: .milliseconds(100), factor: 2, maxDelay: .seconds(1), jitter: 0)
        let delays = (0...8).map { policy.delay(beforeAttempt: $0) / .milliseconds(1) }
        #expect(delays == [0, 0, 100, 200, 400, 800, 1_000, 1_000, 1_000])
    }

    @Test(arguments: [0.0, 0.5, 1]) mutating func jitterShortensTheDelayByUpToItsShare(jitter: Double) {
        let policy = TweakRetryPolicy(baseDelay: .seconds(1), jitter: jitter)
        let delays = (0..<2_000).map { _ in policy.delay(beforeAttempt: 3, using: &generator) / .seconds(1) }
        #expect(delays.allSatisfy { $0 >= 2 * (1 - jitter) - 1e-9 && $0 <= 2 })
        #expect(abs(delays.reduce(0, +) / 2_000 - (2 - jitter)) < 0.05)
    }

    @Test mutating func theSameSeedGivesTheSameDelays() {
        var other = SeededGenerator(seed: 1)
        let policy = TweakRetryPolicy(attempts: 9)
        for attempt in 2...9 {
            let delay = policy.delay(beforeAttempt: attempt, using: &generator)
            #expect(delay == policy.delay(beforeAttempt: attempt, using: &other))
        }
    }

    @Test func extremeValuesNeitherTrapNorTakeLong() {
        let largest = TweakRetryPolicy(attempts: .max, baseDelay: .seconds(60), factor: 10, maxDelay: .seconds(3_600))
        #expect(largest.delay(beforeAttempt: .max) <= .seconds(3_600))
        #expect(TweakRetryPolicy(factor: 1, jitter: 0).delay(beforeAttempt: .max) == .milliseconds(100))
        #expect(TweakRetryPolicy(baseDelay: .zero).delay(beforeAttempt: .max) == .zero)
        let short = TweakRetryPolicy(baseDelay: .seconds(9), maxDelay: .seconds(1), jitter: 0)
        #expect(short.delay(beforeAttempt: 2) == .seconds(1))
    }
}

struct BuiltinTemplateTests {
    @Test func aRateLimitRefillsUpToItsBurst() {
        let limit = TweakRateLimit(rate: 10, burst: 5)
        #expect(limit.refilled(0, after: .milliseconds(250)) == 2.5 && limit.refilled(4, after: .seconds(60)) == 5)
        #expect(limit.refilled(2, after: .seconds(-1)) == 2)
    }

    @Test func theReadTimeoutIsLimitedByTheRestOfTheTotal() {
        let timeouts = TweakTimeouts(read: .seconds(10), total: .seconds(30))
        #expect(timeouts.read(after: .zero) == .seconds(10) && timeouts.read(after: .seconds(25)) == .seconds(5))
        #expect(timeouts.read(after: .seconds(31)) == .zero)
    }

    @Test func aShadowsTintMultipliesAlphaAndOpacity() {
        let shadow = TweakShadow(color: TweakColor(red8: 1, green8: 2, blue8: 3, alpha8: 200), opacity: 0.5)
        #expect(shadow.tint == TweakColor(red8: 1, green8: 2, blue8: 3, alpha8: 100))
    }

    @Test func allBuiltinTemplatesDeclareTweaksWithHelpAndWithoutConflicts() {
        let registry = TweakRegistry()
        let groups: [any TweakHandle] = [
            TweakGroup("A", "1", TweakRetryPolicy(), registry: registry),
            TweakGroup("A", "2", TweakRateLimit(), registry: registry),
            TweakGroup("A", "3", TweakTimeouts(), registry: registry),
            TweakGroup("A", "4", TweakSpring(), registry: registry),
            TweakGroup("A", "5", TweakEase.standard, registry: registry),
            TweakGroup("A", "6", TweakShadow(), registry: registry),
        ]
        #expect(groups.map { $0.tweaks.count } == [5, 2, 3, 2, 4, 5])
        #expect(registry.count == 21 && registry.conflicts.isEmpty)
        let tweaks = registry.categories.flatMap(\.collections).flatMap(\.tweaks)
        #expect(tweaks.allSatisfy { $0.help?.isEmpty == false })
    }
}
