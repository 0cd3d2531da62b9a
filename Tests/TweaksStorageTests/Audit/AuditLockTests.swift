// Tests the lock of an audit file: what holds it, how long it is waited for, and what is done where there is none.

import Foundation
import Testing
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct AuditLockTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private var path: String { home.file("audit.log") }

    private func startIdle(
        _ files: FailingFileSystem = FailingFileSystem(), maximumSize: Int = 10_485_760
    ) throws -> AuditedRun {
        let run = try AuditedRun(path, files: files, maximumSize: maximumSize)
        run.time.waitUntilIdle()
        return run
    }

    /// Advances in the steps in which the lock is tried again: 1 ms, 2 ms … 64 ms.
    private func wait(_ run: AuditedRun, tries: Int) {
        for number in 0..<tries { run.time.advance(whenAsleepFor: .milliseconds(1 << min(number, 6))) }
    }

    @Test func aReaderOfTheAuditCannotStopIt() throws {
        let run = try startIdle()
        let reader = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        try #require(reader >= 0 && flock(reader, LOCK_EX | LOCK_NB) == 0)
        try run.setAndWrite(2)
        run.trail.close()
        #expect(home.auditLines("audit.log").count == 1 && run.reported.isEmpty)
        #expect(try home.mode("audit.log.lock") == 0o600 && home.read("audit.log.lock") == "")
    }

    /// A file that is full before, so that the write rotates it.
    @Test(arguments: [EWOULDBLOCK, ENOLCK]) func aRotationWaitsForTheLockOfAnotherProcess(code: Int32) throws {
        let before = #"{"time":"2026-11-20T00:00:00.000Z","by":"\#(String(repeating: "x", count: 1_940))"}"# + "\n"
        try home.write(before, to: "audit.log")
        let files = FailingFileSystem()
        let run = try startIdle(files, maximumSize: 2_000)
        files.plan { $0.kind == .lock ? .fails(code) : nil }
        try run.set(2)
        if code == EWOULDBLOCK {
            wait(run, tries: 20)
            run.time.waitUntilAsleep(for: .milliseconds(64))
            files.plan(nil)
            run.time.advance(by: .milliseconds(64))
        }
        run.trail.close()
        #expect(home.lines("audit.log").count == 1 && home.lines("audit.log.1").count == 1 && run.reported.isEmpty)
    }

    @Test func aLockThatIsHeldForLongIsReportedAndTheLinesAreWrittenAfterIt() throws {
        let run = try startIdle()
        let holder = open(path + ".lock", O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        try #require(holder >= 0 && flock(holder, LOCK_EX | LOCK_NB) == 0)
        try run.set(2)
        // 127 ms in seven steps, then 64 ms each, and a shorter last one.
        wait(run, tries: 7 + 76)
        run.time.advance(whenAsleepFor: .milliseconds(5_000 - 127 - 76 * 64))
        run.time.waitUntilAsleep(for: .milliseconds(100))
        let reason = "another process has locked \(path).lock"
        let remedy = "end that process, which fuser \(path).lock names; the lines are written then"
        #expect(run.reported == ["the audit is not written to \(path): \(reason) for 5s; \(remedy)"])
        #expect(run.trail.info.state == "unwritten: \(reason)")
        flock(holder, LOCK_UN)
        run.advance(by: .milliseconds(100))
        run.trail.close()
        #expect(home.auditLines("audit.log").count == 1 && run.reported.count == 2)
    }

    @Test(arguments: ["removed", "moved"]) func aLockFileThatIsGoneIsMadeAgain(_ what: String) throws {
        let run = try startIdle()
        try run.setAndWrite(2)
        let lock = path + ".lock"
        if what == "moved" {
            try FileManager.default.moveItem(atPath: lock, toPath: lock + ".1")
        } else {
            try FileManager.default.removeItem(atPath: lock)
        }
        try run.setAndWrite(3)
        run.trail.close()
        #expect(home.auditLines("audit.log").count == 2 && home.names().contains("audit.log.lock"))
    }

    /// In a directory in which this user may make no file, or another one has that name.
    @Test(arguments: ["forbidden", "directory", "readable"])
    func whereThereIsNoLockFileTheAuditItselfIsLocked(_ what: String) throws {
        let files = FailingFileSystem()
        switch what {
        case "forbidden":
            files.plan { $0.kind == .open && $0.name == "audit.log.lock" ? .fails(EACCES) : nil }
        case "directory": try home.makeFolder("audit.log.lock")
        default:
            try home.write("", to: "audit.log.lock")
            chmod(path + ".lock", 0o644)
        }
        let run = try startIdle(files)
        let holder = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(holder) }
        try #require(holder >= 0 && flock(holder, LOCK_EX | LOCK_NB) == 0)
        try run.set(2)
        wait(run, tries: 3)
        run.time.waitUntilAsleep(for: .milliseconds(8))
        flock(holder, LOCK_UN)
        run.time.advance(by: .milliseconds(8))
        run.trail.close()
        #expect(home.auditLines("audit.log").count == 1 && run.reported.isEmpty)
    }

    @Test func aLocationThatIsRefusedGetsNoLockFile() throws {
        chmod(home.path, 0o777)
        let run = try AuditedRun(path, isStrict: true)
        run.trail.close()
        #expect(run.reported.count == 1 && home.names().isEmpty)
    }

    /// As by another program, or on a file system whose files have no fixed numbers.
    @Test(arguments: ["audit.log", "audit.log.lock"])
    func aFileThatIsReplacedEachTimeIsAFailure(_ name: String) throws {
        let files = FailingFileSystem()
        let run = try startIdle(files)
        let place = home.file(name)
        files.plan { call in
            guard call.kind == .infoOfName, call.name == name else { return nil }
            try? FileManager.default.removeItem(atPath: place)
            _ = FileManager.default.createFile(atPath: place, contents: nil, attributes: [.posixPermissions: 0o600])
            return nil
        }
        try run.set(2)
        run.time.waitUntilAsleep(for: .milliseconds(100))
        let problem =
            "\(path): it was another file each of 100 times that it was opened; end the program that replaces it"
        let remedy = " or \(path).lock, or name a file on another file system in TWEAKS_AUDIT"
        #expect(run.reported == ["the audit is not written to \(problem)\(remedy)"])
        files.plan(nil)
        run.advance(by: .milliseconds(100))
        run.trail.close()
        #expect(home.auditLines("audit.log").count == 1 && run.reported.count == 2)
    }

    @Test func aLockFileThatIsReplacedEachTimeIsAFailure() throws {
        let files = FailingFileSystem()
        let folder = try Folder(home.path, files)
        let place = home.file("lock")
        files.plan { call in
            if call.kind == .lock { try? FileManager.default.removeItem(atPath: place) }
            return nil
        }
        #expect { try folder.lock("lock") } throws: { ($0 as? FileProblem)?.error?.code == ESTALE }
    }
}
