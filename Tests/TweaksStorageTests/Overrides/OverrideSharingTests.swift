// Tests shared writes, proposals, and closing during a write.

import Dispatch
import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct OverrideSharingTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()
    private let reached = Gate()
    private let goOn = Gate()

    init() throws { home = try TemporaryDirectory() }

    /// Makes the next flush of a file wait for the gate.
    private func holdNextWrite() {
        files.plan { [reached, goOn] call in
            call.kind == .sync && call.numberOfKind == 1 ? .waits(reached: reached, goOn: goOn) : nil
        }
    }

    @Test func changesDuringAWriteShareTheNextOne() throws {
        let run = ProgramRun(home.file("state"), files: files)
        let size = try run.number("Size")
        run.save(size, 2)
        holdNextWrite()
        defer { goOn.open() }
        size.value = 3
        reached.waitBlocking()
        let answers = Recorder<String?>()
        for number in 1...50 {
            try run.number("N\(number)").value = 2
            run.store.whenAttempted(run.registry.revision) { answers.note($0) }
        }
        goOn.open()
        #expect(run.flush() == nil && run.store.info.writes == 3)
        run.store.close()
        #expect(answers.all == Array(repeating: nil, count: 50))
    }

    @Test func anAnswerComesOnlyWhenTheDiskHasTheValue() throws {
        let run = ProgramRun(home.file("state"), files: files)
        let size = try run.number("Size")
        holdNextWrite()
        defer { goOn.open() }
        size.value = 2
        reached.waitBlocking()
        #expect(run.store.status.answer(for: 1) == .pending)
        goOn.open()
        #expect(run.flush() == nil && run.store.status == SaveStatus(saved: 1, attempted: 1))
    }

    @Test func anObservationEndsWhenItIsReleased() throws {
        let run = ProgramRun(home.file("state"))
        let seen = Recorder<UInt64>()
        var observation: StoreObservation? = run.store.observe { seen.note($0.saved) }
        try run.save("Size", 2)
        #expect(try run.propose([:]) == nil)
        let before = seen.all
        #expect(before.last == 1)
        withExtendedLifetime(observation) {}
        observation = nil
        try run.save("Size", 3)
        #expect(try run.propose([:]) == nil)
        #expect(seen.all == before)
    }

    // MARK: Proposals

    @Test func aProposalIsOnDiskBeforeItTakesEffectAndStaysThere() throws {
        let run = ProgramRun(home.file("state"), isRequired: true)
        #expect(run.store.isRequired)
        let size = try run.number("Size")
        #expect(try run.propose(["Size": 2]) == nil)
        #expect(size.value == 1 && run.text?.contains(#""value": 2"#) == true)
        // Another write keeps it.
        try run.save("Other", 5)
        #expect(run.text?.contains(#""value": 2"#) == true)
        run.save(size, 2)
        #expect(run.text?.contains(#""value": 2"#) == true)
        #expect(try run.propose(["Size": nil]) == nil)
        #expect(run.text?.contains("A/B/Size") == false)
        size.reset()
        run.flush()
        #expect(run.text?.contains("A/B/Size") == false)
    }

    @Test func aWithdrawnProposalGivesWayToTheValueInEffect() throws {
        let run = ProgramRun(home.file("state"))
        try run.number("Size").value = 7
        _ = try run.number("Fresh")
        #expect(try run.propose(["Size": 2, "Fresh": 2]) == nil)
        run.store.withdraw(try run.changes(["Size": 2, "Fresh": 2]))
        #expect(try run.propose([:]) == nil)
        #expect(run.text?.contains(#""value": 7"#) == true && run.text?.contains("Fresh") == false)
    }

    @Test(arguments: [false, true]) func theFirstOfTwoProposalsDoesNotAffectTheSecond(isWithdrawn: Bool) throws {
        let run = ProgramRun(home.file("state"))
        let size = try run.number("Size")
        #expect(try run.propose(["Size": 2]) == nil)
        #expect(try run.propose(["Size": 3]) == nil)
        if isWithdrawn { run.store.withdraw(try run.changes(["Size": 2])) } else { size.value = 2 }
        #expect(try run.propose([:]) == nil)
        #expect(run.text?.contains(#""value": 3"#) == true)
        size.value = 3
        #expect(run.save(size, 4) == nil && run.text?.contains(#""value": 4"#) == true)
    }

    @Test func aRefusedProposalIsDroppedAndEveryProposalOfTheWriteIsAnswered() throws {
        let run = ProgramRun(home.file("state"), files: files, time: ManualClock())
        try run.save("Size", 7)
        holdNextWrite()
        defer { goOn.open() }
        try run.number("Size").value = 8
        reached.waitBlocking()
        let answers = Recorder<String?>()
        for number in [0.0, 1, 2] { run.store.propose(try run.changes(["Size": number])) { answers.note($0) } }
        files.plan { $0.kind == .write ? .fails(ENOSPC) : nil }
        goOn.open()
        for _ in 0..<3 { _ = answers.takeNext() }
        #expect(answers.all == Array(repeating: "No space left on device (writing overrides.json)", count: 3))
        #expect(run.store.info.failures == 1 && run.text?.contains(#""value": 8"#) == true)
        files.plan(nil)
        run.store.close()
        #expect(run.text?.contains(#""value": 8"#) == true)
    }

    // MARK: Closing

    @Test func closingWaitsForTheWriteAndForChangesDuringIt() throws {
        let run = ProgramRun(home.file("state"), files: files)
        let size = try run.number("Size")
        run.save(size, 2)
        holdNextWrite()
        defer { goOn.open() }
        size.value = 3
        reached.waitBlocking()
        size.value = 4
        let isClosed = Gate()
        Thread.detachNewThread {
            run.store.close()
            isClosed.open()
        }
        goOn.open()
        isClosed.waitBlocking()
        #expect(run.text?.contains(#""value": 4"#) == true && run.registry.store == nil)
    }

    @Test func closingTriesOnceAndAnswersEveryWaiter() throws {
        let run = ProgramRun(home.file("state"), files: files, time: ManualClock())
        files.plan { $0.kind == .sync ? .fails(ENOSPC) : nil }
        try run.save("Size", 2)
        try run.number("Size").value = 3
        let answers = Recorder<String?>()
        for revision: UInt64 in [2, 99] { run.store.whenAttempted(revision) { answers.note($0) } }
        run.store.propose([:]) { answers.note($0) }
        run.store.close()
        #expect(answers.all == Array(repeating: "No space left on device (flushing overrides.json)", count: 3))
    }

    @Test func anObserverMayCloseTheStorage() throws {
        let run = ProgramRun(home.file("state"))
        let isClosed = Gate()
        let observation = run.store.observe { _ in
            run.store.close()
            isClosed.open()
        }
        try run.number("Size").value = 2
        isClosed.waitBlocking()
        run.store.close()
        withExtendedLifetime(observation) {}
        #expect(run.text?.contains("A/B/Size") == true)
    }

    @Test func aReleasedStorageWritesTheRestAndEnds() throws {
        let hasEnded = DispatchSemaphore(value: 0)
        var observation: StoreObservation?
        do {
            let registry = TweakRegistry()
            let store = OverrideStore(directory: home.file("state"), program: "test") { _ in }
            store.open(registry)
            observation = store.observe { if $0.attempted == .max { hasEnded.signal() } }
            try registry.register("A", "B", "Size", 1).value = 2
        }
        hasEnded.wait()
        withExtendedLifetime(observation) {}
        let next = ProgramRun(home.file("state"))
        #expect(next.events == [.opened(path: next.file, entries: 1)])
    }

    @Test func withdrawingWhatIsInEffectLeavesLaterProposals() throws {
        let run = ProgramRun(home.file("state"))
        let size = try run.number("Size")
        #expect(try run.propose(["Size": 2]) == nil)
        run.save(size, 2)
        #expect(try run.propose(["Size": 3]) == nil)
        run.store.withdraw(try run.changes(["Size": 2]))
        #expect(try run.propose([:]) == nil)
        #expect(run.text?.contains(#""value": 3"#) == true)
    }
}
