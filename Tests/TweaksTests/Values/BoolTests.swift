// Every text that a bool takes or refuses.

import Testing

@testable import Tweaks

struct BoolTests {
    private let tweak = Tweak("Kind", "Of", "Bool", false, registry: TweakRegistry())

    @Test(arguments: [
        ("true", true), ("on", true), ("yes", true), ("1", true), ("TRUE", true), ("On", true), ("yEs", true),
        ("false", false), ("off", false), ("no", false), ("0", false), ("FALSE", false), ("Off", false), ("NO", false),
    ])
    func accepts(_ text: String, _ value: Bool) throws {
        tweak.value = !value
        let outcome = try tweak.erased.set(text: text)
        #expect(outcome.new == .bool(value))
        #expect(tweak.value == value)
    }

    @Test(arguments: [
        "", " ", "2", "-1", "00", "01", "1.0", "t", "f", "y", "n", "tru", "truee", " true", "true ", "enabled",
        "toggle", "нет", "ｔｒｕｅ", "\0", "true\n",
    ])
    func refuses(_ text: String) { expectRefused(text, by: tweak.erased, .badValue) }

    @Test(arguments: [true, false])
    func printsWhatItReads(_ value: Bool) throws {
        #expect(TweakValue.bool(value).text == (value ? "true" : "false"))
        try expectRoundTrip(.bool(value), by: tweak.erased)
    }

    @Test(arguments: [
        TweakValue.int(1), .number(1), .string("true"), .choice("true"), .color(.black), .duration(.zero),
    ])
    func refusesOtherKinds(_ value: TweakValue) {
        let tweak = tweak.erased
        #expect(refusal { try tweak.set(value) }?.code == .badValue)
    }
}
