// Queues events for the program's handler, which receives one at a time and blocks no other thread.

import TweaksInterface
import Dispatch
import Synchronization
import Tweaks

/// A bounded queue of events for a handler that may be slow.
final class EventLog: Sendable {
    private struct State {
        var pending: [TweakDaemonEvent] = []
        var dropped = 0
        var isScheduled = false
    }

    /// Above this the handler has stopped working, and further events are dropped.
    private static let limit = 1_000
    /// How long a start or stop waits for a blocked handler, such as one writing to a pipe that is not read.
    private static let flushTimeout = DispatchTimeInterval.seconds(5)
    private static let isHandling = DispatchSpecificKey<Bool>()

    private let queue = DispatchQueue(label: "tweaks.events")
    private let state = Mutex(State())
    private let handler: @Sendable (TweakDaemonEvent) -> Void
    /// Whether the handler would ignore a commit with this origin, time and number of changes.
    let isLeftOut: @Sendable (TweakOrigin, Moment, Int) -> Bool

    init(
        isLeftOut: @escaping @Sendable (TweakOrigin, Moment, Int) -> Bool = { _, _, _ in false },
        _ handler: @escaping @Sendable (TweakDaemonEvent) -> Void
    ) {
        self.handler = handler
        self.isLeftOut = isLeftOut
        queue.setSpecific(key: Self.isHandling, value: true)
    }

    /// Creates a log that writes to standard error.
    convenience init(linesOf name: String) {
        let log = StandardLog(name)
        self.init(isLeftOut: { log.isLeftOut($0, $1, $2) }, { log.write($0) })
    }

    /// Queues an event. Returns at once.
    func post(_ event: TweakDaemonEvent) {
        let mustSchedule = state.withLock { state in
            if state.pending.count >= Self.limit {
                state.dropped += 1
            } else {
                state.pending.append(event)
            }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.drain() } }
    }

    /// Returns when all events so far are handled, or the handler seems to be stuck; at once if called by the handler.
    func flush() {
        if DispatchQueue.getSpecific(key: Self.isHandling) == true { return }
        let isDone = DispatchSemaphore(value: 0)
        queue.async {
            self.drain()
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + Self.flushTimeout)
    }

    private func drain() {
        while true {
            let (events, dropped) = state.withLock { state in
                defer { state = State(isScheduled: !state.pending.isEmpty) }
                return (state.pending, state.dropped)
            }
            if events.isEmpty { return }
            for event in events { handler(event) }
            if dropped > 0 { handler(.warning("\(dropped) events were not logged: the log is too slow")) }
        }
    }
}
