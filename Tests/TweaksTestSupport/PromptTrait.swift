// Runs tests ahead of the thousands that wait in line: those that take many turns, or whose clock is a real one.

package import Testing

/// Lets the tests of a suite run at a higher priority. A test that awaits waits for its turn in the pool behind every test
/// that has been started and has not run yet: for minutes at the beginning, while leases end within seconds. Tasks that a
/// test starts have its priority.
package struct PromptTrait: SuiteTrait, TestTrait, TestScoping {
    /// Each runs members of a cluster, which are processes, and some run dozens of followers.
    fileprivate static let clusters = Turnstile(3)

    /// Nil: as many at a time as there are.
    fileprivate let turnstile: Turnstile?

    /// For each test by itself, not around the suite.
    package var isRecursive: Bool { true }

    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await turnstile?.enter()
        defer { turnstile?.leave() }
        try await withoutActuallyEscaping(function) { function in
            try await Task(priority: .high) { try await function() }.value
        }
    }
}

extension Trait where Self == PromptTrait {
    /// The test awaits hundreds of times.
    package static var prompt: Self { PromptTrait(turnstile: nil) }

    /// The test runs servers of a cluster, whose leases and elections take seconds of the real time.
    package static var clustered: Self { PromptTrait(turnstile: PromptTrait.clusters) }
}
