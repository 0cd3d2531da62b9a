// What of the history survives a restart, and what becomes of a file that is not as it should be.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite("History on disk", .blocking)
struct HistoryFileTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// A run with two numbers.
    private func life(
        _ files: any FileSystem = PosixFileSystem(), time: any StorageTime = SystemTime()
    ) throws -> StoredLife {
        let life = StoredLife.withHistory(home.file("state"), files: files, time: time)
        _ = try (life.number("X"), life.number("Y"))
        return life
    }

    /// Three commits and an undo.
    private func first() throws {
        let life = try life()
        try life.set("X", 2, by: 1)
        try life.set("Y", 3, by: 2)
        try life.set("X", 4, by: 1)
        try life.registry.undo(origin: .user(1000))
        life.store.close()
    }

    private let entries = [
        "4 uid 1000 undid 3: X 4→2", "3 session 1 undone: X 2→4", "2 session 2: Y 1→3", "1 session 1: X 1→2",
    ]

    @Test("where the overrides were lost, revisions go on from the history; a number from nowhere does not count")
    func overridesLost() throws {
        try first()
        try FileManager.default.removeItem(atPath: home.file("state/overrides.json"))
        let second = try life()
        #expect(second.registry.revision == 4)
        try second.set("Y", 7)
        #expect(second.registry.entries.first == "5 session 1: Y 1→7")
        second.store.close()
        let history = try #require(home.read("state/history.jsonl"))
        let last = try #require(history.split(separator: "\n").last)
        let hostile = last.replacing("\"revision\":5", with: "\"revision\":\(Int64.max)").replacing(
            "\"n\":", with: "\"n\":9")
        try home.write(history + hostile + "\n", to: "state/history.jsonl")
        let third = try life()
        #expect(third.registry.revision == 5)
        third.store.close()
    }

    @Test("force leaves out what does not fit any more")
    func unfit() throws {
        let first = try life()
        try first.set("X", 2, by: 1)
        try first.set("X", 3, by: 2)
        first.store.close()
        let second = StoredLife.withHistory(home.file("state"))
        let flag = try second.registry.register("A", "B", "X", false)
        #expect(throws: TweakError.self) { try second.registry.undo() }
        #expect(try second.registry.undo(force: true).entry.revision == 2)
        #expect(try second.registry.undo(force: true).entry.revision == 1)
        #expect(!flag.value)
        second.store.close()
    }

    @Test("the wall clock is set while the program runs: what is undone later ends when it should")
    func clockSetMeanwhile() throws {
        let time = ManualTime()
        let first = try life(time: time)
        var batch = TweakBatch()
        batch.set("A/B/X", .number(3), for: .seconds(600))
        try first.registry.commit(batch, origin: .user(1000), delivery: .caller)
        try first.set("X", nil)
        // By the clock of before: nothing is new when the storage closes.
        first.tried()
        time.jump(by: 3_600_000)
        first.store.close()
        let second = try life(time: time)
        try second.registry.undo()
        let size = try second.number("X")
        #expect(size.value == 3 && size.timeLeft == .seconds(600))
        second.store.close()
    }

    @Test("what earlier runs have committed keeps its time, whatever clock a later one begins with")
    func clockSetAfterLoading() throws {
        let time = ManualTime()
        let first = try life(time: time)
        try first.set("X", 2)
        first.store.close()
        let before = first.historyLines
        // Started three days behind, and told the time later.
        time.jump(by: -3 * 86_400_000)
        let second = try life(time: time)
        time.jump(by: 3 * 86_400_000)
        try second.set("Y", 3)
        second.store.close()
        #expect(second.historyLines.count == 3 && Array(second.historyLines.prefix(2)) == before)
        #expect(second.historyLines.last?.contains("\"time\":\"2026-11-21T09:30:00.123Z\"") == true)
    }

    @Test("a temporary override of an earlier run can be undone, whatever clock a later one begins with")
    func clockSetAfterLoadingATemporaryOne() throws {
        let time = ManualTime()
        let first = try life(time: time)
        var batch = TweakBatch()
        batch.set("A/B/X", .number(3), for: .seconds(7_200))
        try first.registry.commit(batch, origin: .user(1000), delivery: .caller)
        first.store.close()
        time.jump(by: -3 * 3_600_000)
        let second = try life(time: time)
        time.jump(by: 3 * 3_600_000)
        second.store.close()
        let third = try life(time: time)
        let number = try third.number("X")
        #expect(number.value == 3)
        try third.registry.undo()
        #expect(number.value == 1)
        third.store.close()
    }

    @Test("years that no clock shows do no harm")
    func anyYear() throws {
        try first()
        let path = home.file("state/history.jsonl")
        let line = """
            {"n":9,"revision":4,"time":"0001-01-01T00:00:00Z","by":"uid 0","kind":"change","changes":[{"path":"A/B/X",\
            "kind":"number","old":1,"new":2,"temporaryBefore":{"time":"9999-12-31T23:59:59Z",\
            "expires":"0001-01-01T00:00:00Z","value":2},"temporaryAfter":{"time":"0001-01-01T00:00:00Z",\
            "expires":"9999-12-31T23:59:59Z","value":2}}]}

            """
        try Data((String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self) + line).utf8)
            .write(to: URL(fileURLWithPath: path))
        let second = try life()
        #expect(second.registry.history.count == 5)
        try second.registry.undo(force: true)
        try second.registry.redo(force: true)
        let left = try #require(second.registry["A/B/X"].flatMap { second.registry.timeLeft($0.node) })
        #expect(left <= .seconds(365 * 86_400))
        second.store.close()
    }

    @Test("entries, undo and redo survive, and revisions go on")
    func survival() throws {
        try first()
        let second = try life()
        #expect(second.registry.entries == entries)
        #expect(second.registry.revision == 4)
        #expect(try second.registry.redo().entry.revision == 3)
        #expect(second.registry["A/B/X"]?.value == .number(4))
        second.store.close()
        let third = try life()
        #expect(third.registry.entries.first == "5 code redid 3: X 2→4")
        #expect(try third.registry.undo().entry.origin.description == "session 1")
        #expect(try third.registry.undo().entry.origin.description == "session 2")
        #expect(try third.registry.undo().entry.origin.description == "session 1")
        #expect(third.registry["A/B/X"]?.layers.contains { $0.layer == .override } == false)
        #expect(throws: TweakError.self) { try third.registry.undo() }
        try third.set("Y", 9)
        #expect(throws: TweakError.self) { try third.registry.redo() }
        third.store.close()
        #expect(third.events.count == 1)
    }

    @Test("a commit is in the file before its override is, and nothing is written when nothing happens")
    func writing() throws {
        let files = FailingFileSystem()
        let life = try life(files)
        try life.set("X", 2)
        life.tried()
        #expect(life.historyLines.count == 2)
        #expect(life.historyLines[0] == #"{"format":"tweaks-history","version":1,"program":"test"}"#)
        let calls = files.log
        let history = try #require(calls.lastIndex { $0.name.hasPrefix("history.jsonl") })
        let overrides = try #require(calls.lastIndex { $0.name.hasPrefix("overrides.json") && $0.kind == .open })
        #expect(history < overrides)
        life.store.close()
        // What is closed has nothing to write: neither overrides nor history.
        #expect(files.log.count == calls.count)
        let attributes = try FileManager.default.attributesOfItem(atPath: life.historyFile)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("an entry that grows is one line at its end, or when a client waits")
    func growing() throws {
        let time = ManualTime()
        let life = try life(time: time)
        let drag = { (value: Double) throws in
            var batch = TweakBatch()
            batch.set("A/B/X", .number(value))
            try life.registry.commit(
                batch, origin: TweakOrigin("session 1"), kind: .change(session: 1, gesture: 7), isUrgent: false,
                delivery: .caller)
        }
        for value in 2...9 { try drag(Double(value)) }
        time.waitUntilAsleep(for: .seconds(10))
        #expect(life.historyLines.isEmpty)
        life.tried()
        #expect(life.historyLines.count == 2)
        let head = #"{"n":1,"revision":8,"time":"2026-11-21T09:30:00.123Z","by":"session 1","kind":"change","#
        let part = #""changes":[{"path":"A/B/X","kind":"number","old":1,"new":9,"after":9}]}"#
        #expect(life.historyLines[1] == head + part)
        for value in 10...19 { try drag(Double(value)) }
        time.waitUntilAsleep(for: .seconds(10))
        time.advance(by: .seconds(10))
        time.waitUntilIdle()
        // Of two lines with the same number the later one holds.
        #expect(life.historyLines.count == 3)
        #expect(life.historyLines[2].hasPrefix(#"{"n":1,"revision":18,"#))
        life.store.close()
        #expect(life.historyLines.count == 3)
        #expect(try self.life(time: time).registry.entries == ["18 session 1: X 1→19"])
    }

    @Test("lines above the revision of the overrides have not happened, and what they had taken back stands again")
    func aheadOfOverrides() throws {
        try first()
        let overrides = try Data(contentsOf: URL(fileURLWithPath: home.file("state/overrides.json")))
        let second = try life()
        try second.registry.redo()
        try second.registry.undo()
        try second.registry.undo()
        second.store.close()
        // As after a crash between the two files.
        try overrides.write(to: URL(fileURLWithPath: home.file("state/overrides.json")))
        let third = try life()
        #expect(third.registry.entries == entries && third.registry.revision == 4)
        try third.set("Y", 5)
        third.store.close()
        let lines = third.historyLines
        #expect(try life().registry.entries == ["5 session 1: Y 3→5"] + entries)
        #expect(lines.count == 6)
    }

    @Test("a file torn at any byte of its last line has all the other entries, and is mended")
    func torn() throws {
        try first()
        let whole = try Data(contentsOf: URL(fileURLWithPath: home.file("state/history.jsonl")))
        let lastLine = whole.dropLast().lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        for end in lastLine..<whole.count {
            try whole.prefix(end).write(to: URL(fileURLWithPath: home.file("state/history.jsonl")))
            let life = try life()
            #expect(life.registry.entries.count == 3)
            #expect(life.registry["A/B/X"]?.value == .number(2))
            life.store.close()
            #expect(life.events.count == 1)
        }
        let life = try life()
        try life.set("Y", 8)
        life.store.close()
        #expect(life.historyLines.count == 5)
        #expect(try self.life().registry.entries.count == 4)
    }

    @Test(
        "what cannot be read is set aside and reported, and history begins anew",
        arguments: [
            "evidence\n", "{}\n", "no end", #"{"format":"tweaks-history","version":1}"# + "\nevidence\n",
            #"{"format":"tweaks-history","version":1}"# + "\n"
                + #"{"n":1,"revision":1,"time":"2026-11-21T09:30:00Z","by":"x","kind":"change","changes":[{"path":"A"}]}"#
                + "\n", #"{"format":"tweaks-history","version":0}"# + "\n", "\u{0}\u{0}\n",
            #"{"format":"tweaks-history","version":1}"# + "\n"
                + #"{"n":18446744073709551615,"revision":1,"time":"2026-11-21T09:30:00Z","by":"x","kind":"change","changes":[]}"#
                + "\n",
        ])
    func unreadable(text: String) throws {
        try first()
        try home.write(text, to: "state/history.jsonl")
        let life = try life()
        #expect(life.registry.entries.isEmpty)
        #expect(life.registry["A/B/X"]?.value == .number(2))
        try life.set("X", 7)
        life.store.close()
        let names = home.names("state").filter { $0.hasPrefix("history.jsonl.unreadable-") }
        #expect(names.map { home.read("state/\($0)") } == [text])
        #expect(life.historyLines.count == 2)
        let reported = life.events.compactMap { event in
            if case .historySetAside(_, let name, _) = event { name } else { nil }
        }
        #expect(reported == names && names.count == 1)
    }

    @Test("a newer version is left alone")
    func newerVersion() throws {
        try first()
        let text = #"{"format":"tweaks-history","version":2,"program":"test"}"# + "\nsomething else\n"
        try home.write(text, to: "state/history.jsonl")
        let life = try life()
        try life.set("X", 7)
        #expect(life.tried() == nil)
        life.store.close()
        #expect(home.read("state/history.jsonl") == text)
        #expect(life.store.facts.history.state == "off: history.jsonl was written by a newer version")
        #expect(life.events.count == 2)
    }

    @Test("what somebody else writes into it is set aside, and not lost")
    func changed() throws {
        let life = try life()
        try life.set("X", 2)
        life.tried()
        #expect(life.historyLines.count == 2)
        try home.write("a note of mine\n", to: "state/history.jsonl")
        try life.set("Y", 2)
        life.store.close()
        #expect(life.historyLines.count == 3)
        let names = home.names("state").filter { $0.hasPrefix("history.jsonl.unreadable-") }
        #expect(names.map { home.read("state/\($0)") } == ["a note of mine\n"])
    }

    @Test("a second process with the same directory reads, and never writes")
    func second() throws {
        let first = try life()
        try first.set("X", 2)
        first.store.close()
        let owner = try life()
        let before = owner.historyLines
        let other = try life()
        #expect(other.registry.entries == owner.registry.entries)
        try other.set("X", 3)
        other.store.close()
        #expect(owner.historyLines == before)
        #expect(other.store.facts.history.state.hasPrefix("off: the state directory is used by pid"))
    }

    @Test("a full disk is reported once, and what was not written is written later")
    func full() throws {
        let time = ManualTime()
        let files = FailingFileSystem()
        let life = try life(files, time: time)
        files.plan { $0.kind == .open && $0.name.hasPrefix("history.jsonl") ? .fails(28) : nil }
        try life.set("X", 2)
        // The values are not held up by it.
        #expect(life.tried() == nil)
        // The next attempts.
        time.waitUntilAsleep(for: .milliseconds(100))
        time.advance(by: .milliseconds(100))
        time.waitUntilAsleep(for: .milliseconds(200))
        #expect(life.store.facts.history.state.hasPrefix("unsaved: "))
        files.plan(nil)
        time.advance(by: .milliseconds(200))
        time.waitUntilIdle()
        #expect(life.historyLines.count == 2)
        life.store.close()
        #expect(life.store.facts.history.state == "saved")
        #expect(life.events.count == 3)
        #expect("\(life.events[1])".hasSuffix("make room"))
        #expect(life.events[2] == .historyRecovered(path: life.historyFile))
    }
}
