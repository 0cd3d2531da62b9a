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

/// As in the documentation of `TweakFormat`.
private struct HostName: TweakConvertible {
    var text: String
    init?(_ value: TweakValue) {
        guard case .string(let text) = value, text.contains(".") else { return nil }
        self.text = text.lowercased()
    }
    var erased: TweakValue { .string(text) }
    static var tweakKind: TweakKind? { .string }
    static var tweakFormat: TweakFormat? { TweakFormat("hostname", "a host name", example: "db.example.com") }
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

    @Test func aFormatNamesTheTextsAndTheirSpelling() throws {
        let standard = try #require(HostName(.string("a.example")))
        let host = Tweak("Kind", "Of", "Host", standard, maxLength: 16, registry: registry)
        #expect(host.erased.format?.name == "hostname" && tweak.erased.format == nil)
        try host.erased.set(text: "DB.example.com")
        #expect(host.value.text == "db.example.com" && host.erased.value == .string("db.example.com"))
        let error = refusal { try host.erased.set(text: "localhost") }
        #expect(error?.message == "Kind/Of/Host: “localhost” is not a host name; write one such as db.example.com")
        #expect(error?.code == .badValue)
        expectRefused("a-longer.example.com", by: host.erased, .outOfRange)
        let hosts = Tweak("Kind", "Of", "Hosts", [standard], registry: registry)
        try hosts.erased.set(text: "[A.example, b.example]")
        #expect(hosts.value.map(\.text) == ["a.example", "b.example"] && hosts.erased.format?.name == "hostname")
        expectRefused("[a.example, b]", by: hosts.erased, .badValue)
        let maybe = Tweak<HostName?>("Kind", "Of", "Maybe", nil, registry: registry)
        #expect(refusal { try maybe.erased.set(text: "b") }?.message.contains("is not a host name") == true)
    }

    @Test func aTextWithoutTheFormatIsAnotherType() throws {
        let host = Tweak("Kind", "Of", "Host", try #require(HostName(.string("a.example"))), registry: registry)
        #expect(refusal { _ = try registry.register("Kind", "Of", "Host", "a.example") }?.code == .conflict)
        #expect(host.value.text == "a.example")
    }
}
