// Something that tasks and threads wait for.

package import Dispatch
import Synchronization

/// Closed until it is opened, then open for ever; waited for by actions (async) and by tests (blocking).
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let semaphore = DispatchSemaphore(value: 0)

    /// A closed one.
    package init() {}

    /// Lets everybody through.
    package func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
        semaphore.signal()
    }

    /// Waits without a thread, deaf to cancellation.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Waits on the thread; only on one that nobody else needs.
    package func waitBlocking(until deadline: DispatchTime = .distantFuture) {
        if semaphore.wait(timeout: deadline) == .success { semaphore.signal() }
    }
}

extension DispatchTime {
    /// So late that a test which waits until then counts as hung.
    package static var patience: DispatchTime { .now() + .milliseconds(Int(TestClient.patience)) }
}
