// Tests that declarations which no value, or any value, could satisfy by mistake are refused with a remedy.

import Testing

@testable import Tweaks

struct EmptyDeclarationTests {
    /// A range whose bounds are given in the wrong order, which Swift's own ranges exclude.
    private struct Reversed: TweakBounds {
        let tweakLowerBound: Int? = 9
        let tweakUpperBound: Int? = 1
    }

    private struct ReversedReals: TweakBounds {
        let tweakLowerBound: Double? = 1
        let tweakUpperBound: Double? = 0.5
    }

    /// Swift's own ranges exclude it, too.
    private struct NotANumber: TweakBounds {
        let tweakLowerBound: Double? = .nan
        let tweakUpperBound: Double? = 1
    }

    private typealias Declaration = @Sendable (TweakRegistry) throws -> Void

    private static let declarations: [(Declaration, String)] = [
        ({ _ = try $0.register("A", "B", "C", "x", choices: []) }, "the list of choices is empty; name at least one"),
        ({ _ = try $0.register("A", "B", "C", 1, choices: []) }, "the list of choices is empty; name at least one"),
        ({ _ = try $0.register("A", "B", "C", ["x"], choices: []) }, "the list of choices is empty; name at least one"),
        ({ _ = try $0.register("A", "B", "C", "x" as String?, choices: []) }, "the list of choices is empty"),
        ({ _ = try $0.register("A", "B", "C", "x", choices: ["x", "x"]) }, "two choices have the same name"),
        ({ _ = try $0.register("A", "B", "C", 5, in: Reversed()) }, "the range is empty; its lower bound"),
        ({ _ = try $0.register("A", "B", "C", 0.7, in: ReversedReals()) }, "the range is empty; its lower bound"),
        ({ _ = try $0.register("A", "B", "C", [1], in: Reversed()) }, "the range is empty; its lower bound"),
        ({ _ = try $0.register("A", "B", "C", 0.5, in: (-Double.infinity)...) }, "bounds must be finite"),
        ({ _ = try $0.register("A", "B", "C", 0.5, in: NotANumber()) }, "bounds must be finite"),
        ({ _ = try $0.register("A", "B", "C", 0.5, in: 0...1, step: 0) }, "a step above 0"),
        ({ _ = try $0.register("A", "B", "C", 0.5, in: 0...1, step: .nan) }, "bounds must be finite, a step above 0"),
        ({ _ = try $0.register("A", "B", "C", 5, in: 0...9, step: -1) }, "a step must be above 0"),
        ({ _ = try $0.register("A", "B", "C", "", maxLength: -1) }, "must not be below 0"),
        ({ _ = try $0.register("A", "B", "C", [1], minLength: -1) }, "must not be below 0"),
        (
            { _ = try $0.register("A", "B", "C", [1], minLength: 3, maxLength: 2) },
            "minLength must not be above maxLength"
        ),
    ]

    @Test(arguments: declarations.indices) func aDeclarationWithoutASensibleValueIsRefused(_ index: Int) throws {
        let (declare, reason) = Self.declarations[index]
        let registry = TweakRegistry()
        let error = try #require(throws: TweakError.self) { try declare(registry) }
        #expect(
            error.code == .usage && error.message.hasPrefix("A/B/C: ") && error.message.contains(reason), "\(error)")
        #expect(registry["A/B/C"] == nil)
    }

    @Test func theEmptyTextMayBeAChoice() throws {
        let registry = TweakRegistry()
        let tweak = try registry.register("A", "B", "C", "", choices: ["", "left"])
        try tweak.set("left")
        try tweak.set("")
        #expect(throws: TweakError.self) { try tweak.set("right") }
    }
}
