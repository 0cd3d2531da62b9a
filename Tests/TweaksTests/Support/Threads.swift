// Provides threads and signals for tests, which do not wait for a clock.

import Foundation
import Synchronization

/// A signal that threads wait for; it counts how often it was sent.
// A condition variable, because the thread sanitizer supports it.
final class Signal: Sendable {
    private let condition = NSCondition()
    private let count = Atomic(0)

    func send() {
        condition.lock()
        count.add(1, ordering: .sequentiallyConsistent)
        condition.broadcast()
        condition.unlock()
    }

    /// Blocks the thread; so the sender must be a thread, too, not a task that may need this one.
    func wait(for wanted: Int = 1) {
        condition.lock()
        while count.load(ordering: .sequentiallyConsistent) < wanted { condition.wait() }
        condition.unlock()
    }
}

/// A new thread.
struct TestThread {
    private let ended = Signal()

    init(_ body: @escaping @Sendable () -> Void) {
        let ended = ended
        Thread.detachNewThread {
            body()
            ended.send()
        }
    }

    func join() { ended.wait() }
}

/// Runs the body on several threads at the same time and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    let start = Signal()
    let threads = (0..<count).map { index in
        TestThread {
            start.wait()
            body(index)
        }
    }
    start.send()
    for thread in threads { thread.join() }
}

/// An identifier of the current thread, unique among running threads.
func currentThread() -> UInt {
    #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
    #else
        UInt(pthread_self())
    #endif
}
