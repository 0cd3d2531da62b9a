// Runs observers of external changes on their own threads, never on the I/O thread.

import Dispatch
import Synchronization
import Tweaks

/// Gives each observer its own turns on a few threads, so that a slow one delays no other.
///
/// A thread starts when an observer waits and all others are busy, up to ``limit``; an idle executor has none.
/// Observers take turns in order, one call each. One that never returns blocks its thread; when all threads are
/// blocked, the others wait.
final class ObserverThreads: ObserverExecutor {
    static let limit = 8

    struct Report {
        var observers = 0
        /// The age of the oldest change that is not delivered.
        var lag = Duration.zero
        /// The running observers and their running times, longest first.
        var running: [(node: TweakNode, time: Duration)] = []
    }

    fileprivate struct Turn {
        let observer: Subscriber
        let since: Moment
    }

    fileprivate struct Running {
        let turn: Turn
        let start: Moment
        /// When another turn was requested meanwhile.
        var again: Moment?
    }

    fileprivate struct State {
        var waiting: [Turn] = []
        /// The number of turns at the front that have started.
        var taken = 0
        /// The waiting observers, so that none waits twice.
        var known: Set<ObjectIdentifier> = []
        var running = [Running?](repeating: nil, count: ObserverThreads.limit)
        var idle = Array((0..<ObserverThreads.limit).reversed())
    }

    // One serial queue each: these get a thread immediately, even while others block, and release it soon.
    private let queues = (0..<limit).map { DispatchQueue(label: "tweaks.observers.\($0)") }
    private let state = Mutex(State())
    private let clock: @Sendable () -> Moment

    init(clock: @escaping @Sendable () -> Moment) { self.clock = clock }

    func schedule(_ observer: Subscriber) {
        let now = clock()
        let idle = state.withLock { $0.add(observer, at: now) ? $0.idle.popLast() : nil }
        guard let idle else { return }
        queues[idle].async { [self] in
            var next = state.withLock { $0.next(on: idle, at: clock()) }
            while let turn = next {
                turn.observer.turn(on: self)
                // The turn is released outside the lock.
                next = state.withLock { $0.next(on: idle, at: clock()) }
            }
        }
    }

    var report: Report {
        let now = clock()
        let (waiting, running) = state.withLock { ($0.waiting[$0.taken...], $0.running.compactMap(\.self)) }
        // An observer that needs another turn is queued behind later changes.
        let oldest = (waiting + running.map(\.turn)).map(\.since).min()
        return Report(
            observers: waiting.count + running.count, lag: oldest.map { now - $0 } ?? .zero,
            running: running.compactMap { one in one.turn.observer.shown.map { ($0, now - one.start) } }
                .sorted { $0.time > $1.time })
    }
}

extension ObserverThreads.State {
    /// Queues an observer. Returns false if it already waits or runs.
    fileprivate mutating func add(_ observer: Subscriber, at now: Moment) -> Bool {
        if let place = running.firstIndex(where: { $0?.turn.observer === observer }) {
            if running[place]?.again == nil { running[place]?.again = now }
            return false
        }
        guard known.insert(ObjectIdentifier(observer)).inserted else { return false }
        waiting.append(ObserverThreads.Turn(observer: observer, since: now))
        return true
    }

    /// Ends the turn of a thread and returns the next; nil if none waits, which makes the thread idle.
    fileprivate mutating func next(on thread: Int, at now: Moment) -> ObserverThreads.Turn? {
        let last = running[thread]
        running[thread] = nil
        if let last, let again = last.again { _ = add(last.turn.observer, at: again) }
        guard taken < waiting.count else {
            waiting = []
            taken = 0
            idle.append(thread)
            return nil
        }
        let turn = waiting[taken]
        taken += 1
        if taken > 64, taken > waiting.count / 2 {
            waiting.removeFirst(taken)
            taken = 0
        }
        known.remove(ObjectIdentifier(turn.observer))
        running[thread] = ObserverThreads.Running(turn: turn, start: now)
        return turn
    }
}
