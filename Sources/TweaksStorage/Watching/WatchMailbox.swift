// What other threads have to say to a watcher's thread, and the thread's end, which they wait for.

import Dispatch
import TweaksSystem
import Synchronization

/// Messages to a watcher's thread.
final class WatchMailbox: Sendable {
    private struct State {
        var isStopped = false
        var injected: [[UInt8]] = []
        var thread: SystemThread?
    }

    let alarm = WatchAlarm()
    private let state = Mutex(State())
    private let life = DispatchGroup()

    init() { life.enter() }

    // MARK: From other threads

    /// No more calls start, but for one that is just about to.
    func stop() {
        state.withLock { $0.isStopped = true }
        alarm.ring()
    }

    /// Waits until the thread has let go of everything; not on the thread itself.
    func waitForEnd() {
        let thread = state.withLock { $0.thread }
        if thread == SystemThread.current { return }
        life.wait()
    }

    func inject(_ bytes: [UInt8]) {
        state.withLock { $0.injected.append(bytes) }
        alarm.ring()
    }

    // MARK: From the thread

    func belongsToThisThread() {
        let thread = SystemThread.current
        state.withLock { $0.thread = thread }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    func takeInjected() -> [[UInt8]] {
        state.withLock { state in
            defer { state.injected = [] }
            return state.injected
        }
    }

    /// The thread has nothing more to do.
    func end() {
        alarm.close()
        // Another thread may be given the same identity later.
        state.withLock { $0.thread = nil }
        life.leave()
    }
}
