// Tests lists: values of one kind, with limits for each value and for their number.

import Testing

@testable import Tweaks

struct ListTests {
    private enum Level: String, CaseIterable, TweakConvertible { case low, high }

    private let registry = TweakRegistry()

    private func delays() throws -> Tweak<[Int]> {
        try registry.register("Retry", "Policy", "Delays", [1, 2, 5], in: 0...60, minLength: 1, maxLength: 4)
    }

    @Test(
        arguments: [
            ("[]", []), ("[ ]", []), ("[1, 2,3]", ["1", "2", "3"]), (#"["a, b", c d]"#, ["a, b", "c d"]),
            (#"["\"]\"", "\u00e9"]"#, ["\"]\"", "é"]), ("[rgb(1,2,3), black]", ["rgb(1,2,3)", "black"]),
            ("['a, b', 'c\\n]']", ["a, b", "c\\n]"]), ("", nil), ("[", nil), ("]", nil), ("1, 2", nil), ("[1, 2", nil),
            ("[1,]", nil), ("[,1]", nil), ("[1] 2", nil), ("[[1]]", nil), (#"["a" b]"#, nil), (#"["a]"#, nil),
            (#"["\x"]"#, nil),
        ] as [(String, [String]?)])
    func theTextOfAListIsSplitAtCommas(text: String, items: [String]?) { #expect(ListText.items(text) == items) }

    @Test(
        arguments: [
            ("1,2,3", [1, 2, 3]), ("1, 2 ,3", [1, 2, 3]), ("5", [5]), (" 5, 2*3", [5, 6]), ("0x10,1_0", [16, 10]),
        ] as [(String, [Int64])])
    func typedListsMayLackTheirBrackets(_ text: String, _ values: [Int64]) throws {
        let node = try delays().erased.node
        #expect(try node.read(text, from: .typed) == .list(values.map(TweakValue.int)))
        #expect(refusal { _ = try node.read(text, from: .file) }?.code == .badValue)
    }

    @Test(
        arguments: [
            ("a, b", ["a", "b"]), (#""a, b",c"#, ["a, b", "c"]), ("two words", ["two words"]),
            ("rgb(1,2,3), black", ["rgb(1,2,3)", "black"]),
            ("", nil), (" ", nil), ("a,", nil), (",a", nil), ("a,,b", nil), ("[a", nil), ("a]", nil), (#""a"#, nil),
        ] as [(String, [String]?)])
    func textsAreSplitAtCommas(_ text: String, _ items: [String]?) throws {
        let node = try registry.register("A", "B", "Texts", ["x"]).erased.node
        let wanted = items.map { TweakValue.list($0.map(TweakValue.string)) }
        #expect((try? node.read(text, from: .typed)) == wanted)
    }

    @Test func typedValuesMayBeSumsAndErrorsNameTheInvalidOne() throws {
        let node = try delays().erased.node
        #expect(try node.read("[1, 0x10]", from: .file) == .list([.int(1), .int(16)]))
        #expect(try node.read("[2*3]", from: .typed) == .list([.int(6)]))
        let error = try #require(throws: TweakError.self) { try node.read("[1, a]", from: .typed) }
        #expect(error.code == .badValue && error.message.contains("“a” is not an int"))
        let bare = try #require(throws: TweakError.self) { try node.read("1, a", from: .typed) }
        #expect(bare.message.contains("“a” is not an int"))
        let none = try #require(throws: TweakError.self) { try node.read("many", from: .typed) }
        #expect(none.message.hasSuffix("is not a list; write a list such as [1, 2, 3], in 0...60"))
    }

    @Test func valuesHaveARangeAndTheListHasALength() throws {
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
        #expect(tweak.value == [60, 1] && tweak.erased.upperBound == .int(60))
        #expect(tweak.erased.node.definition.summary == "list of int 0...60 at least 1 up to 4 values")
    }

    @Test func aListHasAtMostAThousandValues() throws {
        let tweak = try registry.register("A", "B", "Long", [Int]())
        #expect(throws: TweakError.self) { try tweak.set(Array(repeating: 0, count: 1_001)) }
        try tweak.set(Array(repeating: 0, count: 1_000))
        #expect(refusal { _ = try registry.register("A", "B", "Longer", [1], maxLength: 2_000) }?.code == .usage)
    }

    @Test func anEmptyListOfEachKindAcceptsItsValues() throws {
        func check<Value: TweakConvertible>(_ name: String, _ values: [Value], _ text: String) throws {
            let tweak = try registry.register("Kinds", "Of", name, [Value]())
            try tweak.erased.set(text: text)
            #expect(tweak.value == values && tweak.erased.value?.text == text)
        }
        try check("Text", ["a", "b, \"c\""], #"["a", "b, \"c\""]"#)
        try check("Durations", [Duration.seconds(1), .milliseconds(250)], "[1s, 250ms]")
        try check("Colors", [TweakColor.black], "[#000000FF]")
        try check("Flags", [true, false], "[true, false]")
        try check("Levels", [Level.high, .low], "[high, low]")
        try check("Numbers", [0.5, 2], "[0.5, 2]")
        #expect(refusal { try registry["Kinds/Of/Levels"]?.set(text: "[middle]") }?.code == .notAChoice)
    }

    /// Choices of other values could not be found by their names.
    @Test func choicesLimitAListOfTextsAndAreRefusedForOtherKinds() throws {
        let tweak = try registry.register("A", "B", "Hosts", ["a"], choices: ["a", "b"])
        try tweak.erased.set(text: "[b, a, a]")
        #expect(tweak.value == ["b", "a", "a"])
        #expect(tweak.erased.node.definition.summary == "list of choice a|b")
        #expect(throws: TweakError.self) { try tweak.set(["c"]) }
        let error = refusal { _ = try registry.register("A", "B", "C", [1], choices: [1, 2]) }
        #expect(error?.code == .usage && error?.message.contains("are for texts") == true)
    }

    @Test func theMemorySizeIncludesTheTextsOfLists() throws {
        let tweak = try registry.register("A", "B", "Texts", ["a"])
        let before = registry.memorySize.values
        try tweak.set(Array(repeating: String(repeating: "x", count: 100), count: 100))
        #expect(registry.memorySize.values >= before + 10_000)
        tweak.reset()
        #expect(registry.memorySize.values == before)
    }

    @Test func observersAreNotifiedOnlyWhenAValueInItChanges() throws {
        let tweak = try delays()
        let changes = ChangeRecorder(tweak) { $0.new }
        for value in [[1, 2], [1, 2], [2, 1]] { tweak.value = value }
        #expect(changes.all == [[1, 2], [2, 1]])
    }

    @Test func propertiesCallSitesAndDeclarationsAcceptLists() {
        @Tweak("A", "B", "Wrapped", in: 0...60, maxLength: 8, registry: registry) var wrapped = [1, 2]
        #expect(wrapped == [1, 2])
        #expect(tweakValue("A", "B", "Called", [1.5], in: 0...2, registry: registry) == [1.5])
        #expect(tweakValue("A", "B", "Texts", ["x"], maxLength: 2, registry: registry) == ["x"])
        let times = Tweak("A", "B", "Times", [Duration.seconds(1)], in: .zero ... .seconds(5), registry: registry)
        #expect(times.value.count == 1)
        // Tweaks does not change arrays elsewhere.
        #expect(Array("ab").count == 2)
    }
}
