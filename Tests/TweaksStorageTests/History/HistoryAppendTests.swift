// Tests that history lines are appended to an open file, and that changes to it by others are noticed.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct HistoryAppendTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()
    private let time = ManualClock()
    private let run: ProgramRun

    /// Writes a file with a head and two lines, one of which was appended.
    init() throws {
        home = try TemporaryDirectory()
        run = ProgramRun(home.file("state"), files: files, keepsHistory: true, time: time)
        _ = try run.number("X")
        for value in [2.0, 3] { try set(value) }
        #expect(run.historyLines.count == 3)
    }

    private func set(_ value: Double) throws {
        // Changes of one session would share an entry.
        try run.set("X", value, by: UInt64(value))
        #expect(run.flush() == nil)
    }

    /// What the next run finds.
    private func entries() throws -> [String] {
        run.store.close()
        let next = ProgramRun(home.file("state"), keepsHistory: true, time: time)
        _ = try next.number("X")
        #expect(next.events.count == 1)
        return next.registry.entries
    }

    @Test func aSetAppendsWithoutOpeningTheHistory() throws {
        files.plan(nil)
        try set(4)
        run.store.close()
        let calls: [FailingFileSystem.Kind] = [
            .infoOfPath, .infoOfName, .infoOfName, .infoOfName, .write, .open, .write, .sync, .sync, .info, .rename,
            .sync,
        ]
        #expect(files.log.map(\.kind) == calls)
        #expect(files.log.map(\.name).filter { $0.hasPrefix("history") } == ["history.jsonl"])
    }

    /// A replacement has the same size and another inode.
    @Test(arguments: ["replaced", "grown", "overwritten"]) func aFileChangedByOthersIsQuarantined(how: String) throws {
        let text = try #require(home.read("state/history.jsonl"))
        let content = ["grown": text + "evidence\n", "overwritten": "a note of mine\n"][how] ?? text
        if how == "replaced" {
            try home.write(text, to: "state/copy")
            #expect(rename(home.file("state/copy"), run.historyFile) == 0)
        } else if how == "grown" {
            let file = try #require(FileHandle(forWritingAtPath: run.historyFile))
            try file.seekToEnd()
            try file.write(contentsOf: Data("evidence\n".utf8))
            try file.close()
        } else {
            try home.write(content, to: "state/history.jsonl")
        }
        try set(4)
        #expect(home.quarantined("history.jsonl") == [content] && run.historyLines.count == 4)
        try set(5)
        #expect(run.historyLines.count == 5)
        #expect(try entries().count == 4)
    }

    @Test(arguments: [true, false]) func aRemovedOrMovedFileIsWrittenAnew(isRemoved: Bool) throws {
        if isRemoved {
            try FileManager.default.removeItem(atPath: run.historyFile)
        } else {
            try FileManager.default.moveItem(atPath: run.directory, toPath: home.file("away"))
        }
        try set(4)
        #expect(run.historyLines.count == 4)
        if !isRemoved { #expect(home.read("away/history.jsonl")?.split(separator: "\n").count == 3) }
        #expect(try entries().count == 3)
    }

    @Test func aFileOfAnotherUserIsNotAppendedTo() throws {
        if chown(run.historyFile, 12_345, 12_345) != 0 { try Test.cancel("only root can give a file away") }
        let before = run.historyLines
        try set(4)
        #expect(run.historyLines == before && run.store.info.history.state.contains("belongs to uid 12345"))
    }

    @Test func refusedLinesAreWrittenWithTheNextAttempt() throws {
        files.plan { $0.kind == .sync && $0.numberOfKind == 1 ? .fails(EIO) : nil }
        try set(4)
        #expect(run.store.info.history.state == "unsaved: Input/output error (flushing history.jsonl)")
        files.plan(nil)
        time.advance(whenAsleepFor: .milliseconds(100))
        time.waitUntilIdle()
        #expect(run.store.info.history.state == "saved" && run.historyLines.count == 4)
        run.store.close()
        #expect(run.events.count == 3 && run.events[2] == .historyRecovered(path: run.historyFile))
    }

    @Test func theHistoryIsSavedThoughTheOverridesCannotBe() throws {
        files.plan { $0.kind == .open && $0.name.hasPrefix("overrides.json") ? .fails(ENOSPC) : nil }
        try run.set("X", 4, by: 4)
        #expect(run.flush() != nil && run.historyLines.count == 4)
        #expect(files.log.count { $0.kind == .sync } == 1)
    }
}
