// A step is for clients: the default need not be on one, and it is accepted from everywhere.

import Testing

@testable import Tweaks
import TweaksTestSupport

@Suite("Steps and defaults")
struct StepTests {
    private let registry = TweakRegistry()

    @Test("a default off its step is fine, and can be set by all means")
    func defaultOffStep() throws {
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
        size.value = 60.3
        #expect(size.value == 60.3)
        size.value = 60.4
        #expect(size.value == 60.5)
        size.reset()
        #expect(size.value == 60.3)
    }

    @Test("a preset and stored overrides bring the default back")
    func storedDefault() throws {
        let count = Tweak("A", "B", "Count", 4, in: 0...9, step: 3, registry: registry)
        try count.set(6)
        let entry = ConfigEntry(path: "A/B/Count", text: "4", line: 1, origin: .code)
        let plan = PresetPlan(Preset(heading: PresetHeading(), entries: [entry], problems: []), TweakView(registry))
        #expect(plan.problems.isEmpty)
        try registry.commit(plan.batch(only: false).batch, origin: .user(7), delivery: .caller)
        #expect(count.value == 4)

        let store = StubStore()
        let later = TweakRegistry()
        store.attach(to: later, overrides: [try .override("A/B/Count", .int(4))], revision: 1)
        let again = Tweak("A", "B", "Count", 4, in: 0...9, step: 3, registry: later)
        #expect(again.erased.layers.map(\.layer) == [.default, .override] && again.value == 4)
    }

    @Test("without a lower bound, steps count from the default")
    func origin() throws {
        let number = Tweak("A", "B", "Number", 60.3, step: 0.5, registry: registry)
        let whole = Tweak("A", "B", "Whole", 3, in: ...20, step: 5, registry: registry)
        let time = Tweak("A", "B", "Time", .milliseconds(250), step: .milliseconds(100), registry: registry)
        try number.set(-0.2)
        try whole.set(-2)
        try time.set(.milliseconds(450))
        #expect(
            refusal { try number.set(60) }?.message
                == "A/B/Number: 60 is not on a step of 0.5 from 60.3; the nearest is 59.8")
        #expect(refusal { try whole.set(5) }?.message.hasSuffix("a step of 5 from 3; the nearest is 3") == true)
        whole.value = 19
        time.value = .milliseconds(480)
        #expect(whole.value == 20 && time.value == .milliseconds(450) && number.range == nil)
    }

    @Test("a secret has no step: what is refused would tell what it counts from")
    func secret() throws {
        let code = Tweak("A", "B", "Code", 1234, in: 0...9999, step: 10, flags: .secret, registry: registry)
        try code.set(4321)
        #expect(code.step == nil && code.value == 4321)
    }

    @Test("step, text checks and scales are refused where they make no sense")
    func senseless() {
        for (declare, words) in [
            ({ _ = try registry.register("A", "B", "C", true, step: true) }, "a step is for numbers and durations"),
            ({ _ = try registry.register("A", "B", "C", 1, choices: [1, 2], step: 1) }, "this is a choice"),
            ({ _ = try registry.register("A", "B", "C", 1, maxLength: 3) }, "are for text, and this is an int"),
            ({ _ = try registry.register("A", "B", "C", 0.5, validate: { _ in nil }) }, "this is a number"),
            (
                { _ = try registry.register("A", "B", "C", 1, in: 1..., scale: .logarithmic) },
                "a range with both bounds"
            ),
            ({ _ = try registry.register("A", "B", "C", 1.5, step: 0) }, "a step above 0"),
        ] as [(() throws -> Void, String)] {
            let error = refusal(declare)
            #expect(error?.code == .usage && error?.message.contains(words) == true, "\(error?.message ?? words)")
        }
        #expect(registry.count == 0)
    }
}
