// Points: two numbers, each with its range.

import Testing

@testable import Tweaks

@Suite("Point")
struct PointTests {
    private let registry = TweakRegistry()

    private func offset(policy: TweakPolicy = .reject, step: Double? = nil) throws -> Tweak<TweakPoint> {
        try registry.register(
            "Label", "Text", "Offset", TweakPoint(x: 12, y: 40), in: .init(x: 0...320, y: 0...200), step: step,
            unit: "px", policy: policy)
    }

    @Test(
        "is read from two numbers with a comma between them",
        arguments: [
            ("12,40", 12.0, 40.0), ("12, 40", 12, 40), ("[12, 40]", 12, 40), ("0.5,1e2", 0.5, 100), (" 1 , 2 ", 1, 2),
            ("10*2,100/4", 20, 25), ("12,40 px", 12, 40),
        ])
    func read(text: String, x: Double, y: Double) throws {
        let tweak = try offset().erased
        #expect(try tweak.node.read(text, from: .person) == .point(TweakPoint(x: x, y: y)))
    }

    @Test(
        "what is no point is refused, and says how one is written",
        arguments: ["", "12", "12,", ",40", "1,2,3", "a,b", "[12,40", "nan,1"])
    func refused(text: String) throws {
        let tweak = try offset().erased
        let error = try #require(throws: TweakError.self) { try tweak.node.read(text, from: .person) }
        #expect(
            error.code == .badValue && error.message.contains("write two numbers such as 12,40, in 0...320,0...200"))
    }

    @Test(
        "is printed so that it reads back as the same",
        arguments: [(0.0, -0.5), (1e300, 0.1), (72, 9_007_199_254_740_994)])
    func printed(x: Double, y: Double) {
        let value = TweakValue.point(TweakPoint(x: x, y: y))
        #expect(TweakValue(parsing: value.text, as: .point) == value)
        #expect(JSON(value.json.text).flatMap { TweakValue($0, as: .point) } == value)
    }

    @Test("each number has its range")
    func ranges() throws {
        let tweak = try offset()
        let error = try #require(throws: TweakError.self) { try tweak.set(TweakPoint(x: 10, y: 201)) }
        #expect(error.code == .outOfRange && error.message == "Label/Text/Offset: 201 is outside 0...200")
        #expect(tweak.value == TweakPoint(x: 12, y: 40))
        tweak.value = TweakPoint(x: -5, y: 300)
        #expect(tweak.value == TweakPoint(x: 0, y: 200))
        #expect(tweak.erased.lowerBound == .point(.zero) && tweak.erased.upperBound?.text == "320,200")
        #expect(tweak.erased.node.definition.summary == "point 0...320,0...200 px")
    }

    @Test("steps count from the lower bounds")
    func steps() throws {
        let tweak = try offset(policy: .snap, step: 4)
        let outcome = try tweak.set(TweakPoint(x: 13, y: 40))
        #expect(outcome.new == .point(TweakPoint(x: 12, y: 40)))
        #expect(outcome.adjustment == .snapped(from: .point(TweakPoint(x: 13, y: 40))))
    }

    @Test("numbers that are none are refused")
    func notFinite() throws {
        let tweak = try offset()
        for point in [TweakPoint(x: .nan, y: 0), TweakPoint(x: 0, y: .infinity)] {
            #expect(throws: TweakError.self) { try tweak.set(point) }
        }
    }

    @Test("a property, a call site, and one without ranges")
    func forms() throws {
        @Tweak("A", "B", "Wrapped", in: .init(x: 0...1, y: 0...), registry: registry) var wrapped = TweakPoint(
            x: 1, y: 2)
        #expect(wrapped == TweakPoint(x: 1, y: 2))
        let value = tweakValue(
            "A", "B", "Called", TweakPoint(x: 1, y: 2), in: .init(x: 0...1, y: 0...2), registry: registry)
        #expect(value == wrapped)
        let free = Tweak("A", "B", "Free", TweakPoint.zero, registry: registry)
        free.value = TweakPoint(x: -1e9, y: 1e9)
        #expect(free.value == TweakPoint(x: -1e9, y: 1e9))
        #expect(!TweakPointRange(x: 0...1, y: 0...1).contains(free.value))
    }
}
