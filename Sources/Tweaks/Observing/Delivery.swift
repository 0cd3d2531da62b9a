// Runs observers after a commit, so that none runs inside another.

/// Gives observers of changes from outside their turns, on threads of its own.
///
/// The registry has no threads; who brings commits from outside (the server) brings the executor.
package protocol ObserverExecutor: Sendable {
    /// Soon calls `turn(on:)` of the observer, on another thread. An observer that waits already is not added again; one
    /// that is just running has another turn afterwards.
    func schedule(_ observer: Subscriber)
}

/// The delivery of one thread: the observers that it still has to run.
///
/// What an observer sets is delivered when it has returned. That goes for all that runs on its thread meanwhile, be it in
/// a task that starts there at once, or in the run loop of a dialog.
final class Delivery {
    private static let ofThreads = ThreadSlot<Delivery>()

    // Unchecked: no other thread has it, and no access of these two is open while other code runs.
    @exclusivity(unchecked) private var isRunning = false
    @exclusivity(unchecked) private var waiting: [Subscriber] = []

    private static var ofThread: Delivery { ofThreads.object { Delivery() } }

    /// Runs what waits for these observers. Inside a running delivery they are run after it instead.
    static func deliver(_ subscribers: [Subscriber]) {
        // A sequence never waits for a program's code.
        for index in subscribers.indices where subscribers[index].place == .anywhere { subscribers[index].deliver() }
        let delivery = ofThread
        if delivery.isRunning {
            delivery.waiting += subscribers
        } else {
            delivery.run(subscribers)
        }
    }

    /// Runs a body inside the delivery of this thread; observers of what it changes run when it has returned.
    static func within(_ body: () -> Void) {
        let delivery = ofThread
        if delivery.isRunning { return body() }
        delivery.isRunning = true
        body()
        delivery.run(delivery.takeWaiting())
    }

    /// Runs a body, and returns the observers of what it has changed instead of running them.
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
            // Those on actors first: where that means a hop, it does not wait for what runs here.
            for index in batch.indices where batch[index].place == .actor { batch[index].offer() }
            for index in batch.indices where batch[index].place == .thread { batch[index].deliver() }
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
