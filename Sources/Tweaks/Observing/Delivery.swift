// Runs observers after a commit: on the caller's thread, or on the one delivery thread.

import Synchronization

/// Carries changes that came from outside to their observers, on one thread of its own.
///
/// The registry has no threads; who brings commits from outside (the server) brings the carrier.
package protocol TweakCarrier: Sendable {
    /// Runs the job soon, after all jobs handed over before.
    func carry(_ job: @escaping @Sendable () -> Void)
}

/// Runs observers so that none runs inside another.
enum Delivery {
    /// The delivery that the current code runs inside of, if any.
    @TaskLocal private static var current: DeliveryRun?

    /// Runs what waits for these observers. Inside a running delivery they are run after it instead.
    static func deliver(_ subscribers: [Subscriber]) {
        if subscribers.isEmpty { return }
        if let current, current.isMine, current.append(subscribers) { return }
        let run = DeliveryRun(subscribers)
        $current.withValue(run) { run.drain() }
    }

    /// Lets a task that runs inline inside a delivery count as part of it.
    static func joined(_ body: () -> Void) {
        guard let current else { return body() }
        $current.withValue(DeliveryRun(joining: current), operation: body)
    }
}

/// The observers that one delivery still has to run.
private final class DeliveryRun: Sendable {
    private let waiting: Mutex<[Subscriber]?>
    private let parent: DeliveryRun?
    // Task-local values are inherited by tasks that an observer starts; those are not inside the delivery.
    private let task: Int?

    init(_ subscribers: [Subscriber]) {
        waiting = Mutex(subscribers)
        parent = nil
        task = Self.currentTask
    }

    init(joining parent: DeliveryRun) {
        waiting = Mutex(nil)
        self.parent = parent
        task = Self.currentTask
    }

    var isMine: Bool { task == Self.currentTask }

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// False when the delivery has ended.
    func append(_ subscribers: [Subscriber]) -> Bool {
        if let parent { return parent.append(subscribers) }
        return waiting.withLock { waiting in
            guard waiting != nil else { return false }
            waiting?.append(contentsOf: subscribers)
            return true
        }
    }

    func drain() {
        while let batch = next() {
            for subscriber in batch { subscriber.deliver() }
        }
    }

    private func next() -> [Subscriber]? {
        waiting.withLock { waiting in
            let batch = waiting ?? []
            waiting = batch.isEmpty ? nil : []
            return batch.isEmpty ? nil : batch
        }
    }
}
