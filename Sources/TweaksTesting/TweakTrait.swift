// Sets tweaks for the duration of a test, as a trait.

// Re-exported, so that a test file needs one import beside Testing.
@_exported public import Tweaks

public import Testing

/// Sets tweaks for the duration of a test, or of each test of a suite; write it as `.tweak(Look.size, 80)`.
public struct TweakTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate let registry: TweakRegistry
    fileprivate let changes: @Sendable (inout TweakBatch) -> Void

    /// True: the trait applies to each test of a suite, so that tests wait for each other and not for the whole suite.
    public var isRecursive: Bool { true }

    /// Runs a test, or one case of it, with the values.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await withTweaks(of: registry, changes, perform: function)
    }
}

extension Trait where Self == TweakTrait {
    /// Sets a tweak for the duration of the test, then restores its overrides.
    ///
    /// ```swift
    /// @Test(.tweak(Look.size, 80), .tweak(Look.color, .orange)) func growsWithItsText() { … }
    /// ```
    /// Tests with such a trait or with ``withTweak(_:_:_:)-(Tweak<Value>,_,_)`` wait for each other if their tweaks are
    /// in the same registry; other tests run in parallel. A suite's values apply to each of its tests; a test's own
    /// values take precedence. An invalid value fails the test.
    public static func tweak<Value>(_ tweak: Tweak<Value>, _ value: Value) -> TweakTrait {
        tweaks(of: tweak.erased.registry) { $0.set(tweak, value) }
    }

    /// Sets a group for the duration of the test, then restores the overrides of its parts.
    public static func tweak<Template>(_ group: TweakGroup<Template>, _ value: Template) -> TweakTrait {
        tweaks(of: group.parts[0].registry) { $0.set(group, value) }
    }

    /// Changes several tweaks for the duration of the test, in one commit, then restores their overrides.
    ///
    /// ```swift
    /// @Suite(.tweaks { $0.reset(matching: "*") }) struct DefaultLookTests { … }
    /// ```
    public static func tweaks(
        of registry: TweakRegistry = .shared, _ changes: @escaping @Sendable (inout TweakBatch) -> Void
    ) -> TweakTrait {
        TweakTrait(registry: registry, changes: changes)
    }
}
