// Tests steps: clients must keep to them, while a default off its step is accepted in every form.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct StepTests {
    private let registry = TweakRegistry()

    @Test func aDefaultOffItsStepCanBeSetInEveryForm() throws {
        let size = Tweak("A", "B", "Size", 60.3, in: 10...100, step: 0.5, registry: registry)
        #expect(size.value == 60.3 && size.step == 0.5)
        for set: (TweakValue) throws -> Void in [
            { try size.erased.set($0) }, { try size.erased.set(text: $0.text) },
            { value in try registry.commit(origin: .user(7)) { $0.set("A/B/Size", value) } },
        ] {
            try size.set(61)
            #expect(refusal { try set(.number(60.4)) }?.message.hasSuffix("from 10; the nearest is 60.5") == true)
            try set(.number(60.3))
            #expect(size.value == 60.3 && !size.isModified)
        }
        for (value, snapped) in [(60.3, 60.3), (60.4, 60.5)] {
            size.value = value
            #expect(size.value == snapped)
        }
        size.reset()
        #expect(size.value == 60.3)
    }

    @Test func aPresetAndAStoredOverrideCanHaveADefaultOffItsStep() throws {
        let count = Tweak("A", "B", "Count", 4, in: 0...9, step: 3, registry: registry)
        try count.set(6)
        let plan = PresetPlan(Preset(lines: ["A/B/Count": "4"]), TweakView(registry))
        #expect(plan.problems.isEmpty)
        try registry.commit(plan.batch(only: false).batch, origin: .user(7), delivery: .caller)
        #expect(count.value == 4)

        let later = TweakRegistry()
        StubStore().attach(to: later, overrides: [try .override("A/B/Count", .int(4))], revision: 1)
        let again = Tweak("A", "B", "Count", 4, in: 0...9, step: 3, registry: later)
        #expect(again.erased.layers.map(\.layer) == [.default, .override] && again.value == 4)
    }

    @Test func withoutALowerBoundStepsCountFromTheDefault() throws {
        let number = Tweak("A", "B", "Number", 60.3, step: 0.5, registry: registry)
        let whole = Tweak("A", "B", "Whole", 3, in: ...20, step: 5, registry: registry)
        let time = Tweak("A", "B", "Time", .milliseconds(250), step: .milliseconds(100), registry: registry)
        try number.set(-0.2)
        try whole.set(-2)
        try time.set(.milliseconds(450))
        let offStep = "A/B/Number: 60 is not on a step of 0.5 from 60.3; the nearest is 59.8"
        #expect(refusal { try number.set(60) }?.message == offStep)
        #expect(refusal { try whole.set(5) }?.message.hasSuffix("a step of 5 from 3; the nearest is 3") == true)
        whole.value = 19
        time.value = .milliseconds(480)
        #expect(whole.value == 20 && time.value == .milliseconds(450) && number.range == nil)
    }

    /// A refusal would reveal the default.
    @Test func aSecretHasNoStep() throws {
        let code = Tweak("A", "B", "Code", 1234, in: 0...9999, step: 10, flags: .secret, registry: registry)
        try code.set(4321)
        #expect(code.step == nil && code.value == 4321)
    }

    @Test func stepsTextChecksAndScalesAreRefusedForOtherKinds() {
        for (declare, words) in [
            ({ _ = try registry.register("A", "B", "C", true, step: true) }, "a step is for numbers and durations"),
            ({ _ = try registry.register("A", "B", "C", 1, choices: [1, 2], step: 1) }, "this is a choice"),
            ({ _ = try registry.register("A", "B", "C", 1, maxLength: 3) }, "are for text, and this is an int"),
            ({ _ = try registry.register("A", "B", "C", 0.5, validate: { _ in nil }) }, "this is a number"),
            ({ _ = try registry.register("A", "B", "C", 1, in: 1..., scale: .logarithmic) }, "with both bounds"),
            ({ _ = try registry.register("A", "B", "C", 1.5, step: 0) }, "a step above 0"),
        ] as [(() throws -> Void, String)] {
            let error = refusal(declare)
            #expect(error?.code == .usage && error?.message.contains(words) == true, "\(error?.message ?? words)")
        }
        #expect(registry.count == 0)
    }
}
