// A worker carries out every order once, wakes when it has to, and ends in order.

import Foundation
import Synchronization
import Testing
import TweaksTestSupport

@testable import TweaksStorage

@Suite(.blocking) struct WorkerTests {
    /// Tells what its turns were, and does as it is told.
    private struct Job: WorkerJob {
        let turns: Turns
        var nextWake: ContinuousClock.Instant?
        var descriptor: Int32?

        mutating func turn(_ orders: [@Sendable () -> Void], isLast: Bool) {
            for order in orders { order() }
            nextWake = nil
            descriptor = nil
            turns.add(isLast ? "last \(orders.count)" : "\(orders.count)")
        }
    }

    private typealias Orders = Worker<@Sendable () -> Void>

    private final class Turns: Sendable {
        private let all = Mutex<[String]>([])
        private let arrived = DispatchSemaphore(value: 0)

        func add(_ turn: String) {
            all.withLock { $0.append(turn) }
            arrived.signal()
        }

        /// Waits for one more, and says what there were.
        func next() -> [String] {
            #expect(arrived.wait(timeout: .now() + .milliseconds(Int(TestClient.patience))) == .success)
            return seen
        }

        var seen: [String] { all.withLock { $0 } }
    }

    private let turns = Turns()
    private let nothing: @Sendable () -> Void = {}

    @discardableResult
    private func start(
        _ worker: Orders, nextWake: ContinuousClock.Instant? = nil, descriptor: Int32? = nil
    ) -> Bool {
        worker.start(waitsForDescriptors: descriptor != nil) { [turns] in
            Job(turns: turns, nextWake: nextWake, descriptor: descriptor)
        }
    }

    @Test func closingHasOneMoreTurnThatTakesWhatWasPosted() {
        let worker = Orders("worker")
        let (reached, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        #expect(start(worker))
        let isTaken = worker.post {
            reached.signal()
            released.wait()
        }
        #expect(isTaken)
        reached.wait()
        // During the first turn.
        for _ in 1...2 { #expect(worker.post(nothing)) }
        worker.close()
        #expect(worker.isClosing)
        #expect(worker.post(nothing))
        released.signal()
        worker.waitForEnd()
        #expect(turns.seen == ["1", "last 3"])
    }

    /// Many wakes are one turn, when they are let go; an order does not wait, and without a wake there is no turn.
    @Test func turnsCanBeHeld() {
        let worker = Orders("worker")
        #expect(start(worker))
        worker.holdTurns()
        for _ in 1...50 { worker.wake() }
        #expect(worker.post(nothing))
        #expect(turns.next() == ["1"])
        worker.letTurnsGo()
        #expect(turns.next() == ["1", "0"])
        worker.holdTurns()
        worker.letTurnsGo()
        worker.wake()
        #expect(turns.next() == ["1", "0", "0"])
        worker.close()
        worker.waitForEnd()
        #expect(turns.seen == ["1", "0", "0", "last 0"])
    }

    @Test func ordersOutsideOfItsLifeAreRefused() {
        let worker = Orders("worker")
        #expect(!worker.post(nothing))
        #expect(start(worker))
        #expect(!start(worker))
        worker.close()
        worker.waitForEnd()
        #expect(!worker.post(nothing))
        #expect(!start(worker))
        #expect(turns.seen == ["last 0"])
    }

    @Test func oneThatNeverRanEndsAtOnce() {
        let worker = Orders("worker")
        worker.close()
        worker.waitForEnd()
        #expect(!start(worker))
        #expect(turns.seen.isEmpty)
    }

    @Test func itsOwnThreadDoesNotWaitForItsEnd() {
        let worker = Orders("worker")
        start(worker)
        let isTaken = worker.post {
            worker.close()
            worker.waitForEnd()
        }
        #expect(isTaken)
        worker.waitForEnd()
        #expect(turns.seen == ["1", "last 0"])
    }

    @Test func aDeadlineWakesIt() {
        let time = ManualTime()
        let worker = Orders("worker", time: time)
        let deadline = time.now + .seconds(5)
        start(worker, nextWake: deadline)
        time.waitUntilAsleep(for: .seconds(5))
        #expect(turns.seen.isEmpty)
        time.advance(by: .seconds(5))
        #expect(turns.next() == ["0"])
        time.waitUntilIdle()
        worker.close()
        worker.waitForEnd()
    }

    @Test func aDescriptorWakesItAsOrdersDo() throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        let worker = Orders("worker")
        start(worker, descriptor: descriptor)
        #expect(worker.canWaitForDescriptors)
        try pipe.fileHandleForWriting.write(contentsOf: Data([1]))
        #expect(turns.next() == ["0"])
        #expect(worker.post(nothing))
        #expect(turns.next() == ["0", "1"])
        worker.close()
        worker.waitForEnd()
        #expect(!worker.canWaitForDescriptors)
        #expect(turns.seen == ["0", "1", "last 0"])
    }

    /// A ring before the thread can be rung must not be lost, nor keep later ones from waking it.
    @Test func anEarlyRingWakesIt() {
        let worker = Orders("worker")
        worker.wake()
        start(worker, descriptor: -1)
        #expect(turns.next() == ["0"])
        worker.wake()
        #expect(turns.next() == ["0", "0"])
        worker.close()
        worker.waitForEnd()
    }
}
