// Values for the length of a test.

public import Testing
public import Tweaks

/// Gives tweaks values for the length of a test, or of each test of a suite; write it as
/// `.tweak(Look.size, 80)`.
public struct TweakTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate let registry: TweakRegistry
    fileprivate let changes: @Sendable (inout TweakBatch) -> Void

    /// It holds for the tests in a suite one by one, so that they wait for each other and not for the whole suite.
    public var isRecursive: Bool { true }

    /// Runs a test, or one case of it, with the values.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTweaks(of: registry, changes, perform: function)
    }
}

extension Trait where Self == TweakTrait {
    /// Gives a tweak a value for the length of the test, then puts back what was set before.
    ///
    /// ```swift
    /// @Test(.tweak(Look.size, 80), .tweak(Look.color, .orange)) func growsWithItsText() { … }
    /// ```
    /// Tests with such a trait and ``withTweak(_:_:_:)-(Tweak<Value>,_,_)`` wait for each other, as far as their tweaks are
    /// of the same registry; others run beside them. A suite's values hold for each of its tests, and a test's own lie
    /// above them. A value that is refused fails the test.
    public static func tweak<Value>(_ tweak: Tweak<Value>, _ value: Value) -> TweakTrait {
        tweaks(of: tweak.erased.registry) { $0.set(tweak, value) }
    }

    /// Gives a group a value for the length of the test, then puts back what was set of its parts before.
    public static func tweak<Template>(_ group: TweakGroup<Template>, _ value: Template) -> TweakTrait {
        tweaks(of: group.parts[0].registry) { $0.set(group, value) }
    }

    /// Changes several tweaks for the length of the test, in one commit, then puts back what was set of them before.
    ///
    /// ```swift
    /// @Suite(.tweaks { $0.reset("*") }) struct DefaultLookTests { … }
    /// ```
    public static func tweaks(
        of registry: TweakRegistry = .shared, _ changes: @escaping @Sendable (inout TweakBatch) -> Void
    ) -> TweakTrait {
        TweakTrait(registry: registry, changes: changes)
    }
}
