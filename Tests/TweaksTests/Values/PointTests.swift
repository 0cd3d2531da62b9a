// Tests points: two numbers, each with its range.

import Testing

@testable import Tweaks

struct PointTests {
    private let registry = TweakRegistry()

    private func offset(policy: TweakPolicy = .reject, step: Double? = nil) throws -> Tweak<TweakPoint> {
        try registry.register(
            "Label", "Text", "Offset", TweakPoint(x: 12, y: 40), in: .init(x: 0...320, y: 0...200), step: step,
            unit: "px", policy: policy)
    }

    @Test(arguments: [
        ("12,40", 12.0, 40.0), ("12, 40", 12, 40), ("[12, 40]", 12, 40), ("0.5,1e2", 0.5, 100), (" 1 , 2 ", 1, 2),
        ("10*2,100/4", 20, 25), ("12,40 px", 12, 40),
    ])
    func isReadFromTwoNumbersWithAComma(text: String, x: Double, y: Double) throws {
        #expect(try offset().node.read(text, from: .typed) == .point(TweakPoint(x: x, y: y)))
    }

    @Test(arguments: ["", "12", "12,", ",40", "1,2,3", "a,b", "[12,40", "nan,1"])
    func otherTextsAreRefusedWithAnExample(text: String) throws {
        let tweak = try offset()
        let error = try #require(throws: TweakError.self) { try tweak.node.read(text, from: .typed) }
        #expect(error.code == .badValue && error.message.contains("two numbers such as 12,40, in 0...320,0...200"))
    }

    @Test(arguments: [(0.0, -0.5), (1e300, 0.1), (72, 9_007_199_254_740_994)])
    func parsesWhatItPrints(x: Double, y: Double) {
        let value = TweakValue.point(TweakPoint(x: x, y: y))
        #expect(TweakValue(parsing: value.text, as: .point) == value)
        #expect(JSON(value.json.text).flatMap { TweakValue($0, as: .point) } == value)
    }

    @Test func eachNumberHasItsRangeAndIsFinite() throws {
        let tweak = try offset()
        for (x, y) in [(10, 201), (.nan, 0), (0, .infinity)] as [(Double, Double)] {
            #expect(throws: TweakError.self) { try tweak.set(TweakPoint(x: x, y: y)) }
        }
        let error = refusal { try tweak.set(TweakPoint(x: 10, y: 201)) }
        #expect(error?.code == .outOfRange && error?.message == "Label/Text/Offset: 201 is outside 0...200")
        #expect(tweak.value == TweakPoint(x: 12, y: 40))
        tweak.value = TweakPoint(x: -5, y: 300)
        #expect(tweak.value == TweakPoint(x: 0, y: 200))
        #expect(tweak.erased.lowerBound == .point(.zero) && tweak.erased.upperBound?.text == "320,200")
        #expect(tweak.erased.node.definition.summary == "point 0...320,0...200 px")
    }

    @Test func stepsStartAtTheLowerBounds() throws {
        let outcome = try offset(policy: .snap, step: 4).set(TweakPoint(x: 13, y: 40))
        #expect(outcome.new == .point(TweakPoint(x: 12, y: 40)))
        #expect(outcome.adjustment == .snapped(from: .point(TweakPoint(x: 13, y: 40))))
    }

    @Test func implicitMembersAreDeclared() throws {
        let zero = Tweak("A", "B", "Zero", .zero, in: .init(x: 0...9, y: 0...9), registry: registry)
        #expect(zero.value == .zero && zero.erased.kind == .point)
        let value = tweakValue("A", "B", "Called", .init(x: 1, y: 2), in: .init(x: 0...9, y: 0...9), registry: registry)
        #expect(value == TweakPoint(x: 1, y: 2))
        #expect(try registry.register("A", "B", "Made", .init(x: 1, y: 2), in: .init(x: 0..., y: 0...)).value == value)
        @Tweak("A", "B", "Wrapped", in: .init(x: 0...9, y: 0...9), registry: registry) var wrapped: TweakPoint = .zero
        #expect(wrapped == .zero)
    }

    @Test func propertiesCallSitesAndPointsWithoutRangesAreDeclared() throws {
        let point = TweakPoint(x: 1, y: 2)
        @Tweak("A", "B", "Wrapped", in: .init(x: 0...1, y: 0...), registry: registry) var wrapped = point
        #expect(wrapped == point)
        #expect(tweakValue("A", "B", "Called", point, in: .init(x: 0...1, y: 0...2), registry: registry) == point)
        let free = Tweak("A", "B", "Free", TweakPoint.zero, registry: registry)
        free.value = TweakPoint(x: -1e9, y: 1e9)
        #expect(free.value == TweakPoint(x: -1e9, y: 1e9))
        #expect(!TweakPointRange(x: 0...1, y: 0...1).contains(free.value))
    }
}
