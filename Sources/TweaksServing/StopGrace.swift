// Ends a process that a signal has asked to stop and that does not end in time.

import Dispatch
import Synchronization
import TweaksSystem

/// The time that a stop may take from now on. A thread of its own measures it, so that it passes even while the main
/// actor, the threads of tasks, or the queues of Dispatch are blocked.
final class StopGrace: Sendable {
    private let signal: Int32
    private let deadline: Mutex<ContinuousClock.Instant>
    private let changes = DispatchSemaphore(value: 0)

    init(_ signal: Int32, _ duration: Duration) {
        self.signal = signal
        deadline = Mutex(.now + duration)
    }

    /// Starts the thread.
    /// - Parameter isOver: Whether the program has ended in time; asked once, at the end.
    func begin(isOver: @escaping @Sendable () -> Bool) {
        SystemThread.start("tweaks.grace") { [self] in
            wait()
            if !isOver() { end() }
            // Later signals need this thread, too.
            while true { pause() }
        }
    }

    /// Begins the time anew.
    func restart(_ duration: Duration) {
        deadline.withLock { $0 = .now + duration }
        changes.signal()
    }

    /// Lets the next signal have its effect, once its disposition is the default.
    func release() { changes.signal() }

    /// Ends the process, also one that was started with the signal ignored.
    private func end() {
        var standard = sigaction()
        sigaction(signal, &standard, nil)
        kill(ThisProcess.id, signal)
    }

    private func wait() {
        while true {
            unblock()
            let left = deadline.withLock { $0 } - .now
            if left <= .zero { return }
            _ = changes.wait(timeout: .now() + .nanoseconds(Int(left / .nanoseconds(1))))
        }
    }

    /// Dispatch blocks a signal in each thread that the signal has interrupted, and in its own: on a busy machine that can
    /// be all threads, and then no signal ends the process any more.
    private func unblock() {
        var stops = sigset_t()
        sigemptyset(&stops)
        for signal in [SIGTERM, SIGINT] { sigaddset(&stops, signal) }
        pthread_sigmask(SIG_UNBLOCK, &stops, nil)
    }
}
