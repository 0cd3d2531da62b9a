// Lists: values of one kind, with limits of length.

import Testing

@testable import Tweaks

@Suite("List")
struct ListTests {
    private enum Level: String, CaseIterable, TweakConvertible { case low, high }

    private let registry = TweakRegistry()

    private func delays(policy: TweakPolicy = .reject) throws -> Tweak<[Int]> {
        try registry.register(
            "Retry", "Policy", "Delays", [1, 2, 5], in: 0...60, minLength: 1, maxLength: 4, policy: policy)
    }

    @Test(
        "the text of a list is taken apart at its commas",
        arguments: [
            ("[]", []), ("[ ]", []), ("[1, 2,3]", ["1", "2", "3"]), (#"["a, b", c d]"#, ["a, b", "c d"]),
            (#"["\"]\"", "\u00e9"]"#, ["\"]\"", "é"]), ("[rgb(1,2,3), black]", ["rgb(1,2,3)", "black"]),
            ("['a, b', 'c\\n]']", ["a, b", "c\\n]"]),
        ] as [(String, [String])])
    func items(text: String, items: [String]) { #expect(ListText.items(text) == items) }

    @Test(
        "what is no list has no values",
        arguments: ["", "[", "]", "1, 2", "[1, 2", "[1,]", "[,1]", "[1] 2", "[[1]]", #"["a" b]"#, #"["a]"#, #"["\x"]"#])
    func noList(text: String) { #expect(ListText.items(text) == nil) }

    @Test("is read as values of its kind: exactly from files, freely from people")
    func read() throws {
        let node = try delays().erased.node
        #expect(try node.read("[1, 0x10]", from: .file) == .list([.int(1), .int(16)]))
        #expect(try node.read("[2*3]", from: .person) == .list([.int(6)]))
        let error = try #require(throws: TweakError.self) { try node.read("[1, a]", from: .person) }
        #expect(error.code == .badValue && error.message.contains("“a” is no int"))
        let none = try #require(throws: TweakError.self) { try node.read("1, 2", from: .person) }
        #expect(none.message.hasSuffix("is no list; write a list such as [1, 2, 3], in 0...60"))
    }

    @Test("its values have a range, and it has a length")
    func limits() throws {
        let tweak = try delays()
        for (value, reason) in [
            ([], "0 values are too few; at least 1"), ([1, 2, 3, 4, 5], "5 values are too many; at most 4"),
            ([1, 99], "99 is outside 0...60"),
        ] as [([Int], String)] {
            let error = try #require(throws: TweakError.self) { try tweak.set(value) }
            #expect(error.code == .outOfRange && error.message == "Retry/Policy/Delays: \(reason)")
        }
        try tweak.set([60, 0])
        #expect(tweak.value == [60, 0])
        tweak.value = [70, 1]
        #expect(tweak.value == [60, 1])
        #expect(tweak.erased.node.definition.summary == "list of int 0...60 at least 1 up to 4 values")
        #expect(tweak.erased.upperBound == .int(60))
    }

    @Test("no list is longer than a thousand values")
    func longest() throws {
        let tweak = try registry.register("A", "B", "Long", [Int]())
        #expect(throws: TweakError.self) { try tweak.set(Array(repeating: 0, count: 1_001)) }
        try tweak.set(Array(repeating: 0, count: 1_000))
        let error = try #require(throws: TweakError.self) {
            try registry.register("A", "B", "Longer", [1], maxLength: 2_000)
        }
        #expect(error.code == .usage)
    }

    @Test("holds texts, durations, colors, truth values and choices; an empty one knows its kind")
    func kinds() throws {
        func check<Value: TweakConvertible>(_ name: String, _ values: [Value], _ text: String) throws {
            let tweak = try registry.register("Kinds", "Of", name, [Value]())
            try tweak.erased.set(text: text)
            #expect(tweak.value == values)
            #expect(tweak.erased.value?.text == text)
        }
        try check("Text", ["a", "b, \"c\""], #"["a", "b, \"c\""]"#)
        try check("Durations", [Duration.seconds(1), .milliseconds(250)], "[1s, 250ms]")
        try check("Colors", [TweakColor.black], "[#000000FF]")
        try check("Flags", [true, false], "[true, false]")
        try check("Levels", [Level.high, .low], "[high, low]")
        try check("Numbers", [0.5, 2], "[0.5, 2]")
        let error = try #require(throws: TweakError.self) { try registry["Kinds/Of/Levels"]?.set(text: "[middle]") }
        #expect(error.code == .notAChoice)
    }

    @Test("choices of other values than texts are refused: they would not be found by their names")
    func numberedChoices() throws {
        let error = try #require(throws: TweakError.self) {
            try registry.register("A", "B", "C", [1], choices: [1, 2])
        }
        #expect(error.code == .usage && error.message.contains("are for texts"))
    }

    @Test("long lists count as long texts do")
    func weight() throws {
        let tweak = try registry.register("A", "B", "Texts", ["a"])
        let before = registry.heldBytes.values
        try tweak.set(Array(repeating: String(repeating: "x", count: 100), count: 100))
        #expect(registry.heldBytes.values >= before + 10_000)
        tweak.reset()
        #expect(registry.heldBytes.values == before)
    }

    @Test("choices limit what is in it")
    func choices() throws {
        let tweak = try registry.register("A", "B", "Hosts", ["a"], choices: ["a", "b"])
        try tweak.erased.set(text: "[b, a, a]")
        #expect(tweak.value == ["b", "a", "a"])
        #expect(tweak.erased.node.definition.summary == "list of choice a|b")
        #expect(throws: TweakError.self) { try tweak.set(["c"]) }
    }

    @Test("observers hear of it when a value in it changes, and only then")
    func observing() throws {
        let tweak = try delays()
        let heard = Recorder<[Int]>()
        let token = tweak.observe { heard.note($0.new) }
        tweak.value = [1, 2]
        tweak.value = [1, 2]
        tweak.value = [2, 1]
        #expect(heard.all == [[1, 2], [2, 1]])
        token.cancel()
    }

    @Test("a property, a call site, a declaration")
    func forms() {
        @Tweak("A", "B", "Wrapped", in: 0...60, maxLength: 8, registry: registry) var wrapped = [1, 2]
        #expect(wrapped == [1, 2])
        #expect(tweakValue("A", "B", "Called", [1.5], in: 0...2, registry: registry) == [1.5])
        #expect(tweakValue("A", "B", "Texts", ["x"], maxLength: 2, registry: registry) == ["x"])
        #expect(
            Tweak("A", "B", "Declared", [Duration.seconds(1)], in: .zero ... .seconds(5), registry: registry).value
                .count == 1)
        // Arrays and optionals stay what they are everywhere else.
        #expect(Array("ab").count == 2)
    }
}
