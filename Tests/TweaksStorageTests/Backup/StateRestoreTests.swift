// Tests a restore: the old files are kept, an error changes nothing, and a kill leaves the old values or the new ones.

import Foundation
import Testing
import Tweaks
import TweaksBackup
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct StateRestoreTests {
    private let home: TemporaryDirectory
    private let new: [StateFileContent]
    private var path: String { home.file("state") }

    /// Two states of one program: the old one is there, and the new one is in memory.
    init() throws {
        home = try TemporaryDirectory()
        try Self.run(home, "other", 7, preset: "new")
        new = try StateFiles(Folder(home.file("other"))).contents
        try Self.run(home, "state", 3, preset: "old")
        try home.write("panel", to: "state/panel.token")
    }

    private static func run(_ home: TemporaryDirectory, _ name: String, _ value: Double, preset: String) throws {
        let run = ProgramRun(home.file(name), keepsHistory: true)
        try run.save("N", value)
        run.store.close()
        try home.makeFolder("\(name)/presets")
        try home.write("A/B/N = \(value)\n", to: "\(name)/presets/\(preset).conf")
    }

    /// The value and the history that a program reads: `3, 1 commit`.
    private func read() throws -> String {
        let run = ProgramRun(path, keepsHistory: true)
        defer { run.store.close() }
        let number = try run.number("N")
        #expect(run.events.count == 1, "\(run.events)")
        return "\(number.value), \(run.registry.history.map { $0.changes.first?.new?.text ?? "" })"
    }

    private func names() -> [String] { home.names("state").filter { $0 != "lock" } }

    @Test func theNewStateIsReadAndTheOldOneIsKept() throws {
        #expect(try read() == "3.0, [\"3\"]")
        let restore = try StateRestore(path)
        #expect(throws: FileProblem.self) { try StateRestore(path) }
        let kept = try restore.place(new, at: 1_795_253_400_123)
        let ending = ".before-restore-20261121T093000Z"
        #expect(kept == ["history.jsonl", "overrides.json", "presets"].map { $0 + ending })
        withExtendedLifetime(restore) {}
        #expect(Set(names()) == Set(["history.jsonl", "overrides.json", "panel.token", "presets"] + kept))
        #expect(home.names("state/presets") == ["new.conf"] && home.names("state/presets\(ending)") == ["old.conf"])
        #expect(home.read("state/overrides.json\(ending)")?.contains("\"value\": 3") == true)
    }

    @Test func whatTheNewStateReadsIsWhatWasSaved() throws {
        _ = try StateRestore(path).place(new, at: 0)
        #expect(try read() == "7.0, [\"7\"]")
        // Twice at one time, and an archive without any file.
        _ = try StateRestore(path).place([], at: 0)
        #expect(try read() == "1.0, []")
        #expect(names().count { $0.hasPrefix("overrides.json.before-restore-19700101T000000Z") } == 2)
    }

    @Test func anEmptyDirectoryIsFilledAndAMissingOneIsNotMade() throws {
        try home.makeFolder("a")
        #expect(try StateRestore(home.file("a")).place(new, at: 0).isEmpty)
        #expect(Set(home.names("a")) == ["history.jsonl", "lock", "overrides.json", "presets"])
        let problem = #expect(throws: FileProblem.self) { try StateRestore(home.file("b")) }
        #expect(problem?.isMissing == true && !home.names().contains("b"))
    }

    // MARK: The lock

    @Test func theLockNamesThisProcess() throws {
        let restore = try StateRestore(path)
        #expect(home.read("state/lock") == "\(getpid())\n")
        let run = ProgramRun(path)
        #expect(run.store.info.holder == "pid \(getpid())")
        run.store.close()
        withExtendedLifetime(restore) {}
    }

    /// Its owner may have given the name of the lock to another file.
    @Test func aLockWithTwoNamesIsLeftAlone() throws {
        try home.write("mine", to: "other file")
        try FileManager.default.removeItem(atPath: home.file("state/lock"))
        try #require(link(home.file("other file"), home.file("state/lock")) == 0)
        #expect(throws: FileProblem.self) { try StateRestore(path) }
        #expect(home.read("other file") == "mine")
    }

    @Test(.enabled(if: geteuid() == 0, "run it as root")) func rootGivesNewFilesToTheOwnerOfTheDirectory() throws {
        try home.makeFolder("a")
        try #require(chown(home.file("a"), 7_001, 7_002) == 0)
        _ = try StateRestore(home.file("a")).place(new, at: 0)
        _ = try StateRestore(home.file("a")).place(new, at: 0)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: home.file("a"))
        #expect(paths.count == 9)
        for path in paths {
            var info = stat()
            #expect(stat(home.file("a/\(path)"), &info) == 0 && info.st_uid == 7_001 && info.st_gid == 7_002, "\(path)")
        }
    }

    @Test func aDirectoryThatAProcessUsesIsRefused() throws {
        let run = ProgramRun(path)
        let problem = #expect(throws: FileProblem.self) { try StateRestore(path) }
        #expect(problem?.isLocked == true)
        run.store.close()
    }

    // MARK: Faults

    /// The number of calls that replace the files.
    private func calls() throws -> Int {
        let files = FailingFileSystem()
        let restore = try StateRestore(path, fileSystem: files)
        files.plan(nil)
        _ = try restore.place(new, at: 0)
        return files.log.count
    }

    @Test func anErrorOfAnyCallChangesNothing() throws {
        let count = try StateRestoreTests().calls()
        #expect(count > 30)
        var failures = 0
        for number in 1...count {
            let test = try StateRestoreTests()
            let files = FailingFileSystem()
            let restore = try StateRestore(test.path, fileSystem: files)
            let before = try test.home.allBytes()
            files.plan { $0.number == number ? .fails(ENOSPC) : nil }
            // Some errors have no effect, as of removing a file that is not there.
            guard (try? restore.place(test.new, at: 0)) == nil else { continue }
            failures += 1
            #expect(try test.home.allBytes() == before, "call \(number): \(files.log.prefix(number).suffix(1))")
        }
        #expect(failures > 25)
    }

    @Test func whatCannotBeUndoneIsSaid() throws {
        let files = FailingFileSystem()
        let restore = try StateRestore(path, fileSystem: files)
        files.plan { $0.kind == .rename && $0.numberOfKind > 5 ? .fails(EIO) : nil }
        #expect(throws: FileProblem.self) { try restore.place(new, at: 0) }
        #expect(!restore.isUnchanged)
        files.plan(nil)
        #expect(try restore.place(new, at: 0).contains { $0.hasPrefix("overrides.json.before-restore-") })
    }

    /// Between the flushes, a file system may reorder what was renamed.
    @Test func theOrderOfTheRenamesIsFlushed() throws {
        let files = FailingFileSystem()
        let restore = try StateRestore(path, fileSystem: files)
        files.plan(nil)
        _ = try restore.place(new, at: 0)
        let moves = files.log.filter { [.rename, .sync].contains($0.kind) }.map(\.kind)
        #expect(!zip(moves, moves.dropFirst()).contains { $0 == .rename && $1 == .rename }, "\(moves)")
        #expect(moves.count { $0 == .rename } == 9 && moves.last == .sync)
    }

    @Test(arguments: [false, true]) func aKillLeavesTheOldValuesOrTheNewOnes(_ isAfter: Bool) throws {
        let count = try StateRestoreTests().calls()
        var found: Set<String> = []
        for number in 1...count {
            let test = try StateRestoreTests()
            let files = FailingFileSystem()
            var restore: StateRestore? = try StateRestore(test.path, fileSystem: files)
            files.plan(FailingFileSystem.crash(at: number, isAfter: isAfter))
            _ = try? restore?.place(test.new, at: 0)
            restore = nil
            let result = try test.read()
            found.insert(result)
            #expect(["3.0, [\"3\"]", "3.0, []", "7.0, []", "7.0, [\"7\"]"].contains(result), "call \(number)")
            // Another restore completes it.
            _ = try StateRestore(test.path).place(test.new, at: 1_000)
            #expect(try test.read() == "7.0, [\"7\"]")
            #expect(!test.names().contains { $0.hasSuffix(".tmp") }, "\(test.names())")
        }
        #expect(found.count == 4)
    }
}
