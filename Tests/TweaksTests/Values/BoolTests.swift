// Tests the texts that a Bool tweak accepts and refuses.

import Testing

@testable import Tweaks

struct BoolTests {
    private let tweak = Tweak("Kind", "Of", "Bool", false, registry: TweakRegistry())

    @Test(arguments: [
        ("true", true), ("on", true), ("yes", true), ("1", true), ("TRUE", true), ("On", true), ("yEs", true),
        ("false", false), ("off", false), ("no", false), ("0", false), ("FALSE", false), ("Off", false), ("NO", false),
    ])
    func acceptsTexts(_ text: String, _ value: Bool) throws {
        tweak.value = !value
        #expect(try tweak.erased.set(text: text).new == .bool(value) && tweak.value == value)
    }

    @Test(arguments: [
        "", " ", "2", "-1", "00", "01", "1.0", "t", "f", "y", "n", "tru", "truee", " true", "true ", "enabled",
        "toggle", "нет", "ｔｒｕｅ", "\0", "true\n",
    ])
    func refusesOtherTexts(_ text: String) { expectRefused(text, by: tweak.erased, .badValue) }

    @Test(arguments: [true, false]) func parsesWhatItPrints(_ value: Bool) throws {
        #expect(TweakValue.bool(value).text == (value ? "true" : "false"))
        try expectRoundTrip(.bool(value), by: tweak.erased)
    }

    @Test(arguments: [
        TweakValue.int(1), .number(1), .string("true"), .choice("true"), .color(.black), .duration(.zero),
    ])
    func refusesValuesOfOtherKinds(_ value: TweakValue) { expectRefused(value, by: tweak.erased, .badValue) }
}
