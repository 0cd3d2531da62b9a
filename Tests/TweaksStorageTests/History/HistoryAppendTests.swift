// Lines of the history are appended to a file that stays open: what others do to it meanwhile is seen all the same.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("History on disk: appending", .blocking)
struct HistoryAppendTests {
    private let home: TemporaryDirectory
    private let files = FailingFileSystem()
    private let time = ManualTime()
    private let life: StoredLife

    /// A file with a head and two lines, one of which was appended.
    init() throws {
        home = try TemporaryDirectory()
        life = StoredLife.withHistory(home.file("state"), files: files, time: time)
        _ = try life.number("X")
        for value in [2.0, 3] { try set(value) }
        #expect(life.historyLines.count == 3)
    }

    private func set(_ value: Double) throws {
        // Another session each time: those of one would share an entry.
        try life.set("X", value, by: UInt64(value))
        #expect(life.tried() == nil)
    }

    /// What the next run finds.
    private func entries() throws -> [String] {
        life.store.close()
        let next = StoredLife.withHistory(home.file("state"), time: time)
        _ = try next.number("X")
        #expect(next.events.count == 1)
        return next.registry.entries
    }

    @Test("a set is two names that are looked at for each file, and no file is opened but the new one")
    func calls() throws {
        files.plan(nil)
        try set(4)
        life.store.close()
        #expect(
            files.log.map(\.kind) == [
                .factsOfPath, .factsOfName, .factsOfName, .factsOfName, .write, .open, .write, .sync, .sync, .facts,
                .rename, .sync,
            ])
        #expect(files.log.map(\.name).filter { $0.hasPrefix("history") } == ["history.jsonl"])
    }

    @Test("what is no longer the file that is open, or has grown, is set aside", arguments: [true, false])
    func tampered(isReplaced: Bool) throws {
        let text = try #require(home.read("state/history.jsonl"))
        // Of the same size, it is told by its number.
        if isReplaced {
            try home.write(text, to: "state/copy")
            #expect(rename(home.file("state/copy"), life.historyFile) == 0)
        } else {
            try append("evidence\n")
        }
        try set(4)
        let names = home.names("state").filter { $0.hasPrefix("history.jsonl.unreadable-") }
        #expect(names.map { home.read("state/\($0)") } == [isReplaced ? text : text + "evidence\n"])
        #expect(life.historyLines.count == 4)
        try set(5)
        #expect(life.historyLines.count == 5)
        #expect(try entries().count == 4)
    }

    private func append(_ text: String) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: life.historyFile))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    @Test("one that was removed, or moved away with its directory, is written anew", arguments: [true, false])
    func gone(isRemoved: Bool) throws {
        if isRemoved {
            try FileManager.default.removeItem(atPath: life.historyFile)
        } else {
            try FileManager.default.moveItem(atPath: life.directory, toPath: home.file("away"))
        }
        try set(4)
        #expect(life.historyLines.count == 4)
        if !isRemoved { #expect(home.read("away/history.jsonl")?.split(separator: "\n").count == 3) }
        #expect(try entries().count == 3)
    }

    @Test("one that was given away is not appended to")
    func foreign() throws {
        if chown(life.historyFile, 12_345, 12_345) != 0 { try Test.cancel("only root can give a file away") }
        let before = life.historyLines
        try set(4)
        #expect(life.historyLines == before)
        #expect(life.store.facts.history.state.contains("belongs to uid 12345"))
    }

    @Test("lines that the disk refuses are written with the next attempt, and the values are not held up")
    func refused() throws {
        files.plan { $0.kind == .sync && $0.numberOfKind == 1 ? .fails(EIO) : nil }
        try set(4)
        #expect(life.store.facts.history.state == "unsaved: Input/output error (flushing history.jsonl)")
        files.plan(nil)
        time.waitUntilAsleep(for: .milliseconds(100))
        time.advance(by: .milliseconds(100))
        time.waitUntilIdle()
        #expect(life.store.facts.history.state == "saved")
        #expect(life.historyLines.count == 4)
        life.store.close()
        #expect(life.events.count == 3 && life.events[2] == .historyRecovered(path: life.historyFile))
    }

    @Test("the disk has them, too, where the overrides cannot be written")
    func alone() throws {
        files.plan { $0.kind == .open && $0.name.hasPrefix("overrides.json") ? .fails(ENOSPC) : nil }
        try life.set("X", 4, by: 4)
        #expect(life.tried() != nil)
        #expect(life.historyLines.count == 4)
        #expect(files.log.count { $0.kind == .sync } == 1)
    }
}
