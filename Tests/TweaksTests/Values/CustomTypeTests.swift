// Tests a program's own type as a value: stored behind a lock, printed as the value that it converts to.

import Testing

@testable import Tweaks

/// As in the documentation of `TweakConvertible`; names of more than eight characters do not convert.
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
    private let tweak: Tweak<Tag>

    init() { tweak = Tweak("Kind", "Of", "Tag", Tag("red"), registry: registry) }

    @Test func isReadSetAndObservedLikeAnyOtherType() throws {
        let changes = ChangeRecorder(tweak) { [$0.old.name, $0.new.name] }
        try tweak.erased.set(text: "green")
        tweak.value = Tag("green")
        tweak.value.name = "blue"
        #expect(tweak.value == Tag("blue") && tweak.erased.value == .string("blue") && tweak.erased.kind == .string)
        #expect(changes.all == [["red", "green"], ["green", "blue"]])
        #expect(registry.snapshot()[tweak] == Tag("blue"))
    }

    @Test func valuesAndDefaultsThatDoNotConvertAreRefused() {
        expectRefused("much too long", by: tweak.erased, .outOfRange)
        #expect(refusal { try tweak.set(Tag("much too long")) }?.code == .outOfRange)
        let error = refusal { _ = try registry.register("Kind", "Of", "Long", Tag("much too long")) }
        #expect(error?.code == .badValue && registry.count == 1)
        #expect(error?.message.contains("init?(_:) of an own type must return the same value") == true)
    }

    @Test func aListOfThemIsAChoice() throws {
        let tweak = Tweak("Kind", "Of", "List", Tag("red"), choices: [Tag("red"), Tag("green")], registry: registry)
        try tweak.erased.set(text: "green")
        #expect(tweak.value == Tag("green") && tweak.erased.value == .choice("green"))
        expectRefused("blue", by: tweak.erased, .notAChoice)
        #expect(refusal { try tweak.set(Tag("blue")) }?.code == .notAChoice)
    }
}
