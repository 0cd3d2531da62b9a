// Tests ranges, steps and policies of declared tweaks: values are refused, clamped or snapped.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct RangeTests {
    private let registry = TweakRegistry()

    // MARK: Policies

    struct Row: Sendable, CustomTestStringConvertible {
        let policy: TweakPolicy
        let requested: Double
        let accepted: Double?
        let adjustment: TweakAdjustment

        init(_ policy: TweakPolicy, _ requested: Double, _ accepted: Double?, _ adjustment: TweakAdjustment = .none) {
            (self.policy, self.requested, self.accepted, self.adjustment) = (policy, requested, accepted, adjustment)
        }

        var testDescription: String { "\(policy) \(requested)" }
    }

    @Test(arguments: [
        Row(.reject, 50, 50), Row(.reject, 500, nil), Row(.reject, 9.5, nil), Row(.reject, 50.3, nil),
        Row(.clamp, 50, 50), Row(.clamp, 500, 100, .clamped(from: .number(500))),
        Row(.clamp, -5, 10, .clamped(from: .number(-5))), Row(.clamp, 50.3, nil), Row(.snap, 50, 50),
        Row(.snap, 500, 100, .clamped(from: .number(500))), Row(.snap, 50.3, 50.5, .snapped(from: .number(50.3))),
        Row(.snap, 10.1, 10, .snapped(from: .number(10.1))),
    ])
    func thePolicyRefusesClampsOrSnaps(_ row: Row) throws {
        let tweak = Tweak("A", "B", "C", 60.0, in: 10...100, step: 0.5, policy: row.policy, registry: registry)
        guard let accepted = row.accepted else {
            return expectRefused("\(row.requested)", by: tweak.erased, .outOfRange)
        }
        let outcome = try tweak.set(row.requested)
        #expect(tweak.value == accepted && outcome.new == .number(accepted) && outcome.adjustment == row.adjustment)
    }

    @Test(arguments: [(500, 100), (-500, 10), (50.2, 50), (50.3, 50.5), (100.1, 100), (72, 72)])
    func theSetterClampsAndSnapsWithAnyPolicy(_ requested: Double, _ accepted: Double) {
        for policy in [TweakPolicy.reject, .clamp, .snap] {
            let tweak = Tweak("A", "B", "\(policy)", 60.0, in: 10...100, step: 0.5, policy: policy, registry: registry)
            tweak.value = requested
            #expect(tweak.value == accepted)
        }
    }

    @Test func theSetterClampsAllBoundedKinds() {
        let int = Tweak("A", "B", "Int", 5, in: 0...10, step: 5, registry: registry)
        let byte = Tweak("A", "B", "Byte", UInt8(5), in: 1...200, registry: registry)
        let float = Tweak("A", "B", "Float", Float(0.5), in: 0...1, step: 0.1, registry: registry)
        (int.value, byte.value, float.value) = (8, 255, 0.44)
        #expect(int.value == 10 && byte.value == 200 && float.value == 0.4)
        let time = Tweak(
            "A", "B", "Time", .seconds(1), in: .zero ... .seconds(5), step: .milliseconds(250), registry: registry)
        time.value = .milliseconds(1_400)
        #expect(time.value == .milliseconds(1_500))
        time.value = .seconds(100)
        #expect(time.value == .seconds(5))
    }

    @Test func aOneSidedRangeLimitsOneSide() throws {
        let from = Tweak("A", "B", "From", 5, in: 0..., registry: registry)
        try from.set(.max)
        expectRefused("-1", by: from.erased, .outOfRange)
        let through = Tweak("A", "B", "Through", -5.0, in: ...0, registry: registry)
        try through.set(-1e300)
        expectRefused("0.001", by: through.erased, .outOfRange)
        let time = Tweak("A", "B", "Time", .zero, in: .zero..., registry: registry)
        try time.erased.set(text: "2562047h")
        expectRefused("-1ns", by: time.erased, .outOfRange)
        #expect(from.range == TweakRange(lowerBound: 0, upperBound: nil))
        #expect(through.range == TweakRange(lowerBound: nil, upperBound: 0))
        #expect(from.erased.upperBound == nil && through.erased.lowerBound == nil)
    }

    @Test func theErrorNamesRangeOrStepAndTheNearest() {
        let tweak = Tweak("A", "B", "C", 60.0, in: 10...100, step: 0.5, registry: registry)
        let offStep = "A/B/C: 60.3 is not on a step of 0.5 from 10; the nearest is 60.5"
        #expect(refusal { try tweak.set(500) }?.message == "A/B/C: 500 is outside 10...100")
        #expect(refusal { try tweak.set(60.3) }?.message == offStep)
    }

    // MARK: Not a number

    @Test(arguments: [Double.nan, -.nan, .signalingNaN, .infinity, -.infinity])
    func aValueThatIsNotFiniteIsRefusedInEveryForm(_ value: Double) throws {
        for policy in [TweakPolicy.reject, .clamp, .snap] {
            let tweak = Tweak("A", "B", "\(policy)", 60.0, in: 10...100, step: 0.5, policy: policy, registry: registry)
            let float = Tweak("F", "B", "\(policy)", Float(60), in: 10...100, policy: policy, registry: registry)
            let path = tweak.path.joined
            let forms: [() throws -> Void] = [
                { try tweak.set(value) }, { try float.set(Float(value)) }, { try tweak.erased.set(.number(value)) },
                { try registry.commit(origin: .code) { $0.set(path, .number(value)) } },
                { try registry.commit(origin: .code) { $0.set(tweak, value) } },
                { _ = try registry.register("A", "B", "Bad", value) },
                { _ = try registry.register("A", "B", "Bad", Float(value)) },
            ]
            #expect(forms.map { refusal($0)?.code } == Array(repeating: .badValue, count: 7))
            (tweak.value, float.value) = (value, Float(value))
            #expect(tweak.value == 60 && float.value == 60)
        }
        #expect(registry.revision == 0 && registry["A/B/Bad"] == nil)
    }

    // MARK: Invalid declarations

    @Test func aDefaultOutsideItsOwnLimitsIsRefused() {
        let forms: [() throws -> Void] = [
            { _ = try registry.register("A", "B", "C", 5, in: 10...20) },
            { _ = try registry.register("A", "B", "C", 5, in: 10...20, policy: .clamp) },
            { _ = try registry.register("A", "B", "C", "long", maxLength: 3) },
        ]
        #expect(forms.map { refusal($0)?.code } == [.outOfRange, .outOfRange, .outOfRange])
        let error = refusal { _ = try registry.register("A", "B", "C", "no", validate: { _ in "never" }) }
        #expect(error?.message == "the default of A/B/C: never; change the default or what is allowed")
        #expect(registry.count == 0)
    }

    @Test func impossibleStepsAndBoundsAreRefused() {
        let attosecond = Duration(secondsComponent: 0, attosecondsComponent: 1)
        let steps: [() throws -> Void] = [0, -1, .nan, .infinity].map { step in
            { _ = try registry.register("A", "B", "C", 5.0, in: 0...10, step: step) }
        }
        let forms: [() throws -> Void] = [
            { _ = try registry.register("A", "B", "C", 5, in: 0...10, step: 0) },
            { _ = try registry.register("A", "B", "C", 5.0, in: 0 ... .infinity) },
            { _ = try registry.register("A", "B", "C", 5.0, in: (-Double.infinity)...) },
            { _ = try registry.register("A", "B", "C", .zero, in: .zero...attosecond) },
            { _ = try registry.register("A", "B", "C", .zero, in: .zero..., step: attosecond) },
        ]
        #expect((steps + forms).map { refusal($0)?.code } == Array(repeating: .usage, count: 9))
        #expect(registry.count == 0)
    }

    @Test func theExtremesOfARangeAreAccepted() throws {
        let wide = Tweak("A", "B", "Wide", 0.0, in: -1e308...1e308, registry: registry)
        for value in [1e308, -1e308, 9e307, .leastNonzeroMagnitude] {
            #expect(try wide.set(value).new == .number(value))
        }
        expectRefused("1.1e308", by: wide.erased, .outOfRange)
        let whole = Tweak("A", "B", "Whole", 0, in: .min ... .max, step: 1, registry: registry)
        for value in [Int.max, .min] { #expect(try whole.set(value).new == .int(Int64(value))) }
        let time = Tweak(
            "A", "B", "Time", .zero, in: .nanoseconds(Int64.min) ... .nanoseconds(Int64.max), registry: registry)
        try time.set(.nanoseconds(Int64.max))
        #expect(time.value == .nanoseconds(Int64.max))
    }

    @Test func aSnappedValueIsOnStep() throws {
        var random = SeededGenerator(seed: 13)
        let tweak = Tweak("A", "B", "C", -7.3, in: -7.3...99.97, step: 0.7, policy: .snap, registry: registry)
        let strict = Tweak("A", "B", "D", -7.3, in: -7.3...99.97, step: 0.7, registry: registry)
        for _ in 0..<1_000 {
            tweak.value = Double.random(in: -20...120, using: &random)
            #expect(try strict.set(tweak.value).adjustment == .none)
        }
    }
}
