// Tests required durability: a change refused because the directory was not flushed does not return after a kill.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct OverrideRollbackTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()

    init() throws { home = try TemporaryDirectory() }

    private func start() -> ProgramRun {
        ProgramRun(home.file("state"), isRequired: true, files: files, time: ManualClock())
    }

    /// What the next run finds after this one was killed: without what it would still write.
    private func found(afterKilling run: ProgramRun) throws -> Double {
        files.plan { _ in .crashesBefore }
        run.store.close()
        let next = ProgramRun(home.file("state"))
        defer { next.store.close() }
        #expect(next.events == [.opened(path: next.file, entries: next.store.info.entries)])
        return try next.number("Size").value
    }

    @Test(arguments: [(true, false), (false, false), (true, true)])
    func theOldFileIsRestored(hasValue: Bool, failsEveryTime: Bool) throws {
        let run = start()
        let size = try run.number("Size")
        if hasValue { #expect(run.save(size, 2) == nil) }
        files.plan { call in
            let isDirectoryFlush = failsEveryTime ? call.numberOfKind % 2 == 0 : call.numberOfKind == 2
            return call.kind == .sync && isDirectoryFlush ? .fails(EIO) : nil
        }
        #expect(try run.propose(["Size": 3]) == "Input/output error (flushing the directory)")
        #expect(run.text?.contains(#""value": 3"#) != true)
        #expect(try found(afterKilling: run) == (hasValue ? 2 : 1))
    }

    @Test(arguments: 1...24, [false, true])
    func aCrashDuringRollbackLeavesACompleteFile(number: Int, isAfter: Bool) throws {
        let run = start()
        #expect(try run.save("Size", 2) == nil)
        files.plan { call in
            if call.number == number { return isAfter ? .crashesAfter : .crashesBefore }
            return call.kind == .sync && call.numberOfKind == 2 ? .fails(EIO) : nil
        }
        let failure = try run.propose(["Size": 3])
        let isAnswered = !files.isCrashed
        let value = try found(afterKilling: run)
        #expect(value == 2 || value == 3)
        // The answer comes after the rollback.
        if isAnswered { #expect(failure != nil && value == 2) }
    }

    @Test func aFailedRollbackIsReportedAndRetried() throws {
        let time = ManualClock()
        let run = ProgramRun(home.file("state"), isRequired: true, files: files, time: time)
        #expect(try run.save("Size", 2) == nil)
        files.plan { [.sync, .rename].contains($0.kind) && $0.numberOfKind == 2 ? .fails(EIO) : nil }
        let reason = try run.propose(["Size": 3])
        #expect(reason?.contains("flushing the directory), and the old file cannot be restored: ") == true)
        files.plan(nil)
        time.advance(whenAsleepFor: .milliseconds(100))
        #expect(run.isSavedEventually())
        run.store.close()
        #expect(try found(afterKilling: run) == 2)
    }
}
