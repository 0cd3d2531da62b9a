// Records deliveries to actors that are due and have not run, because the actor or all threads of tasks are busy.

import Synchronization

/// The observers and bindings of a registry that wait for their actors.
package final class ActorDeliveries: Sendable {
    private struct Entry {
        /// Nil for an object that Observation tracks, which removes its entry itself.
        let subscriber: Subscriber?
        var since: Moment
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])
    private let clock: @Sendable () -> ContinuousClock.Instant

    init(clock: @escaping @Sendable () -> ContinuousClock.Instant) { self.clock = clock }

    /// Counts an observer's delivery from now on, unless it has run or is counted already.
    func add(_ subscriber: Subscriber) {
        let now = Moment(clock())
        entries.withLock { entries in
            guard subscriber.beginsWaiting() else { return }
            entries[ObjectIdentifier(subscriber)] = Entry(subscriber: subscriber, since: now)
        }
    }

    /// Updates the entry of an observer that has run: its next change is younger.
    func update(_ subscriber: Subscriber) {
        let now = Moment(clock())
        let key = ObjectIdentifier(subscriber)
        // Released outside the lock: this may be the last reference.
        let ended = entries.withLock { entries -> Entry? in
            if subscriber.endsWaiting() { return entries.removeValue(forKey: key) }
            entries[key]?.since = now
            return nil
        }
        withExtendedLifetime(ended) {}
    }

    /// Counts a delivery of another kind from now on.
    func begin(_ object: AnyObject) {
        let now = Moment(clock())
        entries.withLock { $0[ObjectIdentifier(object)] = Entry(subscriber: nil, since: now) }
    }

    /// Ends counting it.
    func end(_ object: AnyObject) { _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(object)) } }

    /// The number of deliveries, and for how long the oldest one has been due.
    package var report: (count: Int, lag: Duration) {
        let now = Moment(clock())
        return entries.withLock { entries in
            let due = entries.values.filter { $0.subscriber?.isDue ?? true }
            return (due.count, due.map(\.since).min().map { now - $0 } ?? .zero)
        }
    }
}
