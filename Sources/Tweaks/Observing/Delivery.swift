// Runs observers after a commit, without nesting one in another, and counts those that wait for their actors.

import Synchronization

/// Runs the observers of changes from outside the program, on its own threads.
///
/// The registry has no threads; the server, which receives commits from outside, provides the executor.
package protocol ObserverExecutor: Sendable {
    /// Schedules a call of the observer's `turn(on:)` on another thread. A scheduled observer is not added again; a
    /// running one gets another turn afterwards.
    func schedule(_ observer: Subscriber)
}

/// The queue of observers that one thread still has to run.
///
/// Changes made by an observer are delivered after it has returned. This includes all code that runs on its thread
/// meanwhile, such as an immediate task or the run loop of a dialog.
final class Delivery {
    private static let ofThreads = ThreadSlot<Delivery>()

    // Unchecked: only its own thread uses it, and no access to these two is active while other code runs.
    @exclusivity(unchecked) private var isRunning = false
    @exclusivity(unchecked) private var waiting: [Subscriber] = []

    private static var ofThread: Delivery { ofThreads.object { Delivery() } }

    /// Delivers the pending changes of these observers. Inside a running delivery they run after it instead.
    static func deliver(_ subscribers: [Subscriber]) {
        // Observers that only wake a sequence never wait for code of the program.
        for index in subscribers.indices where subscribers[index].context == .anywhere { subscribers[index].deliver() }
        let delivery = ofThread
        if delivery.isRunning {
            delivery.waiting += subscribers
        } else {
            delivery.run(subscribers)
        }
    }

    /// Runs a closure inside the delivery of this thread; observers of its changes run after it has returned.
    static func within(_ body: () -> Void) {
        let delivery = ofThread
        if delivery.isRunning { return body() }
        delivery.isRunning = true
        body()
        delivery.run(delivery.takeWaiting())
    }

    /// Runs a closure and returns the observers of its changes instead of running them.
    static func collecting<Result>(_ body: () -> Result) -> (Result, [Subscriber]) {
        let delivery = ofThread
        if delivery.isRunning { return (body(), []) }
        delivery.isRunning = true
        defer { delivery.isRunning = false }
        return (body(), delivery.takeWaiting())
    }

    private func run(_ first: [Subscriber]) {
        isRunning = true
        var batch = first
        while !batch.isEmpty {
            // Observers on actors first: their hops run in parallel with the observers on this thread.
            for index in batch.indices where batch[index].context == .actor { batch[index].runOnActor() }
            for index in batch.indices where batch[index].context == .thread { batch[index].deliver() }
            batch = takeWaiting()
        }
        isRunning = false
    }

    private func takeWaiting() -> [Subscriber] {
        let batch = waiting
        waiting = []
        return batch
    }
}

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// A thread-local object, created on demand and released when the thread ends.
///
/// A task-local value costs five times as much, and is inherited by tasks that outlive the code which set it.
struct ThreadSlot<Object: AnyObject>: Sendable {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        #if canImport(Darwin)
            let code = pthread_key_create(&key) { Unmanaged<AnyObject>.fromOpaque($0).release() }
        #else
            let code = pthread_key_create(&key) { object in
                if let object { Unmanaged<AnyObject>.fromOpaque(object).release() }
            }
        #endif
        // Fatal, as in the Swift runtime: a process has hundreds of keys, and nothing works without this one.
        if code != 0 { fatalError("Tweaks: no thread-specific key is left in this process (error \(code))") }
        self.key = key
    }

    /// The object of this thread.
    func object(_ make: () -> Object) -> Object {
        if let pointer = pthread_getspecific(key) { return Unmanaged.fromOpaque(pointer).takeUnretainedValue() }
        let object = make()
        pthread_setspecific(key, Unmanaged.passRetained(object).toOpaque())
        return object
    }
}

/// The observers and bindings of a registry that wait for their actors.
package final class ActorDeliveries: Sendable {
    private struct Entry {
        /// Nil for an object that Observation tracks, which removes its entry itself.
        let subscriber: Subscriber?
        var since: Moment
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])
    private let clock: @Sendable () -> Moment

    init(clock: @escaping @Sendable () -> Moment) { self.clock = clock }

    /// Counts an observer's delivery from now on, unless it has run or is counted already.
    func add(_ subscriber: Subscriber) {
        let now = clock()
        entries.withLock { entries in
            guard subscriber.beginsWaiting() else { return }
            entries[ObjectIdentifier(subscriber)] = Entry(subscriber: subscriber, since: now)
        }
    }

    /// Updates the entry of an observer that has run: its next change is younger.
    func update(_ subscriber: Subscriber) {
        let now = clock()
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
        let now = clock()
        entries.withLock { $0[ObjectIdentifier(object)] = Entry(subscriber: nil, since: now) }
    }

    /// Ends counting it.
    func end(_ object: AnyObject) { _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(object)) } }

    /// The number of deliveries, and for how long the oldest one has been due.
    package var report: (count: Int, lag: Duration) {
        let now = clock()
        return entries.withLock { entries in
            let due = entries.values.filter { $0.subscriber?.isDue ?? true }
            return (due.count, due.map(\.since).min().map { now - $0 } ?? .zero)
        }
    }
}
