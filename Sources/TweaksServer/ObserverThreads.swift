// The threads on which observers of changes from outside run: never an I/O thread.

import Dispatch
import Synchronization
import Tweaks

/// Gives each observer turns of its own on a few threads, so that a slow one delays no other.
///
/// A thread is started when an observer waits and all others are busy, up to ``limit``; at rest there is none. Observers
/// take turns in order, one call each. One that never returns keeps its thread; when all are kept, the rest waits.
final class ObserverThreads: ObserverExecutor {
    /// How many observers may run at once.
    static let limit = 8

    /// What `stats` says.
    struct Report {
        /// How many observers wait or run.
        var observers = 0
        /// Since when the oldest change waits that no observer has done with.
        var lag = Duration.zero
        /// Those that run, and for how long, longest first.
        var running: [(node: TweakNode, time: Duration)] = []
    }

    fileprivate struct Turn {
        let observer: Subscriber
        /// When it was asked for.
        let since: ContinuousClock.Instant
    }

    fileprivate struct Running {
        let turn: Turn
        let start: ContinuousClock.Instant
        /// When another turn was asked for meanwhile.
        var again: ContinuousClock.Instant?
    }

    fileprivate struct State {
        var waiting: [Turn] = []
        /// How many at the front have had their turn.
        var taken = 0
        /// Those that wait, so that none waits twice.
        var known: Set<ObjectIdentifier> = []
        /// By thread.
        var running = [Running?](repeating: nil, count: ObserverThreads.limit)
        var idle = Array((0..<ObserverThreads.limit).reversed())
    }

    // A serial queue each: these get a thread at once, also while others are blocked, and lose it soon.
    private let queues = (0..<limit).map { DispatchQueue(label: "tweaks.observers.\($0)") }
    private let state = Mutex(State())
    private let clock: @Sendable () -> ContinuousClock.Instant

    init(clock: @escaping @Sendable () -> ContinuousClock.Instant) { self.clock = clock }

    func schedule(_ observer: Subscriber) {
        let now = clock()
        let idle = state.withLock { $0.add(observer, at: now) ? $0.idle.popLast() : nil }
        guard let idle else { return }
        queues[idle].async { [self] in
            var next = state.withLock { $0.next(on: idle, at: clock()) }
            while let turn = next {
                turn.observer.turn(on: self)
                // The turn is released after the lock.
                next = state.withLock { $0.next(on: idle, at: clock()) }
            }
        }
    }

    var report: Report {
        let now = clock()
        let (waiting, running) = state.withLock { ($0.waiting[$0.taken...], $0.running.compactMap(\.self)) }
        // Who had to have another turn stands behind changes that came later.
        let oldest = (waiting + running.map(\.turn)).map(\.since).min()
        return Report(
            observers: waiting.count + running.count, lag: oldest.map { now - $0 } ?? .zero,
            running: running.compactMap { one in one.turn.observer.shown.map { ($0, now - one.start) } }
                .sorted { $0.time > $1.time })
    }
}

extension ObserverThreads.State {
    /// False when it waits already, or runs.
    fileprivate mutating func add(_ observer: Subscriber, at now: ContinuousClock.Instant) -> Bool {
        if let place = running.firstIndex(where: { $0?.turn.observer === observer }) {
            if running[place]?.again == nil { running[place]?.again = now }
            return false
        }
        guard known.insert(ObjectIdentifier(observer)).inserted else { return false }
        waiting.append(ObserverThreads.Turn(observer: observer, since: now))
        return true
    }

    /// Ends the turn on a thread and takes the next; nil, and the thread is idle, when none waits.
    fileprivate mutating func next(on thread: Int, at now: ContinuousClock.Instant) -> ObserverThreads.Turn? {
        let last = running[thread]
        running[thread] = nil
        if let last, let again = last.again { _ = add(last.turn.observer, at: again) }
        guard taken < waiting.count else {
            (waiting, taken) = ([], 0)
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
