// Tests that of two processes with one state directory the second reads, reports that, and never writes.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct OverrideLockTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    @Test func theSecondStorageReadsAndNeverWrites() throws {
        let first = ProgramRun(home.file("state"))
        try first.save("Size", 2)
        let before = first.text
        let second = ProgramRun(home.file("state"))
        let size = try second.number("Size")
        #expect(size.value == 2)
        let reason = "the state directory is used by pid \(ProcessInfo.processInfo.processIdentifier)"
        #expect(second.save(size, 3) == reason)
        #expect(second.store.status.answer(for: 1) == .unsaved(reason))
        #expect(try second.propose(["Size": 4]) == reason)
        #expect(second.store.info.state == "off: \(reason)")
        first.store.close()
        second.save(size, 5)
        second.store.close()
        #expect(second.text == before && second.events.count == 1)
        #expect("\(second.events[0])".hasSuffix("or give this one its own TWEAKS_STATE_DIR"))
        let third = ProgramRun(home.file("state"))
        #expect(third.events == [.opened(path: third.file, entries: 1)])
    }

    @Test func theLockOfAnotherProcessIsReleasedWhenItIsKilled() throws {
        guard Tool.flock.exists else { try Test.cancel("this machine has no flock") }
        home.withRun { _ in }
        let holder = try RunningProgram(
            Tool.flock.path, ["--no-fork", home.file("state/lock"), "/bin/sh", "-c", "echo held; exec cat"])
        #expect(try holder.line() == "held")
        try home.withRun { run in
            let failure = try run.save("Size", 2)
            #expect(failure?.hasPrefix("the state directory is used by") == true)
        }
        try holder.kill()
        #expect(try ProgramRun(home.file("state")).save("Size", 3) == nil)
    }

    @Test func aDeletedLockIsTakenAgainUnlessAnotherStorageWasFaster() throws {
        let first = ProgramRun(home.file("state"))
        try first.save("Size", 2)
        try FileManager.default.removeItem(atPath: home.file("state/lock"))
        #expect(try first.save("Size", 3) == nil)
        try FileManager.default.removeItem(atPath: home.file("state/lock"))
        let second = ProgramRun(home.file("state"))
        #expect(try second.save("Size", 4) == nil)
        #expect(try first.save("Size", 5)?.hasPrefix("the state directory is used by") == true)
        #expect(second.text?.contains(#""value": 4"#) == true)
    }

    @Test func temporaryFilesOfDeadWritersAreRemoved() throws {
        let first = ProgramRun(home.file("state"))
        for name in ["overrides.json.1.tmp", "overrides.json.999999.tmp", "overrides.json.unreadable-x", "notes.tmp"] {
            try home.write("x", to: "state/\(name)")
        }
        home.withRun { _ in }
        #expect(home.names("state").count == 5)
        first.store.close()
        home.withRun { _ in }
        #expect(home.names("state") == ["lock", "notes.tmp", "overrides.json.unreadable-x"])
    }
}
