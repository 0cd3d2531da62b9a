// Tests the texts that a choice accepts and refuses: enumerations, lists, lists with labels, lists of other values.

import Testing
import TweaksTestSupport

@testable import Tweaks

private enum Easing: String, CaseIterable, TweakConvertible {
    case linear, easeIn
    case easeOut = "ease out"
    case accented = "é"
}

struct ChoiceTests {
    private let registry = TweakRegistry()

    /// Declares a tweak with a list of choices; the first one is the default.
    private func tweak<Value: TweakConvertible>(_ choices: [Value]) throws -> Tweak<Value> {
        try registry.register("Kind", "Of", "\(Value.self)", choices[0], choices: choices)
    }

    @Test func anEnumerationAcceptsExactlyItsRawValues() throws {
        let tweak = Tweak("Kind", "Of", "Easing", Easing.linear, registry: registry)
        #expect(tweak.erased.kind == .choice && tweak.choices.map(\.value) == Easing.allCases)
        #expect(tweak.erased.choices.map(\.name) == ["linear", "easeIn", "ease out", "é"])
        for (text, printed) in [
            ("easeIn", "easeIn"), ("ease out", #""ease out""#), ("é", #""é""#), ("linear", "linear"),
        ] {
            #expect(try tweak.erased.set(text: text).new == .choice(text))
            #expect(tweak.value.rawValue == text && tweak.erased.value?.text == printed)
        }
        for text in [
            "", " ", "Linear", "LINEAR", "easein", "ease  out", "easeOut", "0", "linear ", "e\u{301}", "\"linear\"",
        ] { expectRefused(text, by: tweak.erased, .notAChoice) }
    }

    @Test func someCasesOfAnEnumerationAreAList() throws {
        let tweak = try tweak([Easing.linear, .easeOut])
        #expect(try tweak.erased.set(text: "ease out").new == .choice("ease out"))
        expectRefused("easeIn", by: tweak.erased, .notAChoice)
        #expect(refusal { try tweak.set(.easeIn) }?.code == .notAChoice)
        tweak.value = .easeIn
        #expect(tweak.value == .easeOut)
    }

    @Test func aListOfStringsAcceptsExactlyThem() throws {
        let tweak = try tweak(["one", "two", ""])
        for text in ["two", "", "one"] {
            #expect(try tweak.erased.set(text: text).new == .choice(text) && tweak.value == text)
        }
        for text in ["three", "One", " one"] { expectRefused(text, by: tweak.erased, .notAChoice) }
        #expect(refusal { try tweak.set("three") }?.code == .notAChoice)
        tweak.value = "three"
        #expect(tweak.value == "one")
    }

    @Test func aListWithLabelsIsSetByName() throws {
        let tweak = Tweak(
            "Kind", "Of", "Labels", "key1", choices: ["key1": "Label 1", "key2": "Label 2"], registry: registry)
        #expect(try tweak.erased.set(text: "key2").new == .choice("key2") && tweak.value == "key2")
        expectRefused("Label 1", by: tweak.erased, .notAChoice)
        #expect(tweak.erased.choices.map(\.label) == ["Label 1", "Label 2"])
        #expect(tweak.choices.map(\.name) == ["key1", "key2"])
    }

    @Test func listsOfOtherValuesAreSetByTheirPrintedText() throws {
        let sizes = try tweak([16, 8, -32])
        for (text, value) in [("8", 8), ("-32", -32), ("16", 16)] {
            #expect(try sizes.erased.set(text: text).new == .choice(text) && sizes.value == value)
        }
        for text in ["7", "08", "8.0", "0x8", ""] { expectRefused(text, by: sizes.erased, .notAChoice) }
        let scales = try tweak([1.0, 0.5, 2.5])
        #expect(try scales.erased.set(text: "2.5").didStore && scales.value == 2.5)
        expectRefused("1.0", by: scales.erased, .notAChoice)
        let inks = try tweak([TweakColor.black, .white])
        #expect(try inks.erased.set(text: "#FFFFFFFF").didStore && inks.value == .white)
        let pauses = try tweak([Duration.seconds(1), .seconds(90)])
        #expect(try pauses.erased.set(text: "1m30s").didStore && pauses.value == .seconds(90))
        #expect(refusal { try sizes.set(9) }?.code == .notAChoice)
        #expect(refusal { try scales.set(0.75) }?.code == .notAChoice)
        #expect(refusal { try pauses.set(.seconds(2)) }?.code == .notAChoice)
    }

    @Test func parsesWhatItPrints() throws {
        var random = SeededGenerator(seed: 8)
        for number in 0..<100 {
            var names: [String] = []
            for name in (0..<4).map({ _ in random.text() }) where Quoting.isSafe(name) && !names.contains(name) {
                names.append(name)
            }
            guard let first = names.first else { continue }
            let tweak = Tweak("Random", "Names", "\(number)", first, choices: names, registry: registry)
            for name in names { try expectRoundTrip(.choice(name), by: tweak.erased) }
        }
    }

    @Test func theErrorNamesTheChoicesAndTheNearestOne() throws {
        let tweak = try tweak(["left", "right"])
        let message = refusal { try tweak.set("lefft") }?.message
        #expect(message == "Kind/Of/String: “lefft” is none of left, right; did you mean left?")
    }

    @Test(arguments: [["a", "b\n"], ["a", "a"], ["a", "\u{202E}"], ["é", "e\u{301}"]])
    func unsafeAndEqualNamesAreRefused(_ choices: [String]) {
        #expect(refusal { _ = try tweak(choices) }?.code == .usage && registry.count == 0)
    }

    @Test func theDefaultMustBeOneOfTheChoices() {
        #expect(refusal { _ = try registry.register("A", "B", "C", "c", choices: ["a", "b"]) }?.code == .notAChoice)
        #expect(refusal { _ = try registry.register("A", "B", "C", 3, choices: [1, 2]) }?.code == .notAChoice)
        #expect(registry.count == 0)
    }
}
