// Tests what of the history survives a restart, and how damaged files are handled.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct HistoryFileTests {
    private let home: TemporaryDirectory
    private let time = ManualClock()

    init() throws { home = try TemporaryDirectory() }

    /// Starts a run with two numbers.
    private func start(
        _ files: any FileSystem = PosixFileSystem(), time: any StorageTime = SystemTime()
    ) throws -> ProgramRun {
        let run = ProgramRun(home.file("state"), files: files, keepsHistory: true, time: time)
        _ = try (run.number("X"), run.number("Y"))
        return run
    }

    /// Commits three changes and an undo.
    private func writeHistory() throws {
        let run = try start()
        try run.set("X", 2, by: 1)
        try run.set("Y", 3, by: 2)
        try run.set("X", 4, by: 1)
        try run.registry.undo(origin: .user(1000))
        run.store.close()
    }

    private let entries = [
        "4 uid 1000 undid 3: X 4→2", "3 session 1 undone: X 2→4", "2 session 2: Y 1→3", "1 session 1: X 1→2",
    ]

    @Test func revisionsContinueFromTheHistoryIfTheOverridesAreLost() throws {
        try writeHistory()
        try FileManager.default.removeItem(atPath: home.file("state/overrides.json"))
        let second = try start()
        #expect(second.registry.revision == 4)
        try second.set("Y", 7)
        #expect(second.registry.entries.first == "5 session 1: Y 1→7")
        second.store.close()
        // An impossible revision does not count.
        let history = try #require(home.read("state/history.jsonl"))
        let hostile = try #require(history.split(separator: "\n").last)
            .replacing("\"revision\":5", with: "\"revision\":\(Int64.max)").replacing("\"n\":", with: "\"n\":9")
        try home.write(history + hostile + "\n", to: "state/history.jsonl")
        #expect(try start().registry.revision == 5)
    }

    /// So that a page has its own changes after a restart. Files of earlier versions have no windows.
    @Test func theWindowOfAChangeIsKept() throws {
        let first = try start()
        let (one, other) = (TweakOrigin.user(1).inWindow(.max), TweakOrigin.user(1).inWindow(2))
        try first.registry.commit(origin: one) { $0.set("A/B/X", .number(2)) }
        try first.registry.commit(origin: other) { $0.set("A/B/Y", .number(2)) }
        first.store.close()
        #expect(home.read("state/history.jsonl")?.contains(#""by":"uid 1","window":"ffffffffffffffff","#) == true)
        let second = try start()
        #expect(try second.registry.undo(origin: one, mine: true).entry.revision == 1)
        #expect(throws: TweakError.self) { try second.registry.undo(origin: TweakOrigin.user(1), mine: true) }
        second.store.close()
    }

    @Test func forcedUndoSkipsInvalidValues() throws {
        let first = try start()
        for value in [2.0, 3] { try first.set("X", value, by: UInt64(value)) }
        first.store.close()
        let second = ProgramRun(home.file("state"), keepsHistory: true)
        let flag = try second.registry.register("A", "B", "X", false)
        #expect(throws: TweakError.self) { try second.registry.undo() }
        for revision: UInt64 in [2, 1] {
            #expect(try second.registry.undo(force: true).entry.revision == revision)
        }
        #expect(!flag.value)
    }

    @Test func anUndoneOverrideEndsOnTimeThoughTheClockWasSet() throws {
        let first = try start(time: time)
        try first.set("X", 3, for: .seconds(600))
        try first.set("X", nil, by: 2)
        // Everything is saved by the old clock before the storage closes.
        first.flush()
        time.jump(by: 3_600_000)
        first.store.close()
        let second = try start(time: time)
        try second.registry.undo()
        let size = try second.number("X")
        #expect(size.value == 3 && size.timeLeft == .seconds(600))
    }

    /// The second run starts three days behind and gets the time later.
    @Test func earlierEntriesKeepTheirTimeThoughTheClockWasSet() throws {
        let first = try start(time: time)
        try first.set("X", 2)
        first.store.close()
        let before = first.historyLines
        time.jump(by: -3 * 86_400_000)
        let second = try start(time: time)
        time.jump(by: 3 * 86_400_000)
        try second.set("Y", 3)
        second.store.close()
        #expect(second.historyLines.count == 3 && Array(second.historyLines.prefix(2)) == before)
        #expect(second.historyLines.last?.contains("\"time\":\"2026-11-21T09:30:00.123Z\"") == true)
    }

    @Test func aTemporaryOverrideOfAnEarlierRunCanBeUndoneThoughTheClockWasSet() throws {
        let first = try start(time: time)
        try first.set("X", 3, for: .seconds(7_200))
        first.store.close()
        time.jump(by: -3 * 3_600_000)
        let second = try start(time: time)
        time.jump(by: 3 * 3_600_000)
        second.store.close()
        let third = try start(time: time)
        let number = try third.number("X")
        #expect(number.value == 3)
        try third.registry.undo()
        #expect(number.value == 1)
    }

    @Test func extremeYearsAreAccepted() throws {
        try writeHistory()
        let line = """
            {"n":9,"revision":4,"time":"0001-01-01T00:00:00Z","by":"uid 0","kind":"change","changes":[{"path":"A/B/X",\
            "kind":"number","old":1,"new":2,"temporaryBefore":{"time":"9999-12-31T23:59:59Z",\
            "expires":"0001-01-01T00:00:00Z","value":2},"temporaryAfter":{"time":"0001-01-01T00:00:00Z",\
            "expires":"9999-12-31T23:59:59Z","value":2}}]}

            """
        try home.write(try #require(home.read("state/history.jsonl")) + line, to: "state/history.jsonl")
        let second = try start()
        #expect(second.registry.history.count == 5)
        try second.registry.undo(force: true)
        try second.registry.redo(force: true)
        let left = try #require(second.registry["A/B/X"].flatMap { second.registry.timeLeft($0.node) })
        #expect(left <= .seconds(365 * 86_400))
    }

    @Test func entriesUndoAndRedoSurviveARestart() throws {
        try writeHistory()
        let second = try start()
        #expect(second.registry.entries == entries && second.registry.revision == 4)
        #expect(try second.registry.redo().entry.revision == 3)
        #expect(second.registry["A/B/X"]?.value == .number(4))
        second.store.close()
        let third = try start()
        #expect(third.registry.entries.first == "5 code redid 3: X 2→4")
        for session in [1, 2, 1] {
            #expect(try third.registry.undo().entry.origin.description == "session \(session)")
        }
        #expect(third.registry["A/B/X"]?.layers.contains { $0.layer == .override } == false)
        #expect(throws: TweakError.self) { try third.registry.undo() }
        try third.set("Y", 9)
        #expect(throws: TweakError.self) { try third.registry.redo() }
        third.store.close()
        #expect(third.events.count == 1)
    }

    @Test func aCommitIsWrittenBeforeItsOverride() throws {
        let files = FailingFileSystem()
        let run = try start(files)
        try run.set("X", 2)
        run.flush()
        #expect(run.historyLines.count == 2)
        #expect(run.historyLines[0] == #"{"format":"tweaks-history","version":1,"program":"test"}"#)
        let calls = files.log
        let history = try #require(calls.lastIndex { $0.name.hasPrefix("history.jsonl") })
        let overrides = try #require(calls.lastIndex { $0.name.hasPrefix("overrides.json") && $0.kind == .open })
        #expect(history < overrides)
        // Closing writes nothing if nothing is pending.
        run.store.close()
        #expect(files.log.count == calls.count)
        #expect(try home.mode("state/history.jsonl") == 0o600)
    }

    /// It is written at the end of a drag, or when a client waits.
    @Test func aGrowingEntryIsOneLine() throws {
        let run = try start(time: time)
        let drag = { (values: ClosedRange<Int>) throws in
            for value in values {
                var batch = TweakBatch()
                batch.set("A/B/X", .number(Double(value)))
                try run.registry.commit(
                    batch, origin: TweakOrigin("session 1"), kind: .change(session: 1, gesture: 7), isUrgent: false,
                    delivery: .caller)
            }
        }
        try drag(2...9)
        time.waitUntilAsleep(for: .seconds(10))
        #expect(run.historyLines.isEmpty)
        run.flush()
        #expect(run.historyLines.count == 2)
        let head = #"{"n":1,"revision":8,"time":"2026-11-21T09:30:00.123Z","by":"session 1","kind":"change","#
        let part = #""changes":[{"path":"A/B/X","kind":"number","old":1,"new":9,"after":9}]}"#
        #expect(run.historyLines[1] == head + part)
        try drag(10...19)
        time.advance(whenAsleepFor: .seconds(10))
        time.waitUntilIdle()
        // Of two lines with one number the later one counts.
        #expect(run.historyLines.count == 3 && run.historyLines[2].hasPrefix(#"{"n":1,"revision":18,"#))
        run.store.close()
        #expect(run.historyLines.count == 3)
        #expect(try start(time: time).registry.entries == ["18 session 1: X 1→19"])
    }

    /// As after a crash between the two files; what those lines had undone is in effect again.
    @Test func linesAboveTheRevisionOfTheOverridesAreDiscarded() throws {
        try writeHistory()
        let overrides = try #require(home.read("state/overrides.json"))
        let second = try start()
        try second.registry.redo()
        for _ in 1...2 { try second.registry.undo() }
        second.store.close()
        try home.write(overrides, to: "state/overrides.json")
        let third = try start()
        #expect(third.registry.entries == entries && third.registry.revision == 4)
        try third.set("Y", 5)
        third.store.close()
        #expect(third.historyLines.count == 6)
        #expect(try start().registry.entries == ["5 session 1: Y 3→5"] + entries)
    }

    @Test func aTornLastLineIsDroppedAndRepaired() throws {
        try writeHistory()
        let whole = try Data(contentsOf: URL(fileURLWithPath: home.file("state/history.jsonl")))
        let lastLine = whole.dropLast().lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        for end in lastLine..<whole.count {
            try whole.prefix(end).write(to: URL(fileURLWithPath: home.file("state/history.jsonl")))
            let run = try start()
            #expect(run.registry.entries.count == 3 && run.registry["A/B/X"]?.value == .number(2))
            run.store.close()
            #expect(run.events.count == 1)
        }
        let run = try start()
        try run.set("Y", 8)
        run.store.close()
        #expect(run.historyLines.count == 5)
        #expect(try start().registry.entries.count == 4)
    }

    @Test(arguments: [
        "evidence\n", "{}\n", "no end", #"{"format":"tweaks-history","version":1}"# + "\nevidence\n",
        #"{"format":"tweaks-history","version":1}"# + "\n"
            + #"{"n":1,"revision":1,"time":"2026-11-21T09:30:00Z","by":"x","kind":"change","changes":[{"path":"A"}]}"#
            + "\n", #"{"format":"tweaks-history","version":0}"# + "\n", "\u{0}\u{0}\n",
        #"{"format":"tweaks-history","version":1}"# + "\n"
            + #"{"n":18446744073709551615,"revision":1,"time":"2026-11-21T09:30:00Z","by":"x","kind":"change","changes":[]}"#
            + "\n",
    ])
    func anUnreadableFileIsQuarantinedAndReported(text: String) throws {
        try writeHistory()
        try home.write(text, to: "state/history.jsonl")
        let run = try start()
        #expect(run.registry.entries.isEmpty && run.registry["A/B/X"]?.value == .number(2))
        try run.set("X", 7)
        run.store.close()
        #expect(home.quarantined("history.jsonl") == [text] && run.historyLines.count == 2)
        let reported = run.events.compactMap { if case .historyQuarantined(_, let name, _) = $0 { name } else { nil } }
        #expect(reported == home.names("state").filter { $0.hasPrefix("history.jsonl.unreadable-") })
    }

    @Test func aNewerVersionIsLeftAlone() throws {
        try writeHistory()
        let text = #"{"format":"tweaks-history","version":2,"program":"test"}"# + "\nsomething else\n"
        try home.write(text, to: "state/history.jsonl")
        let run = try start()
        try run.set("X", 7)
        #expect(run.flush() == nil)
        run.store.close()
        #expect(home.read("state/history.jsonl") == text && run.events.count == 2)
        #expect(run.store.info.history.state == "off: history.jsonl was written by a newer version")
    }

    @Test func aSecondProcessReadsAndNeverWrites() throws {
        let first = try start()
        try first.set("X", 2)
        first.store.close()
        let owner = try start()
        let before = owner.historyLines
        let other = try start()
        #expect(other.registry.entries == owner.registry.entries)
        try other.set("X", 3)
        other.store.close()
        #expect(owner.historyLines == before)
        #expect(other.store.info.history.state.hasPrefix("off: the state directory is used by pid"))
    }

    /// The overrides are saved at once.
    @Test func aFullDiskIsReportedOnceAndTheLinesAreWrittenLater() throws {
        let files = FailingFileSystem()
        let run = try start(files, time: time)
        files.plan { $0.kind == .open && $0.name.hasPrefix("history.jsonl") ? .fails(ENOSPC) : nil }
        try run.set("X", 2)
        #expect(run.flush() == nil)
        time.advance(whenAsleepFor: .milliseconds(100))
        time.waitUntilAsleep(for: .milliseconds(200))
        #expect(run.store.info.history.state.hasPrefix("unsaved: "))
        files.plan(nil)
        time.advance(by: .milliseconds(200))
        time.waitUntilIdle()
        #expect(run.historyLines.count == 2)
        run.store.close()
        #expect(run.store.info.history.state == "saved")
        #expect(run.events.count == 3 && "\(run.events[1])".hasSuffix("make room"))
        #expect(run.events[2] == .historyRecovered(path: run.historyFile))
    }
}
