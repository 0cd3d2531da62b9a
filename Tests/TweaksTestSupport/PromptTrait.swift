// Raises the priority of tests that await often or that depend on real time.

package import Testing

/// Runs the tests of a suite at a higher priority. A test that awaits queues in the pool behind every test that was
/// started and has not run yet: for minutes at the beginning, while leases expire within seconds. Tasks that a test
/// starts inherit its priority.
package struct PromptTrait: SuiteTrait, TestTrait, TestScoping {
    /// Each test runs the members of a cluster, which are processes; some also run dozens of followers.
    static let clusters = ConcurrencyLimit(3)

    /// Nil: no limit.
    fileprivate let limit: ConcurrencyLimit?

    /// Applies to each test, not to the suite as a whole.
    package var isRecursive: Bool { true }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withoutActuallyEscaping(function) { [limit] function in
            try await Task(priority: .high) {
                await limit?.enter()
                defer { limit?.leave() }
                try await function()
            }.value
        }
    }
}

extension Trait where Self == PromptTrait {
    /// The test awaits hundreds of times.
    package static var prompt: Self { PromptTrait(limit: nil) }

    /// The test awaits servers of a cluster, whose leases and elections take seconds of the real time.
    package static var clustered: Self { PromptTrait(limit: PromptTrait.clusters) }
}
