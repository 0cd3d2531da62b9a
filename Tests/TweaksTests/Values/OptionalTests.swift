// Tests optionals: a value of a kind, or none.

import Testing

@testable import Tweaks

struct OptionalTests {
    private let registry = TweakRegistry()

    private func limit(_ standard: Int? = nil) throws -> Tweak<Int?> {
        try registry.register("Server", "Requests", "Limit", standard, in: 1...10_000)
    }

    @Test func isAValueWithinItsRangeOrNone() throws {
        let tweak = try limit()
        #expect(tweak.value == nil && tweak.erased.value == .notSet && tweak.erased.value?.text == "none")
        try tweak.erased.set(text: "80")
        #expect(tweak.value == 80 && tweak.erased.value == .int(80) && tweak.isModified)
        try tweak.erased.set(text: "none")
        #expect(tweak.value == nil && !tweak.isModified)
        #expect(refusal { try tweak.set(0) }?.message == "Server/Requests/Limit: 0 is outside 1...10000")
        tweak.value = 20_000
        #expect(tweak.value == 10_000)
        #expect(tweak.erased.node.definition.summary == "optional of int 1...10000 logarithmic")
    }

    @Test func typedValuesMayBeSumsOrNoneAndErrorsExplainBoth() throws {
        let node = try limit().erased.node
        #expect(try node.read("40*2", from: .typed) == .int(80) && node.read("none", from: .typed) == .notSet)
        let error = try #require(throws: TweakError.self) { try node.read("many", from: .typed) }
        #expect(error.message.hasSuffix("write a whole number of 64 bits such as 42 or 0x2a, in 1...10000; or none"))
        #expect(refusal { _ = try node.read("many", from: .file) }?.code == .badValue)
    }

    @Test func anEmptiedFieldMeansNone() throws {
        let node = try limit(5).erased.node
        let mode = Tweak<String?>("A", "B", "Mode", nil, choices: ["a", "b"], registry: registry).erased.node
        for node in [node, mode] {
            for text in ["", "  "] { #expect(try node.read(text, from: .typed) == .notSet) }
        }
        #expect(refusal { _ = try node.read("", from: .file) }?.code == .badValue)
        // Texts, and choices of that name, may be empty.
        let word = try registry.register("A", "B", "Word", String?.none).erased.node
        #expect(try word.read("", from: .typed) == .string(""))
        let suffix = Tweak<String?>("A", "B", "Suffix", nil, choices: ["", "b"], registry: registry).erased.node
        #expect(try suffix.read("", from: .typed) == .choice(""))
    }

    @Test func inJSONItIsNullOrTheValue() {
        #expect(TweakValue.notSet.json == .null && TweakValue(.null, as: .optional, of: .int) == .notSet)
        #expect(TweakValue(.literal("5"), as: .optional, of: .int) == .int(5))
        #expect(TweakValue(.string("5"), as: .optional, of: .int) == nil)
    }

    @Test func valuesOfAllKindsCanBeOptional() throws {
        #expect(try limit(5).value == 5)
        let time = try registry.register("A", "B", "Time", Duration?.some(.seconds(2)), in: .zero ... .seconds(5))
        try time.erased.set(text: "1s")
        #expect(time.value == .seconds(1))
        let point = try registry.register("A", "B", "Point", TweakPoint?.none)
        try point.erased.set(text: "1,2")
        #expect(point.value == TweakPoint(x: 1, y: 2))
        let word = Tweak<String?>("A", "B", "Word", nil, choices: ["a", "b"], registry: registry)
        try word.erased.set(text: "b")
        let definition = word.erased.node.definition
        #expect(word.value == "b" && definition.kind.rules.names(definition) == ["none", "a", "b"])
        @Tweak("A", "B", "Wrapped", registry: registry) var wrapped: Bool? = nil
        #expect(wrapped == nil)
    }

    @Test func noneIsNeitherATextNorAChoiceOfAnOptional() throws {
        let word = try registry.register("A", "B", "Word", String?.some("a"))
        #expect(throws: TweakError.self) { try word.set("none") }
        try word.erased.set(text: "none")
        #expect(word.value == nil)
        let error = refusal { _ = try registry.register("A", "B", "Choice", String?.none, choices: ["none", "all"]) }
        #expect(error?.code == .usage && error?.message.contains("another name") == true)
    }

    @Test func relativeChangesNeedAValueThatIsNotASecret() throws {
        func add(_ amount: TweakValue, to node: TweakNode) -> TweakError? {
            refusal { try registry.commit(origin: .code) { $0.append(node, .add(amount)) } }
        }
        let time = try registry.register("A", "B", "Time", Duration?.some(.seconds(5)))
        #expect(add(.duration(.seconds(1)), to: time.node) == nil && time.value == .seconds(6))
        #expect(add(.int(1), to: try limit().node) != nil)
        let pin = try registry.register("A", "B", "Pin", Int?.some(7), in: 1...100, flags: .secret)
        #expect(add(.int(1), to: pin.node)?.message.contains("cannot be changed by +=") == true)
    }

    @Test func aTypeWithoutAKindNeedsADefault() throws {
        struct Tag: TweakConvertible {
            let name: String
            init(name: String) { self.name = name }
            init?(_ value: TweakValue) { if case .string(let name) = value { self.name = name } else { return nil } }
            var erased: TweakValue { .string(name) }
        }
        let error = refusal { _ = try registry.register("A", "B", "Tag", Tag?.none) }
        #expect(error?.code == .usage && error?.message.contains("tweakKind") == true)
        #expect(try registry.register("A", "B", "Tags", [Tag(name: "x")]).value.count == 1)
    }
}
