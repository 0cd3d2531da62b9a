// The one place where observers of changes from outside run: never on an I/O thread.

import Dispatch
import Synchronization
import Tweaks

/// Runs observers one after the other, away from the threads that serve clients.
final class DeliveryQueue: TweakCarrier {
    /// The one of this process: changes of all servers are delivered in one order.
    static let shared = DeliveryQueue()

    private struct State {
        var waiting = 0
        /// When the oldest job that still waits or runs was handed over.
        var since: ContinuousClock.Instant?
    }

    private let queue = DispatchQueue(label: "tweaks.delivery")
    private let state = Mutex(State())

    func carry(_ job: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.waiting += 1
            if state.since == nil { state.since = .now }
        }
        queue.async { [self] in
            job()
            state.withLock { state in
                state.waiting -= 1
                state.since = state.waiting == 0 ? nil : .now
            }
        }
    }

    /// How many observers still wait, and for how long the one at the front has.
    var lag: (observers: Int, time: Duration) {
        state.withLock { ($0.waiting, $0.since.map { .now - $0 } ?? .zero) }
    }
}
