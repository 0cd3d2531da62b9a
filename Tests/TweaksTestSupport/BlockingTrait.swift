// Tests that block on sockets run on threads of their own, so that actions find the threads of Swift's pool free.

import Foundation
package import Testing

/// Runs each job on a thread of its own.
final class ThreadExecutor: TaskExecutor {
    static let shared = ThreadExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        let thread = Thread { job.runSynchronously(on: executor) }
        thread.stackSize = 1 << 20
        thread.start()
    }
}

/// Lets the tests of a suite block.
package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    /// Runs the test, or all tests of the suite, away from the pool.
    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// The test waits for sockets with blocking calls.
    package static var blocking: Self { BlockingTrait() }
}
