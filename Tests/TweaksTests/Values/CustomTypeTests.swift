// Types of the program's own as values: stored behind a lock, printed as what they convert to.

import Testing

@testable import Tweaks

/// As the documentation of `TweakConvertible` shows it; names of more than eight characters do not convert.
private struct Tag: TweakConvertible {
    var name: String

    init(_ name: String) { self.name = name }

    init?(_ value: TweakValue) {
        guard case .string(let name) = value, name.count <= 8 else { return nil }
        self.name = name
    }

    var erased: TweakValue { .string(name) }
}

struct CustomTypeTests {
    private let registry = TweakRegistry()

    @Test func readsSetsAndTellsLikeAnyOther() throws {
        let tweak = Tweak("Kind", "Of", "Tag", Tag("red"), registry: registry)
        let seen = Recorder<[String]>()
        let token = tweak.observe { seen.note([$0.old.name, $0.new.name]) }
        try tweak.erased.set(text: "green")
        tweak.value = Tag("green")
        tweak.value.name = "blue"
        #expect(tweak.value == Tag("blue") && tweak.erased.value == .string("blue") && tweak.erased.kind == .string)
        #expect(seen.all == [["red", "green"], ["green", "blue"]])
        #expect(registry.snapshot()[tweak] == Tag("blue"))
        token.cancel()
    }

    @Test func whatDoesNotConvertIsRefused() {
        let tweak = Tweak("Kind", "Of", "Tag", Tag("red"), registry: registry)
        expectRefused("much too long", by: tweak.erased, .outOfRange)
        #expect(refusal { try tweak.set(Tag("much too long")) }?.code == .outOfRange)
    }

    @Test func aDefaultThatDoesNotSurviveStoringIsRefused() {
        let error = refusal { _ = try registry.register("Kind", "Of", "Tag", Tag("much too long")) }
        #expect(error?.code == .badValue && registry.count == 0)
    }

    @Test func aClosedListHoldsThem() throws {
        let tweak = Tweak("Kind", "Of", "Tag", Tag("red"), choices: [Tag("red"), Tag("green")], registry: registry)
        try tweak.erased.set(text: "green")
        #expect(tweak.value == Tag("green") && tweak.erased.value == .choice("green"))
        expectRefused("blue", by: tweak.erased, .notAChoice)
        #expect(refusal { try tweak.set(Tag("blue")) }?.code == .notAChoice)
    }
}
