// Tests that the changes of a drag share one write, at its end or after ten seconds.

import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct OverrideCoalescingTests {
    private let home: TemporaryDirectory
    private let time = ManualClock()
    private let run: ProgramRun
    private let size: Tweak<Double>
    private let other: Tweak<Double>

    init() throws {
        home = try TemporaryDirectory()
        run = ProgramRun(home.file("state"), time: time)
        (size, other) = (try run.number("Size"), try run.number("Other"))
    }

    /// One step of a drag.
    private func drag(_ value: Double) throws {
        var batch = TweakBatch()
        batch.set("A/B/Size", .number(value))
        try run.registry.commit(batch, origin: .user(1000), isUrgent: false, delivery: .caller)
    }

    private var isPending: Bool { run.text?.contains("Size") != true }

    @Test func aDragIsOneWriteAtItsEnd() throws {
        for value in 2...60 { try drag(Double(value)) }
        time.waitUntilAsleep(for: .seconds(10))
        #expect(run.store.info.writes == 0 && run.store.info.state == "waiting: a drag has not ended")
        #expect(run.save(size, 61) == nil)
        #expect(run.store.info.writes == 1 && run.store.info.state == "saved")
        #expect(run.text?.contains("\"value\": 61") == true)
    }

    @Test func aDragWithoutAnEndIsWrittenTenSecondsAfterItsBeginning() throws {
        try drag(2)
        time.waitUntilAsleep(for: .seconds(10))
        time.advance(by: .seconds(9))
        try drag(3)
        time.waitUntilAsleep(for: .seconds(1))
        #expect(isPending)
        time.advance(by: .seconds(1))
        time.waitUntilIdle()
        #expect(run.store.info.writes == 1 && run.text?.contains("\"value\": 3") == true)
        // The next drag has its own ten seconds.
        try drag(4)
        time.waitUntilAsleep(for: .seconds(10))
    }

    @Test func waitingForTheDiskOrAnotherChangeWritesTheDragAtOnce() throws {
        try drag(2)
        #expect(run.flush() == nil && run.store.info.writes == 1)
        try drag(3)
        time.waitUntilAsleep(for: .seconds(10))
        other.value = 2
        time.waitUntilIdle()
        #expect(run.store.info.writes == 2 && run.text?.contains("\"value\": 3") == true)
    }

    @Test func aProposalWritesTheDrag() throws {
        try drag(2)
        #expect(try run.propose(["Other": 7]) == nil)
        #expect(!isPending && run.store.info.writes == 1)
    }

    @Test func closingWritesTheDrag() throws {
        try drag(2)
        run.store.close()
        #expect(!isPending)
    }
}
