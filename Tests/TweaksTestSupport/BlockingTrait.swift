// Runs tests that block on sockets on separate threads, so that the threads of Swift's pool stay free for actions.

import Foundation
import Synchronization
package import Testing

/// Runs each job on a new thread.
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

/// Limits how many tests run at the same time. Without it every case of every suite would.
final class ConcurrencyLimit: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(free: count)) }

    func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free == 0 {
                    state.waiting.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty { state.free += 1 }
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.resume()
    }
}

/// Allows the tests of a suite to block.
package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    fileprivate static let sockets = ConcurrencyLimit(6)
    /// Each browser test opens one or two tabs, which are processes.
    fileprivate static let browsers = ConcurrencyLimit(4)
    /// These tests take next to no processor time.
    fileprivate static let timers = ConcurrencyLimit(16)

    fileprivate let limit: ConcurrencyLimit

    /// Applies to each test, not to the suite as a whole.
    package var isRecursive: Bool { true }

    /// Runs a test outside the pool as soon as the limit permits. It waits outside the pool, too: a test that has a place
    /// would otherwise queue there behind every test that was started, before it begins and again before it leaves.
    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor.shared) {
            await limit.enter()
            defer { limit.leave() }
            try await function()
        }
    }
}

extension Trait where Self == BlockingTrait {
    /// The test waits for sockets with blocking calls.
    package static var blocking: Self { BlockingTrait(limit: BlockingTrait.sockets) }

    /// The test waits for the end of a program by one of its timers. For tests that are not ``blocking`` otherwise.
    package static var waiting: Self { BlockingTrait(limit: BlockingTrait.timers) }

    /// The test waits for browsers with blocking calls. For tests that are not ``blocking`` otherwise.
    package static var browsing: Self { BlockingTrait(limit: BlockingTrait.browsers) }

    /// The test waits for servers of a cluster with blocking calls. For tests that are not ``blocking`` or `clustered`
    /// otherwise: with two limits a test would hold a place of one while it waits for the other.
    package static var blockingCluster: Self { BlockingTrait(limit: PromptTrait.clusters) }
}
