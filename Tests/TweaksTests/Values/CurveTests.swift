// Tests the texts that a curve tweak accepts and refuses, and curves as values.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct CurveTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<TweakCurve>

    init() throws { tweak = try registry.register("Card", "Drop", "Curve", TweakCurve.easeInOut) }

    /// The text, and the curve as it is printed.
    @Test(arguments: [
        ("cubic-bezier(0.2,0,0,1)", "cubic-bezier(0.2,0,0,1)"),
        ("cubic-bezier(.2, 0, 0, 1)", "cubic-bezier(0.2,0,0,1)"),
        (" Cubic-Bezier( .20 , -0.0 ,+0, 1e0 ) ", "cubic-bezier(0.2,0,0,1)"),
        ("cubic-bezier(0,-1000,1,1000)", "cubic-bezier(0,-1000,1,1000)"),
        ("cubic-bezier(0.1,1e-7,1e-300,0.30000000000000004)", "cubic-bezier(0.1,1e-07,1e-300,0.30000000000000004)"),
        ("linear", "cubic-bezier(0,0,1,1)"), ("ease", "cubic-bezier(0.25,0.1,0.25,1)"),
        ("EASE-IN", "cubic-bezier(0.42,0,1,1)"), ("ease-out", "cubic-bezier(0,0,0.58,1)"),
        ("ease-in-out", "cubic-bezier(0.42,0,0.58,1)"), ("step-start", "steps(1,start)"), ("step-end", "steps(1,end)"),
        ("steps(4)", "steps(4,end)"), ("steps(4, end)", "steps(4,end)"), ("steps(4,jump-end)", "steps(4,end)"),
        ("STEPS( 4 , JUMP-START )", "steps(4,start)"), ("steps(1000,start)", "steps(1000,start)"),
        ("steps(2,jump-none)", "steps(2,jump-none)"), ("steps(1,jump-both)", "steps(1,jump-both)"),
        ("steps(007)", "steps(7,end)"),
    ])
    func isReadAndPrinted(text: String, printed: String) throws {
        for source in [TextSource.typed, .file] {
            let value = try tweak.erased.node.read(text, from: source)
            #expect(value.text == printed && value.json == .string(printed) && value.kind == .curve)
            try expectRoundTrip(value, by: tweak.erased)
        }
        #expect(TweakCurve(text)?.description == printed)
    }

    /// The text, and what the error says of it besides how a curve is written.
    @Test(arguments: [
        ("", nil), ("cubic-bezier", nil), ("cubic-bezier()", "cubic-bezier has four numbers"),
        ("cubic-bezier(0,0,1)", "cubic-bezier has four numbers"),
        ("cubic-bezier(0,0,1,1,1)", "cubic-bezier has four numbers"),
        ("cubic-bezier(0 0 1 1)", "cubic-bezier has four numbers"),
        ("cubic-bezier(1.5,0,0,1)", "x1 is 1.5; a time is from 0 to 1"),
        ("cubic-bezier(0,0,-0.1,1)", "x2 is -0.1; a time is from 0 to 1"),
        ("cubic-bezier(0,1001,0,1)", "y1 is 1001; a progress is from -1000 to 1000"),
        ("cubic-bezier(0,0,0,-1e300)", "y2 is -1e+300; a progress is from -1000 to 1000"),
        ("cubic-bezier(0,nan,0,1)", "y1 is “nan”, which is not a number"),
        ("cubic-bezier(0,1e400,0,1)", "y1 is “1e400”, which is not a number"),
        ("cubic-bezier(0x0,0,0,1)", "x1 is “0x0”, which is not a number"),
        ("cubic-bezier(0,,0,1)", "y1 is “”, which is not a number"), ("cubic-bezier(0,0,1,1", nil),
        ("cubic-bezier (0,0,1,1)", nil), ("cubic-bezier(0,0,1,1))", "y2 is “1)”, which is not a number"),
        ("steps()", "the count is “”; with end it is from 1 to 1000"),
        ("steps(0)", "the count is “0”; with end it is from 1 to 1000"),
        ("steps(1001)", "the count is “1001”; with end it is from 1 to 1000"),
        ("steps(1,jump-none)", "the count is “1”; with jump-none it is from 2 to 1000"),
        ("steps(-1)", "the count is “-1”"), ("steps(+1)", "the count is “+1”"), ("steps(2.0)", "the count is “2.0”"),
        ("steps(99999999999999999999)", "the count is “99999999999999999999”"),
        ("steps(4,middle)", "steps has a count"), ("steps(4,end,1)", "steps has a count"),
        ("linear(0,1)", nil), ("easy", "did you mean ease?"), ("ease-inout", "did you mean ease-in-out?"),
        ("ease;", "did you mean ease?"), ("72", nil), ("#F80", nil),
    ])
    func otherTextsAreRefusedWithAReason(text: String, reason: String?) throws {
        #expect(TweakCurve(text) == nil)
        let error = try #require(throws: TweakError.self) { try tweak.erased.node.read(text, from: .typed) }
        let start = "Card/Drop/Curve: \(Quoting.excerpt(text)) is not a curve; write cubic-bezier(x1,y1,x2,y2), "
        let remedy = "steps(4,end) or a CSS name such as ease-out"
        #expect(error.code == .badValue && error.message.hasPrefix(start + remedy), "\(error.message)")
        if let reason {
            #expect(error.message.hasPrefix(start + remedy + "; " + reason), "\(error.message)")
        } else {
            #expect(error.message == start + remedy)
        }
    }

    /// Neither a long text nor one of many parts is repeated, or takes long.
    @Test(arguments: [
        "cubic-bezier(" + String(repeating: "9", count: 60_000) + ",0,0,1)",
        "cubic-bezier(" + String(repeating: ",", count: 60_000) + ")", String(repeating: "(", count: 60_000) + ")",
        "steps(" + String(repeating: "1", count: 60_000) + ")",
        "steps(4," + String(repeating: "é", count: 30_000) + ")",
        String(repeating: " ", count: 60_000), String(repeating: "ease-in", count: 9_000),
    ])
    func hostileTextsAreRefusedInFewWords(text: String) throws {
        let error = try #require(throws: TweakError.self) { try tweak.erased.node.read(text, from: .typed) }
        #expect(error.message.utf8.count < 500)
    }

    @Test func initializersLimitWhatIsOutOfRange() {
        #expect(TweakCurve(-1, -5_000, 2, .infinity) == TweakCurve(0, -1_000, 1, 1_000))
        #expect(TweakCurve(.nan, .nan, -.infinity, -0.0) == TweakCurve(0, 0, 0, 0))
        #expect(TweakCurve(0, 0, 0, -0.0).description == "cubic-bezier(0,0,0,0)")
        #expect(TweakCurve.steps(.min) == .steps(1) && TweakCurve.steps(.max) == .steps(1_000))
        #expect(TweakCurve.steps(0, .jumpNone) == .steps(2, .jumpNone))
    }

    @Test func isDeclaredSetAndReadLikeOtherValues() throws {
        #expect(tweak.value == .easeInOut && tweak.erased.kind == .curve)
        #expect(tweak.erased.node.definition.summary == "curve")
        try tweak.set(TweakCurve(0.3, 1.5, 0.6, 1))
        #expect(tweak.value.value(at: 0.5) > 0.9)
        @Tweak("A", "B", "Wrapped", registry: registry) var wrapped = TweakCurve.easeOut
        wrapped = .steps(3)
        #expect(wrapped == .steps(3) && $wrapped.isModified)
        #expect(tweakValue("A", "B", "Called", TweakCurve.linear, registry: registry) == .linear)
        let list = Tweak("A", "B", "List", [TweakCurve.ease], maxLength: 3, registry: registry)
        list.value = [.steps(2, .jumpNone), .linear]
        #expect(list.erased.value?.text == "[steps(2,jump-none), cubic-bezier(0,0,1,1)]")
        let typed = try list.erased.node.read("[steps(2, start), ease, cubic-bezier(.2,0,0,1)]", from: .typed)
        #expect(typed == .list([.curve(.steps(2, .start)), .curve(.ease), .curve(TweakCurve(0.2, 0, 0, 1))]))
        #expect(TweakValue(parsing: typed.text, as: .list, of: .curve) == typed)
        #expect(JSON(typed.json.text).flatMap { TweakValue($0, as: .list, of: .curve) } == typed)
        let optional = Tweak<TweakCurve?>("A", "B", "Optional", nil, registry: registry)
        #expect(try optional.erased.node.read("ease", from: .typed) == .curve(.ease))
        let chosen = Tweak("A", "B", "Chosen", TweakCurve.ease, choices: [.ease, .linear], registry: registry)
        try registry.commit(origin: .code) { $0.set("A/B/Chosen", .choice("cubic-bezier(0,0,1,1)")) }
        #expect(chosen.value == .linear)
    }

    @Test(arguments: [
        TweakValue.number(1), .string("ease"), .choice("ease"), .color(.black), .duration(.zero), .list([]), .notSet,
    ])
    func valuesOfOtherKindsAreRefused(value: TweakValue) {
        let error = refusal { try registry.commit(origin: .code) { $0.set("Card/Drop/Curve", value) } }
        #expect(error?.code == .badValue && error?.message.contains("is a curve, not") == true)
    }

    /// A set is a value of the same kind; nothing is added to a curve, and it cannot be toggled.
    @Test func nothingIsAddedToACurve() throws {
        for change in [TweakBatch.Change.add(.curve(.ease)), .subtract(.curve(.ease)), .toggle] {
            var batch = TweakBatch()
            batch.append(tweak.erased.node, change)
            #expect(refusal { _ = try registry.forecast(batch) }?.code == .badValue)
        }
        #expect(throws: TweakError.self) {
            try registry.register("A", "B", "Stepped", TweakCurve.ease, step: TweakCurve.ease)
        }
    }

    /// Larger values would cost every commit; see the budgets of instructions.
    @Test func aValueOfAnyKindIsAsSmallAsAPoint() {
        #expect(MemoryLayout<TweakValue>.size == MemoryLayout<TweakPoint>.size + 1)
    }
}
