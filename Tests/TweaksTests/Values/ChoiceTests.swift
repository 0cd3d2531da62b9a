// Every text that a choice takes or refuses: enumerations, lists, labelled lists, lists of numbers.

import Testing

@testable import Tweaks
import TweaksTestSupport

private enum Easing: String, CaseIterable, TweakConvertible {
    case linear, easeIn
    case easeOut = "ease out"
    case accented = "é"
}

struct ChoiceTests {
    private let registry = TweakRegistry()

    // MARK: An enumeration

    @Test(arguments: [
        ("linear", "linear"), ("easeIn", "easeIn"), ("ease out", #""ease out""#), ("é", #""é""#),
    ])
    func enumerationAccepts(_ text: String, _ printed: String) throws {
        let tweak = Tweak("Kind", "Of", "Easing", Easing.linear, registry: registry)
        #expect(try tweak.erased.set(text: text).new == .choice(text))
        #expect(tweak.value.rawValue == text)
        #expect(tweak.erased.value?.text == printed)
    }

    @Test(arguments: [
        "", " ", "Linear", "LINEAR", "easein", "ease  out", "easeOut", "0", "linear ", "e\u{301}", "\"linear\"",
    ])
    func enumerationRefuses(_ text: String) {
        let tweak = Tweak("Kind", "Of", "Easing", Easing.linear, registry: registry)
        expectRefused(text, by: tweak.erased, .notAChoice)
    }

    @Test func enumerationListsAllCases() {
        let tweak = Tweak("Kind", "Of", "Easing", Easing.linear, registry: registry)
        #expect(tweak.erased.kind == .choice)
        #expect(tweak.choices.map(\.value) == Easing.allCases)
        #expect(tweak.erased.choices.map(\.name) == ["linear", "easeIn", "ease out", "é"])
    }

    @Test func partOfAnEnumerationIsAList() throws {
        let tweak = Tweak("Kind", "Of", "Easing", Easing.linear, choices: [.linear, .easeOut], registry: registry)
        #expect(try tweak.erased.set(text: "ease out").new == .choice("ease out"))
        expectRefused("easeIn", by: tweak.erased, .notAChoice)
        #expect(refusal { try tweak.set(.easeIn) }?.code == .notAChoice)
        tweak.value = .easeIn
        #expect(tweak.value == .easeOut)
    }

    // MARK: Lists

    @Test func listOfStrings() throws {
        let tweak = Tweak("Kind", "Of", "List", "one", choices: ["one", "two", ""], registry: registry)
        for text in ["two", "", "one"] {
            #expect(try tweak.erased.set(text: text).new == .choice(text))
            #expect(tweak.value == text)
        }
        for text in ["three", "One", " one"] { expectRefused(text, by: tweak.erased, .notAChoice) }
        #expect(refusal { try tweak.set("three") }?.code == .notAChoice)
        tweak.value = "three"
        #expect(tweak.value == "one")
    }

    @Test func listWithLabelsIsTypedByName() throws {
        let tweak = Tweak(
            "Kind", "Of", "Labels", "key1", choices: ["key1": "Label 1", "key2": "Label 2"], registry: registry)
        try tweak.erased.set(text: "key2")
        #expect(tweak.value == "key2")
        expectRefused("Label 1", by: tweak.erased, .notAChoice)
        #expect(tweak.erased.choices.map(\.label) == ["Label 1", "Label 2"])
        #expect(tweak.choices.map(\.name) == ["key1", "key2"])
    }

    @Test func listOfWholeNumbers() throws {
        let tweak = Tweak("Kind", "Of", "Sizes", 16, choices: [8, 16, -32], registry: registry)
        for (text, value) in [("8", 8), ("-32", -32), ("16", 16)] {
            #expect(try tweak.erased.set(text: text).new == .choice(text))
            #expect(tweak.value == value)
        }
        for text in ["7", "08", "8.0", "0x8", ""] { expectRefused(text, by: tweak.erased, .notAChoice) }
    }

    @Test func listOfNumbersColorsAndDurations() throws {
        let scale = Tweak("Kind", "Of", "Scale", 1.0, choices: [0.5, 1, 2.5], registry: registry)
        try scale.erased.set(text: "2.5")
        #expect(scale.value == 2.5)
        expectRefused("1.0", by: scale.erased, .notAChoice)
        let ink = Tweak("Kind", "Of", "Ink", TweakColor.black, choices: [.black, .white], registry: registry)
        try ink.erased.set(text: "#FFFFFFFF")
        #expect(ink.value == .white)
        let pause = Tweak(
            "Kind", "Of", "Pause", Duration.seconds(1), choices: [.seconds(1), .seconds(90)], registry: registry)
        try pause.erased.set(text: "1m30s")
        #expect(pause.value == .seconds(90))
    }

    /// Whatever the type, what is not in the list is refused for that reason.
    @Test func settingAValueThatIsNotInTheListIsNotAChoice() {
        let sizes = Tweak("Kind", "Of", "Sizes", 16, choices: [8, 16], registry: registry)
        let scale = Tweak("Kind", "Of", "Scale", 1.0, choices: [0.5, 1], registry: registry)
        let pause = Tweak("Kind", "Of", "Pause", Duration.seconds(1), choices: [.seconds(1)], registry: registry)
        #expect(refusal { try sizes.set(9) }?.code == .notAChoice)
        #expect(refusal { try scale.set(0.75) }?.code == .notAChoice)
        #expect(refusal { try pause.set(.seconds(2)) }?.code == .notAChoice)
    }

    // MARK: All of them

    @Test func printsWhatItReads() throws {
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

    @Test func anErrorNamesTheChoicesAndTheNearest() {
        let tweak = Tweak("Kind", "Of", "List", "left", choices: ["left", "right"], registry: registry)
        let message = refusal { try tweak.set("lefft") }?.message
        #expect(message == "Kind/Of/List: “lefft” is none of left, right; did you mean left?")
    }

    @Test func namesMustBeSafeAndDifferent() {
        for choices in [["a", "b\n"], ["a", "a"], ["a", "\u{202E}"], ["é", "e\u{301}"]] {
            let error = refusal { _ = try registry.register("Kind", "Of", "Bad", choices[0], choices: choices) }
            #expect(error?.code == .usage, "\(choices)")
        }
        #expect(registry.count == 0)
    }

    @Test func theDefaultMustBeOneOfThem() {
        let error = refusal { _ = try registry.register("Kind", "Of", "Bad", "c", choices: ["a", "b"]) }
        #expect(error?.code == .notAChoice)
        let whole = refusal { _ = try registry.register("Kind", "Of", "Bad", 3, choices: [1, 2]) }
        #expect(whole?.code == .notAChoice)
        #expect(registry.count == 0)
    }
}
