// A gate that tasks and threads wait at until it opens.

package import Dispatch
import Synchronization

/// A gate that stays open once it is opened. Actions wait asynchronously, tests block.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let semaphore = DispatchSemaphore(value: 0)

    /// Creates a closed gate.
    package init() {}

    /// Resumes all waiting tasks and threads.
    package func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
        semaphore.signal()
    }

    /// Suspends the task until the gate opens; ignores cancellation.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Blocks the thread until the gate opens. Never call it on a thread of Swift's pool.
    package func waitBlocking(until deadline: DispatchTime = .distantFuture) {
        if semaphore.wait(timeout: deadline) == .success { semaphore.signal() }
    }
}

extension DispatchTime {
    /// When a test that is still waiting counts as hung.
    package static var testTimeout: DispatchTime { .now() + .milliseconds(Int(TestClient.timeout)) }
}
