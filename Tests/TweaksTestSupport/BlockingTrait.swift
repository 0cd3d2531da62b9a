// Tests that block on sockets run on threads of their own, so that actions find the threads of Swift's pool free.

import Foundation
import Synchronization
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

/// Lets so many in at once. Without it every test case of every suite would run at the same time.
final class Turnstile: Sendable {
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

/// Lets the tests of a suite block.
package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    fileprivate static let sockets = Turnstile(6)
    /// Each has a tab or two, which are processes.
    fileprivate static let browsers = Turnstile(4)

    fileprivate let turnstile: Turnstile

    /// For each test by itself, not around the suite.
    package var isRecursive: Bool { true }

    /// Runs a test away from the pool, when it is its turn.
    @concurrent package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await turnstile.enter()
        defer { turnstile.leave() }
        try await withTaskExecutorPreference(ThreadExecutor.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// The test waits for sockets with blocking calls.
    package static var blocking: Self { BlockingTrait(turnstile: BlockingTrait.sockets) }

    /// The test waits for browsers with blocking calls. For tests that are ``blocking`` in no other way.
    package static var browsing: Self { BlockingTrait(turnstile: BlockingTrait.browsers) }
}
