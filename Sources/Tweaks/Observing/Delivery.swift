// Runs observers after a commit, so that none runs inside another.

import Synchronization

/// Gives observers of changes from outside their turns, on threads of its own.
///
/// The registry has no threads; who brings commits from outside (the server) brings the executor.
package protocol ObserverExecutor: Sendable {
    /// Soon calls `turn(on:)` of the observer, on another thread. An observer that waits already is not added again; one
    /// that is just running has another turn afterwards.
    func schedule(_ observer: Subscriber)
}

/// Runs observers on the thread of the change.
enum Delivery {
    /// The delivery that the current code runs inside of, if any.
    @TaskLocal private static var current: DeliveryRun?

    /// Runs what waits for these observers. Inside a running delivery they are run after it instead.
    static func deliver(_ subscribers: [Subscriber]) {
        // A sequence never waits for a program's code.
        for subscriber in subscribers where subscriber.place == .anywhere { subscriber.deliver() }
        if let current, current.isMine, current.append(subscribers) { return }
        let run = DeliveryRun(subscribers)
        $current.withValue(run) { run.drain() }
    }

    /// Runs a body inside a delivery of its own; inside a running one of the same thread, as a part of that.
    static func within(_ running: DeliveryRun?, _ body: () -> Void) {
        let run = DeliveryRun(inside: running)
        $current.withValue(run) {
            body()
            run.drain()
        }
    }

    /// Runs a body, and returns the observers of what it has changed instead of running them.
    static func collecting<Result>(_ body: () -> Result) -> (Result, [Subscriber]) {
        let run = DeliveryRun()
        let result = $current.withValue(run, operation: body)
        return (result, run.take(andEnd: true))
    }
}

/// The observers that one delivery still has to run.
final class DeliveryRun: Sendable {
    private struct State {
        var waiting: [Subscriber]? = []
        /// The observer that is just offered to its actor.
        var offered: ObjectIdentifier?
    }

    private let state: Mutex<State>
    private let parent: DeliveryRun?
    // Task-local values are inherited by tasks that an observer starts; those are not inside the delivery.
    private let task: UInt?

    init(_ subscribers: [Subscriber] = [], inside parent: DeliveryRun? = nil) {
        state = Mutex(State(waiting: subscribers))
        self.parent = parent
        task = Self.currentTask
    }

    var isMine: Bool { task == Self.currentTask }

    // Unsafe: a task's word is only compared. Its hash would be made anew each time.
    private static var currentTask: UInt? {
        withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: UInt.self) } }
    }

    /// False when the delivery has ended.
    func append(_ subscribers: [Subscriber]) -> Bool {
        if let parent, parent.append(subscribers) { return true }
        return state.withLock { state in
            guard state.waiting != nil else { return false }
            state.waiting?.append(contentsOf: subscribers)
            return true
        }
    }

    func drain() {
        while true {
            let batch = take()
            if batch.isEmpty { return }
            // Those on actors first: where that means a hop, it does not wait for what runs here.
            for subscriber in batch where subscriber.place == .actor { subscriber.offer(in: self) }
            for subscriber in batch where subscriber.place == .thread { subscriber.deliver() }
        }
    }

    /// Takes what waits. The delivery ends when that is nothing, or when it is told to.
    func take(andEnd ends: Bool = false) -> [Subscriber] {
        state.withLock { state in
            let batch = state.waiting ?? []
            state.waiting = ends || batch.isEmpty ? nil : []
            return batch
        }
    }

    /// What runs inside the body on behalf of this observer, is a part of this delivery.
    func offering(_ subscriber: Subscriber, _ body: () -> Void) {
        state.withLock { $0.offered = ObjectIdentifier(subscriber) }
        body()
        state.withLock { $0.offered = nil }
    }

    func isOffering(_ subscriber: Subscriber) -> Bool {
        state.withLock { $0.offered == ObjectIdentifier(subscriber) }
    }
}
