// Tests that deliveries to a busy actor count from when they are due until they have run.

import Dispatch
import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

@Suite(.blocking) struct ActorDeliveryTests {
    /// An actor on a queue, which a test can block.
    private actor Blockable {
        private let executor = QueueExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        nonisolated var queue: DispatchQueue { executor.queue }
        var size = 0.0

        func observe(_ tweak: Tweak<Double>, _ seen: Gate) -> TweakObservation {
            tweak.observe { [self] change in
                size = change.new
                seen.open()
            }
        }
    }

    private final class QueueExecutor: SerialExecutor {
        let queue = DispatchQueue(label: "test.actor")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let size: Tweak<Double>
    private let actor = Blockable()
    private let gate = DispatchSemaphore(value: 0)

    init() {
        registry = TweakRegistry(now: { [clock] in clock.now })
        size = Tweak("A", "B", "C", 1.0, registry: registry)
    }

    private func block() { actor.queue.async { [gate] in gate.wait() } }

    /// By the program and by a client, whose observers run on the server's threads.
    @Test(arguments: [TweakDelivery.caller, .executor])
    func aBlockedActorIsCounted(_ delivery: TweakDelivery) async throws {
        registry.observerExecutor = Immediate()
        let seen = Gate()
        let observation = await actor.observe(size, seen)
        block()
        defer { gate.signal() }
        try set(2, delivery)
        clock.advance(by: .seconds(5))
        try set(3, delivery)
        #expect(registry.actorDeliveries.report == (1, .seconds(5)))
        gate.signal()
        await seen.wait()
        // Behind the delivery on the queue.
        actor.queue.sync {}
        #expect(registry.actorDeliveries.report == (0, .zero))
        observation.cancel()
    }

    @Test func aCanceledObserverIsNotCounted() async throws {
        let observation = await actor.observe(size, Gate())
        block()
        defer { gate.signal() }
        try set(2, .caller)
        #expect(registry.actorDeliveries.report.count == 1)
        observation.cancel()
        #expect(registry.actorDeliveries.report.count == 0)
    }

    /// The value is the one that the observer last received: nothing is due.
    @Test func aChangeThatCancelsOutIsNotCounted() async throws {
        let observation = await actor.observe(size, Gate())
        block()
        defer { gate.signal() }
        try set(2, .caller)
        try set(1, .caller)
        #expect(registry.actorDeliveries.report == (0, .zero))
        observation.cancel()
    }

    private func set(_ value: Double, _ delivery: TweakDelivery) throws {
        try registry.commit(size.node, .set(.number(value)), origin: .code, delivery: delivery)
    }

    private struct Immediate: ObserverExecutor {
        func schedule(_ observer: Subscriber) { observer.turn(on: self) }
    }
}
