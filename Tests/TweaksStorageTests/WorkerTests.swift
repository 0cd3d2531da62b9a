// Tests that a worker executes every order once, wakes when due, and ends with a last turn.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksStorage

@Suite(.blocking) struct WorkerTests {
    /// Executes the orders and records each turn.
    private struct Job: WorkerJob {
        let turns: Recorder<String>
        var nextWake: Moment?
        var descriptor: Int32?

        mutating func turn(_ orders: [@Sendable () -> Void], isLast: Bool) {
            for order in orders { order() }
            nextWake = nil
            descriptor = nil
            turns.note(isLast ? "last \(orders.count)" : "\(orders.count)")
        }
    }

    private typealias Orders = Worker<@Sendable () -> Void>

    private let worker = Orders("worker")
    private let turns = Recorder<String>()
    private let nothing: @Sendable () -> Void = {}

    /// Waits for another turn; returns all of them.
    private func nextTurns() -> [String] {
        #expect(turns.takeNext() != nil)
        return turns.all
    }

    @discardableResult
    private func start(_ worker: Orders, nextWake: Moment? = nil, descriptor: Int32? = nil) -> Bool {
        worker.start(waitsForDescriptors: descriptor != nil) { [turns] in
            Job(turns: turns, nextWake: nextWake, descriptor: descriptor)
        }
    }

    /// Closes a worker and waits for its end; returns all turns.
    @discardableResult
    private func close(_ worker: Orders) -> [String] {
        worker.close()
        worker.waitForEnd()
        return turns.all
    }

    @Test func closingRunsALastTurnWithThePostedOrders() {
        let (reached, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        #expect(start(worker))
        let isAccepted = worker.post {
            reached.signal()
            released.wait()
        }
        #expect(isAccepted)
        reached.wait()
        // During the first turn.
        for _ in 1...2 { #expect(worker.post(nothing)) }
        worker.close()
        #expect(worker.isClosing && worker.post(nothing))
        released.signal()
        worker.waitForEnd()
        #expect(turns.all == ["1", "last 3"])
    }

    /// Wakes during a pause cause one turn at its end; an order is executed at once.
    @Test func turnsCanBePaused() {
        #expect(start(worker))
        worker.pauseTurns()
        for _ in 1...50 { worker.wake() }
        #expect(worker.post(nothing) && nextTurns() == ["1"])
        worker.resumeTurns()
        #expect(nextTurns() == ["1", "0"])
        worker.pauseTurns()
        worker.resumeTurns()
        worker.wake()
        #expect(nextTurns() == ["1", "0", "0"])
        #expect(close(worker) == ["1", "0", "0", "last 0"])
    }

    @Test func ordersBeforeTheStartAndAfterTheEndAreRefused() {
        #expect(!worker.post(nothing) && start(worker) && !start(worker))
        #expect(close(worker) == ["last 0"])
        #expect(!worker.post(nothing) && !start(worker))
        #expect(turns.all == ["last 0"])
    }

    @Test func aWorkerThatNeverStartedEndsAtOnce() {
        close(worker)
        #expect(!start(worker) && turns.all.isEmpty)
    }

    @Test func closingOnTheWorkersThreadDoesNotWait() {
        start(worker)
        let isAccepted = worker.post {
            worker.close()
            worker.waitForEnd()
        }
        #expect(isAccepted)
        worker.waitForEnd()
        #expect(turns.all == ["1", "last 0"])
    }

    @Test func aDeadlineWakesTheWorker() {
        let time = ManualClock()
        let worker = Orders("worker", time: time)
        start(worker, nextWake: time.now + .seconds(5))
        time.waitUntilAsleep(for: .seconds(5))
        #expect(turns.all.isEmpty)
        time.advance(by: .seconds(5))
        #expect(nextTurns() == ["0"])
        time.waitUntilIdle()
        close(worker)
    }

    @Test func descriptorsAndOrdersWakeTheWorker() throws {
        let pipe = Pipe()
        start(worker, descriptor: pipe.fileHandleForReading.fileDescriptor)
        #expect(worker.canWaitForDescriptors)
        try pipe.fileHandleForWriting.write(contentsOf: Data([1]))
        #expect(nextTurns() == ["0"])
        #expect(worker.post(nothing) && nextTurns() == ["0", "1"])
        #expect(close(worker) == ["0", "1", "last 0"] && !worker.canWaitForDescriptors)
    }

    /// It does not keep later ones from waking the worker either.
    @Test func aWakeBeforeTheStartIsNotLost() {
        worker.wake()
        start(worker, descriptor: -1)
        #expect(nextTurns() == ["0"])
        worker.wake()
        #expect(nextTurns() == ["0", "0"])
        close(worker)
    }
}
