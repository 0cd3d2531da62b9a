// Runs observers after a commit, without nesting one in another.

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
