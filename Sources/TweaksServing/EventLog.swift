// Hands events to the program's handler, one at a time, and waits for none.

import TweaksInterface
import Dispatch
import Synchronization
import Tweaks

/// A queue of events that a slow handler cannot fill without end.
final class EventLog: Sendable {
    private struct State {
        var waiting: [TweakDaemonEvent] = []
        var dropped = 0
        var isScheduled = false
    }

    /// Where there are more the handler has stopped, and a log that is not written is not read.
    private static let limit = 1_000
    /// How long a start or an end waits for a handler that does not come back, as on a pipe that is not read.
    private static let patience = DispatchTimeInterval.seconds(5)
    private static let isHandling = DispatchSpecificKey<Bool>()

    private let queue = DispatchQueue(label: "tweaks.events")
    private let state = Mutex(State())
    private let handler: @Sendable (TweakDaemonEvent) -> Void
    /// Whether the handler would make nothing of a commit by this origin, at this moment, of so many values.
    let isLeftOut: @Sendable (TweakOrigin, Moment, Int) -> Bool

    init(
        isLeftOut: @escaping @Sendable (TweakOrigin, Moment, Int) -> Bool = { _, _, _ in false },
        _ handler: @escaping @Sendable (TweakDaemonEvent) -> Void
    ) {
        (self.handler, self.isLeftOut) = (handler, isLeftOut)
        queue.setSpecific(key: Self.isHandling, value: true)
    }

    /// Writes to standard error.
    convenience init(linesOf name: String) {
        let log = StandardLog(name)
        self.init(isLeftOut: { log.isLeftOut($0, $1, $2) }, { log.write($0) })
    }

    /// Hands an event over, soon.
    func post(_ event: TweakDaemonEvent) {
        let mustSchedule = state.withLock { state in
            if state.waiting.count >= Self.limit {
                state.dropped += 1
            } else {
                state.waiting.append(event)
            }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.drain() } }
    }

    /// Returns when all events so far were handled, or the handler seems to be stuck; at once inside the handler.
    func flush() {
        if DispatchQueue.getSpecific(key: Self.isHandling) == true { return }
        let isDone = DispatchSemaphore(value: 0)
        queue.async {
            self.drain()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + Self.patience)
    }

    private func drain() {
        while true {
            let (events, dropped) = state.withLock { state in
                defer { state = State(isScheduled: !state.waiting.isEmpty) }
                return (state.waiting, state.dropped)
            }
            if events.isEmpty { return }
            for event in events { handler(event) }
            if dropped > 0 { handler(.warning("\(dropped) events were not logged: the log is too slow")) }
        }
    }
}
