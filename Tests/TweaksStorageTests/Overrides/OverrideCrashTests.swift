// Tests that a process that dies before or after any call on files leaves the old or the new file, complete.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct OverrideCrashTests {
    private static let numbers = 1...40

    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Starts a run with two numbers.
    private func start(_ folder: String, _ files: FailingFileSystem) throws -> ProgramRun {
        let run = ProgramRun(home.file(folder), files: files, time: ManualClock())
        _ = try (run.number("X"), run.number("Y"))
        return run
    }

    /// What the next run finds. An incomplete file would cause an event.
    private func found(_ folder: String) throws -> (values: [Double], events: [OverrideStore.Event]) {
        let run = try start(folder, FailingFileSystem())
        let values = try ["X", "Y"].map { try run.number($0).value }
        run.store.close()
        #expect(!home.names(folder).contains { $0.hasSuffix(".tmp") })
        return (values, run.events)
    }

    /// Sets both numbers in one commit and flushes.
    @discardableResult
    private func save(_ run: ProgramRun, _ value: Double) throws -> String? {
        try run.registry.commit(origin: .code) { batch in
            for path in ["A/B/X", "A/B/Y"] { batch.set(path, .number(value)) }
        }
        return run.flush()
    }

    @Test(arguments: numbers, [false, true])
    func aCrashInAWriteLeavesTheOldOrTheNewFile(number: Int, isAfter: Bool) throws {
        let files = FailingFileSystem()
        let run = try start("state", files)
        #expect(try save(run, 2) == nil)
        files.plan(FailingFileSystem.crash(at: number, isAfter: isAfter))
        let failure = try save(run, 3)
        let wasReached = files.isCrashed
        run.store.close()
        let (values, events) = try found("state")
        // Half a write would be a value that was never set, an empty file, or a quarantined file.
        #expect(values == [2, 2] || values == [3, 3])
        if failure == nil { #expect(values == [3, 3]) }
        #expect(events == [.opened(path: run.file, entries: 2)])
        if !wasReached { #expect(failure == nil) }
    }

    @Test func theCrashPointsCoverEveryCallOfAWrite() throws {
        let files = FailingFileSystem()
        let run = ProgramRun(home.file("state"), files: files)
        try run.save("X", 2)
        files.plan(nil)
        try run.save("X", 3)
        let calls: [FailingFileSystem.Kind] = [
            .infoOfPath, .infoOfName, .infoOfName, .open, .write, .sync, .info, .rename, .sync,
        ]
        #expect(files.log.map(\.kind) == calls && calls.count < Self.numbers.upperBound)
    }

    @Test(arguments: numbers, [false, true])
    func aCrashInTheFirstWriteLeavesNoFileOrACompleteOne(number: Int, isAfter: Bool) throws {
        let files = FailingFileSystem()
        files.plan(FailingFileSystem.crash(at: number, isAfter: isAfter))
        let run = try start("state/deep", files)
        let failure = try save(run, 3)
        run.store.close()
        let (values, events) = try found("state/deep")
        #expect(values == [1, 1] || values == [3, 3])
        if failure == nil { #expect(values == [3, 3]) }
        #expect(events.count == 1)
    }

    @Test(arguments: numbers, [false, true])
    func aCrashDuringQuarantineKeepsTheBrokenFile(number: Int, isAfter: Bool) throws {
        try home.makeFolder("state")
        try home.write("evidence", to: "state/overrides.json")
        let files = FailingFileSystem()
        files.plan(FailingFileSystem.crash(at: number, isAfter: isAfter))
        let run = try start("state", files)
        try save(run, 3)
        run.store.close()
        _ = try found("state")
        #expect(home.names("state").count { home.read("state/\($0)") == "evidence" } == 1)
    }
}
