// Tests that failed writes leave values in effect, are reported and are retried.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct OverrideFailureTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()
    private let time = ManualClock()

    init() throws { home = try TemporaryDirectory() }

    private func start() -> ProgramRun { ProgramRun(home.file("state"), files: files, time: time) }

    @Test(arguments: [
        (FailingFileSystem.Kind.open, ENOSPC, "No space left on device (writing overrides.json)"),
        (.open, EROFS, "Read-only file system (writing overrides.json)"),
        (.open, EACCES, "Permission denied (writing overrides.json)"),
        (.open, EMFILE, "Too many open files (writing overrides.json)"),
        (.write, ENOSPC, "No space left on device (writing overrides.json)"),
        (.write, EDQUOT, "Disk quota exceeded (writing overrides.json)"),
        (.sync, EIO, "Input/output error (flushing overrides.json)"),
        (.info, EIO, "Input/output error (flushing overrides.json)"),
        (.rename, EIO, "Input/output error (replacing overrides.json)"),
    ])
    func aFailedWriteLeavesTheValueAndIsRetried(kind: FailingFileSystem.Kind, code: Int32, reason: String) throws {
        let run = start()
        let size = try run.number("Size")
        files.plan { $0.kind == kind ? .fails(code) : nil }
        #expect(run.save(size, 2) == reason)
        #expect(size.value == 2 && home.names("state") == ["lock"])
        #expect(run.store.info.state == "unsaved: \(reason)")
        files.plan(nil)
        time.advance(whenAsleepFor: .milliseconds(100))
        #expect(run.isSavedEventually() && run.text?.contains("A/B/Size") == true)
        #expect(run.events.count == 3 && run.events.last == .recovered(path: run.file))
        #expect(run.store.info.lastFailure == reason && run.store.info.state == "saved")
    }

    @Test func aFailedDirectoryFlushIsReportedThoughTheFileIsNew() throws {
        let run = start()
        try run.save("X", 2)
        files.plan { $0.kind == .sync && $0.numberOfKind == 2 ? .fails(EIO) : nil }
        #expect(try run.save("X", 3) == "Input/output error (flushing the directory)")
        #expect(run.text?.contains(#""value": 3"#) == true)
        files.plan(nil)
        try run.number("X").value = 4
        time.advance(whenAsleepFor: .milliseconds(20))
        #expect(run.isSavedEventually())
        #expect(home.names("state") == ["lock", "overrides.json"])
    }

    @Test(arguments: [1, 2, 3, 5, 8]) func interruptedCallsAndShortWritesAreContinued(period: Int) throws {
        files.plan { call in
            switch call.kind {
            case .write: .isShort
            case .open, .openDirectory, .sync, .rename, .lock, .read:
                call.number % (period + 1) == 0 ? .fails(EINTR) : nil
            default: nil
            }
        }
        let run = start()
        #expect(try run.save("Size", 2) == nil)
        run.store.close()
        files.plan(nil)
        #expect(try start().number("Size").value == 2)
    }

    @Test func retriesBackOffAndEachReasonIsReportedOnce() throws {
        let run = start()
        files.plan { $0.kind == .sync ? .fails(ENOSPC) : nil }
        try run.save("Size", 2)
        for delay in [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000] {
            time.advance(whenAsleepFor: .milliseconds(delay))
        }
        time.waitUntilAsleep(for: .seconds(30))
        #expect(run.store.info.failures == 12 && run.events.count == 2)
        files.plan { $0.kind == .sync ? .fails(EIO) : nil }
        time.advance(by: .seconds(30))
        time.waitUntilAsleep(for: .seconds(30))
        #expect(run.events.count == 3)
        files.plan(nil)
        time.advance(by: .seconds(30))
        #expect(run.isSavedEventually() && run.events.count == 4)
    }

    @Test func aNewChangeIsTriedSoonWhileWritesFail() throws {
        let run = start()
        let size = try run.number("Size")
        files.plan { $0.kind == .sync ? .fails(ENOSPC) : nil }
        run.save(size, 2)
        time.waitUntilAsleep(for: .milliseconds(100))
        for number in 3...1_000 { size.value = Double(number) }
        time.waitUntilAsleep(for: .milliseconds(20))
        #expect(run.store.info.failures == 1)
        #expect(run.store.status.answer(for: run.registry.revision) == .pending)
        time.advance(by: .milliseconds(20))
        #expect(run.flush() != nil && run.store.info.failures == 2)
        // It has not put off the attempt that was due.
        time.waitUntilAsleep(for: .milliseconds(80))
    }

    @Test(arguments: ["rm -r state", "cp state/overrides.json copy; cat copy > state/overrides.json"])
    func aDeletedDirectoryOrACopyOfOurFileIsReplaced(script: String) throws {
        let run = start()
        try run.save("Size", 2)
        try Shell.run(script, in: home.path)
        #expect(try run.save("Other", 3) == nil)
        #expect(run.text?.contains("A/B/Size") == true && run.text?.contains("A/B/Other") == true)
        #expect(home.names("state") == ["lock", "overrides.json"])
    }

    @Test func aReplacedDirectoryIsUsedAndItsFileIsKept() throws {
        let run = start()
        try run.save("Size", 2)
        try FileManager.default.moveItem(atPath: run.directory, toPath: home.file("away"))
        try home.makeFolder("state")
        try home.write("not ours", to: "state/overrides.json")
        #expect(try run.save("Size", 3) == nil)
        #expect(run.text?.contains(#""value": 3"#) == true)
        #expect(home.read("state/overrides.json.unreadable-20261121T093000Z") == "not ours")
        #expect(home.read("away/overrides.json")?.contains(#""value": 2"#) == true)
    }

    @Test func aFileReplacedByADirectoryOrEditedByHandIsQuarantined() throws {
        let run = start()
        try run.save("Size", 2)
        try FileManager.default.removeItem(atPath: run.file)
        try home.makeFolder("state/overrides.json")
        #expect(try run.save("Size", 3) == nil)
        try home.write("by hand", to: "state/overrides.json")
        #expect(try run.save("Size", 4) == nil)
        #expect(run.text?.contains(#""value": 4"#) == true)
        #expect(home.read("state/overrides.json.unreadable-20261121T093000Z-2") == "by hand")
        #expect(run.store.info.lastQuarantined == "overrides.json.unreadable-20261121T093000Z-2")
    }

    @Test func aFileThatCannotBeReplacedStaysOurs() throws {
        let run = start()
        let size = try run.number("Size")
        #expect(run.save(size, 2) == nil)
        files.plan { $0.kind == .rename ? .fails(EBUSY) : nil }
        run.save(size, 3)
        for delay in [100, 200, 400, 800] { time.advance(whenAsleepFor: .milliseconds(delay)) }
        time.waitUntilAsleep(for: .milliseconds(1_600))
        #expect(run.store.info.state.hasPrefix("unsaved: Device or resource busy"))
        #expect(run.text?.contains(#""value": 2"#) == true)
        files.plan(nil)
        time.advance(by: .milliseconds(1_600))
        #expect(run.isSavedEventually() && run.text?.contains(#""value": 3"#) == true)
        #expect(home.names("state") == ["lock", "overrides.json"])
    }
}
