// Optionals: a value of a kind, or none.

import Testing

@testable import Tweaks

@Suite("Optional")
struct OptionalTests {
    private let registry = TweakRegistry()

    private func limit(_ standard: Int? = nil) throws -> Tweak<Int?> {
        try registry.register("Server", "Requests", "Limit", standard, in: 1...10_000)
    }

    @Test("is a value within its range, or none")
    func values() throws {
        let tweak = try limit()
        #expect(tweak.value == nil && tweak.erased.value == .notSet && tweak.erased.value?.text == "none")
        try tweak.erased.set(text: "80")
        #expect(tweak.value == 80 && tweak.erased.value == .int(80) && tweak.isModified)
        try tweak.erased.set(text: "none")
        #expect(tweak.value == nil && !tweak.isModified)
        let error = try #require(throws: TweakError.self) { try tweak.set(0) }
        #expect(error.message == "Server/Requests/Limit: 0 is outside 1...10000")
        tweak.value = 20_000
        #expect(tweak.value == 10_000)
        #expect(tweak.erased.node.definition.summary == "optional of int 1...10000")
    }

    @Test("people write sums and none; what is neither says how")
    func read() throws {
        let node = try limit().erased.node
        #expect(try node.read("40*2", from: .person) == .int(80))
        #expect(try node.read("none", from: .person) == .notSet)
        let error = try #require(throws: TweakError.self) { try node.read("many", from: .person) }
        #expect(error.message.hasSuffix("write a whole number of 64 bits such as 42 or 0x2a, in 1...10000; or none"))
        let exact = try #require(throws: TweakError.self) { try node.read("many", from: .file) }
        #expect(exact.code == .badValue)
    }

    @Test("in JSON it is null, or the value")
    func json() {
        #expect(TweakValue.notSet.json == .null)
        #expect(TweakValue(.null, as: .optional, of: .int) == .notSet)
        #expect(TweakValue(.literal("5"), as: .optional, of: .int) == .int(5))
        #expect(TweakValue(.string("5"), as: .optional, of: .int) == nil)
    }

    @Test("a default that is there, a duration, a choice, a point")
    func kinds() throws {
        #expect(try limit(5).value == 5)
        let time = try registry.register("A", "B", "Time", Duration?.some(.seconds(2)), in: .zero ... .seconds(5))
        try time.erased.set(text: "1s")
        #expect(time.value == .seconds(1))
        let point = try registry.register("A", "B", "Point", TweakPoint?.none)
        try point.erased.set(text: "1,2")
        #expect(point.value == TweakPoint(x: 1, y: 2))
        let word = Tweak<String?>("A", "B", "Word", nil, choices: ["a", "b"], registry: registry)
        try word.erased.set(text: "b")
        #expect(
            word.value == "b"
                && word.erased.node.definition.kind.rules.names(word.erased.node.definition) == ["none", "a", "b"])
        @Tweak("A", "B", "Wrapped", registry: registry) var wrapped: Bool? = nil
        #expect(wrapped == nil)
    }

    @Test("none is no text and no choice of an optional")
    func none() throws {
        let word = try registry.register("A", "B", "Word", String?.some("a"))
        #expect(throws: TweakError.self) { try word.set("none") }
        try word.erased.set(text: "none")
        #expect(word.value == nil)
        let error = try #require(throws: TweakError.self) {
            try registry.register("A", "B", "Choice", String?.none, choices: ["none", "all"])
        }
        #expect(error.code == .usage && error.message.contains("another name"))
    }

    @Test("what a number has is counted on, a duration's too; a secret's is not, and what is not set is not")
    func counting() throws {
        let time = try registry.register("A", "B", "Time", Duration?.some(.seconds(5)))
        try registry.commit(origin: .code) { $0.append(time.node, .add(.duration(.seconds(1)))) }
        #expect(time.value == .seconds(6))
        let unset = try limit()
        #expect(throws: TweakError.self) {
            try registry.commit(origin: .code) { $0.append(unset.node, .add(.int(1))) }
        }
        let pin = try registry.register("A", "B", "Pin", Int?.some(7), in: 1...100, flags: .secret)
        let error = try #require(throws: TweakError.self) {
            try registry.commit(origin: .code) { $0.append(pin.node, .add(.int(1))) }
        }
        #expect(error.message.contains("cannot be counted from"))
    }

    @Test("a type that does not say its kind needs a value to say it")
    func unknownKind() throws {
        struct Tag: TweakConvertible {
            let name: String
            init(name: String) { self.name = name }
            init?(_ value: TweakValue) { if case .string(let name) = value { self.name = name } else { return nil } }
            var erased: TweakValue { .string(name) }
        }
        let error = try #require(throws: TweakError.self) { try registry.register("A", "B", "Tag", Tag?.none) }
        #expect(error.code == .usage && error.message.contains("tweakKind"))
        #expect(try registry.register("A", "B", "Tags", [Tag(name: "x")]).value.count == 1)
    }
}
