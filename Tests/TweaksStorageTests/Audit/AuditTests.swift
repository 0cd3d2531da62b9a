// Tests the lines of the audit for each kind of commit, and the handling of its file.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct AuditTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private var path: String { home.file("audit.log") }

    private func lines(_ name: String = "audit.log") -> [String] { home.auditLines(name) }

    /// Starts a run whose trail waits.
    private func startIdle(
        _ files: FailingFileSystem = FailingFileSystem(), maximumSize: Int = 10_485_760
    ) throws -> AuditedRun {
        let run = try AuditedRun(path, files: files, maximumSize: maximumSize)
        run.time.waitUntilIdle()
        return run
    }

    private func expectJSON(_ lines: [String]) throws {
        for line in lines { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
    }

    @Test func eachChangedTweakIsOneLine() throws {
        let run = try AuditedRun(path)
        let (registry, head) = (run.registry, #"{"time":"2026-11-21T09:30:00.123Z","revision":"#)
        let word = try registry.register("A", "B", "Word", "a")
        let secret = try registry.register("A", "B", "Secret", "a", flags: .secret)
        let metric = try registry.register("A", "B", "Metric", 1, flags: .readOnly)
        try run.set(2, by: 7)
        try registry.commit(
            try #require(registry["A/B/X"]).node, .set(.number(3)),
            origin: TweakOrigin("ops").through(TweakConnection(transport: "tcp", peer: "127.0.0.1:50412")),
            kind: .change(session: 8), delivery: .caller)
        word.value = "say \"ö\"\n\u{1B}[31m\u{202E}"
        secret.value = "hunter2"
        metric.value = 2
        try registry.commit(origin: TweakOrigin("web panel")) { batch in
            batch.set("A/B/X", .number(4))
            batch.set("A/B/Word", .string("b"))
        }
        try registry.undo(origin: .user(0))
        try registry.redo()
        _ = registry.replace(
            .configFile, with: [ConfigEntry(path: "A/B/X", text: "9", line: 1, origin: TweakOrigin("x.conf:1"))])
        try registry.commit(origin: .code) { $0.reset("A/B/X") }
        _ = registry.replace(.configFile, with: [])
        run.trail.close()
        let expected = [
            #"1,"by":"uid 1000","from":"unix socket","peer":"uid 1000 pid 7","session":7,"kind":"change","path":"A/B/X","old":1,"new":2}"#,
            #"2,"by":"ops","from":"tcp","peer":"127.0.0.1:50412","session":8,"kind":"change","path":"A/B/X","old":2,"new":3}"#,
            #"3,"by":"code","from":"program","kind":"change","path":"A/B/Word","old":"a","new":"say \"ö\"\n\u001B[31m\u202E"}"#,
            #"4,"by":"code","from":"program","kind":"change","path":"A/B/Secret","secret":true}"#,
            #"5,"by":"web panel","from":"program","kind":"change","tweaks":2,"path":"A/B/X","old":3,"new":4}"#,
            #"5,"by":"web panel","from":"program","kind":"change","tweaks":2,"path":"A/B/Word","old":"say \"ö\"\n\u001B[31m\u202E","new":"b"}"#,
            #"6,"by":"uid 0","from":"program","kind":"undo","of":5,"tweaks":2,"path":"A/B/X","old":4,"new":3}"#,
        ].map { head + $0 }
        #expect(Array(lines().prefix(7)) == expected)
        #expect(lines()[8].contains(#""kind":"redo","of":5,"#))
        #expect(lines()[10].hasSuffix(#""kind":"change","path":"A/B/X","old":4,"new":9}"#))
        let reload = #"10,"by":"config file","from":"config file","kind":"reload","path":"A/B/X","old":9,"new":1}"#
        #expect(lines().last == head + reload && lines().count == 12)
        try expectJSON(lines())
        #expect(try home.mode("audit.log") == 0o600)
    }

    @Test func theFirstCommitIsWrittenAtOnceAndTheNextWithinASecond() throws {
        let run = try startIdle()
        try run.set(2)
        run.time.waitUntilAsleep(for: .seconds(1))
        #expect(lines().count == 1)
        for value in 3...9 { try run.set(Double(value)) }
        #expect(lines().count == 1)
        run.time.advance(by: .seconds(1))
        run.time.waitUntilAsleep(for: .seconds(1))
        #expect(lines().count == 8)
        run.time.advance(by: .seconds(1))
        run.time.waitUntilIdle()
    }

    @Test func aFastProgramDoesNotDisplaceUsersAndOmissionsAreCounted() throws {
        let run = try startIdle()
        try run.set(2)
        run.time.waitUntilAsleep(for: .seconds(1))
        let tweak = try run.registry.register("A", "B", "Y", 0)
        for value in 1...1_000 { tweak.value = value }
        for _ in 0..<3_000 { for value in [4.0, 5] { try run.set(value, by: 3) } }
        try run.set(3, by: 2, 1001)
        run.trail.close()
        let (all, info) = (lines(), run.trail.info)
        let program = all.count { $0.contains(#""from":"program""#) }
        let user = all.count { $0.contains(#""by":"uid 1000","#) }
        #expect(program > 0 && user > 4 * program && all.contains { $0.contains(#""by":"uid 1001","#) })
        #expect(info.leftOut > 1_000 && info.commits + info.leftOut == 7_002)
        let leftOut = try #require(all.last { $0.contains(#""kind":"left out""#) })
        #expect(leftOut.contains(#""commits":\#(info.leftOut),"from revision":2,"to revision":"#))
    }

    @Test func sessionEventsAreWrittenInOrder() throws {
        let run = try startIdle()
        let note = { (kind: String, details: [(key: String, value: AuditNote.Detail)]) in
            run.note(kind, by: "ops\u{202E}\n", port: 5, session: 3, details)
        }
        try run.set(2)
        run.time.waitUntilAsleep(for: .seconds(1))
        note("refused", [("path", .text("A/B/X")), ("code", .text("out-of-range")), ("reason", .text("\u{1B}[31m"))])
        run.time.advance(by: .milliseconds(10))
        try run.set(3)
        run.time.advance(by: .milliseconds(10))
        note("kicked", [("of", .number(7))])
        note("granted", [("scopes", .texts(["read", "write:A"]))])
        #expect(lines().count == 1)
        run.trail.close()
        let head = #"Z","by":"ops\u202E\n","from":"tcp","peer":"127.0.0.1:5","session":3,"kind":"#
        let expected = [
            #"123\#(head)"refused","path":"A/B/X","code":"out-of-range","reason":"\u001B[31m"}"#,
            #"143\#(head)"kicked","of":7}"#, #"143\#(head)"granted","scopes":["read","write:A"]}"#,
        ].map { #"{"time":"2026-11-21T09:30:00."# + $0 }
        let all = lines()
        #expect(all.count == 5 && [all[1], all[3], all[4]] == expected && all[2].contains(#""kind":"change""#))
        #expect(run.trail.info.events == 3 && run.trail.info.commits == 2)
        try expectJSON(lines())
    }

    @Test func aFloodOfRefusalsIsLimitedAndCounted() throws {
        let run = try startIdle()
        try run.set(2)
        run.time.waitUntilAsleep(for: .seconds(1))
        for number in 0..<3_000 { run.note("refused", isRefusal: true, [("path", .text("A/B/\(number)"))]) }
        try run.set(3)
        run.trail.close()
        let refused = lines("audit-refused.log")
        // A place of 256 for this origin and kind, and a line about all others.
        #expect(refused.count == 256 + 2 && lines().count == 2)
        #expect(refused.last?.contains(#""kind":"refused","count":2744,"since":"#) == true)
        #expect(refused.last?.contains(#","mixed":true,"path":"A/B/2999""#) == true)
        #expect(run.trail.info.leftOut == 0 && run.trail.info.events == 3_000)
    }

    @Test func aWallClockThatIsSetBackIsFollowed() throws {
        let run = try AuditedRun(path)
        try run.setAndWrite(2)
        run.time.jump(by: -3_600_000)
        try run.setAndWrite(3)
        run.trail.close()
        #expect(lines().count == 2 && lines()[1].hasPrefix(#"{"time":"2026-11-21T08:30:0"#))
    }

    @Test(arguments: [0, 1, 3]) func aFullFileIsRotated(keep: Int) throws {
        let run = try AuditedRun(path, maximumSize: 700, keep: keep, minimumAge: .zero)
        for value in 2...21 { try run.set(Double(value)) }
        run.trail.close()
        let names = ["audit.log"] + (0..<keep).map { "audit.log.\($0 + 1)" }
        #expect(home.names() == (names + ["audit.log.lock"]).sorted())
        // Three lines fit, or fewer after a line about a dropped file.
        let kept = names.reversed().flatMap { lines($0) }.filter { !$0.contains("dropped") }.map { $0.suffix(12) }
        let last = (2...21).map { "\"old\":\($0 - 1),\"new\":\($0)}".suffix(12) }
        #expect(!kept.isEmpty && kept == last.suffix(kept.count))
        #expect(names.allSatisfy { (home.read($0) ?? "").utf8.count <= 700 })
        #expect(run.reported.allSatisfy { $0.hasPrefix("the audit has dropped ") } && !run.reported.isEmpty)
    }

    @Test func aMovedDeletedOrEmptiedFileIsOpenedAnew() throws {
        let run = try AuditedRun(path)
        try run.setAndWrite(2)
        try FileManager.default.moveItem(atPath: path, toPath: path + "-20261121")
        try run.setAndWrite(3)
        #expect(lines("audit.log-20261121").count == 1 && lines().count == 1)
        try FileManager.default.removeItem(atPath: path)
        try run.setAndWrite(4)
        #expect(lines().count == 1)
        truncate(path, 0)
        try run.setAndWrite(5)
        #expect(lines().count == 1)
        run.trail.close()
        #expect(run.reported.isEmpty)
    }

    @Test func whatIsNotARegularFileIsRefusedUntilItIsGone() throws {
        mkfifo(path, 0o600)
        let fifo = try AuditedRun(path)
        let (problem, remedy) = ("\(path) is not a regular file", "name a file in TWEAKS_AUDIT, or move that away")
        #expect(fifo.reported == ["the audit is not written: \(problem); \(remedy)"])
        #expect(fifo.trail.info.state == "unwritten: \(problem)")
        try fifo.set(2)
        unlink(path)
        fifo.trail.close()
        #expect(lines().count == 1 && fifo.reported.last == "the audit is written again to \(path)")
        try home.makeFolder("folder")
        symlink(path, home.file("link"))
        for (name, kind) in [("folder", "a directory"), ("link", "a symbolic link")] {
            #expect(try AuditedRun(home.file(name)).reported.map { $0.contains("is \(kind); name a file") } == [true])
        }
        let lost = try AuditedRun(home.file("missing/audit.log"))
        #expect(lost.reported.first?.hasSuffix("make the directory \(home.file("missing"))") == true)
    }

    /// Half of the bytes are written, and then none.
    @Test func aFullDiskIsReportedOnceAndCutsNoLine() throws {
        let files = FailingFileSystem()
        let run = try AuditedRun(path, files: files)
        files.plan { $0.kind != .write ? nil : $0.numberOfKind == 1 ? .isShort : .fails(ENOSPC) }
        run.time.waitUntilIdle()
        try run.set(2)
        run.time.waitUntilAsleep(for: .milliseconds(100))
        #expect(run.reported.count == 1 && run.reported[0].hasSuffix("make room"))
        try run.set(3)
        run.time.advance(by: .milliseconds(100))
        run.time.waitUntilAsleep(for: .milliseconds(200))
        #expect(run.reported.count == 1)
        files.plan(nil)
        run.advance(by: .milliseconds(200))
        run.trail.close()
        #expect(lines().map { $0.suffix(15) } == [#","old":1,"new":2}"#, #","old":2,"new":3}"#].map { $0.suffix(15) })
        #expect(run.reported.last == "the audit is written again to \(path)")
    }

    @Test func aNoteDuringAFailedWriteIsWrittenLater() throws {
        let files = FailingFileSystem()
        let run = try AuditedRun(path, files: files)
        run.note("authenticated")
        run.time.waitUntilAsleep(for: .seconds(1))
        run.note("authenticated")
        for rest in [1, 58] {
            run.time.advance(by: .seconds(1))
            run.time.waitUntilAsleep(for: .seconds(rest))
        }
        files.plan { call in
            guard call.kind == .write else { return nil }
            // The commit comes while the write fails.
            if call.numberOfKind == 1 { try? run.set(2) }
            return .fails(ENOSPC)
        }
        run.time.advance(by: .seconds(58))
        run.time.waitUntilAsleep(for: .milliseconds(100))
        files.plan(nil)
        run.advance(by: .milliseconds(100))
        #expect(lines().last?.hasSuffix(#""path":"A/B/X","old":1,"new":2}"#) == true, "\(lines())")
    }

    @Test func differentGrantsAndKicksHaveTheirOwnLines() throws {
        let run = try AuditedRun(path)
        for scope in ["read", "admin", "read"] { run.note("granted", [("scopes", .texts([scope]))]) }
        for session: UInt64 in [3, 4, 5] { run.note("kicked", [("of", .number(session))]) }
        run.trail.close()
        let text = try #require(home.read("audit.log"))
        for detail in [#""scopes":["admin"]"#, #""of":3"#, #""of":4"#, #""of":5"#] { #expect(text.contains(detail)) }
    }

    @Test(arguments: [true, false]) func aTornLastLineDoesNotSwallowTheNextOne(isTorn: Bool) throws {
        try home.write(#"{"time":"2026-11-20T00:00:00.000Z""# + (isTorn ? "" : "}\n"), to: "audit.log")
        let run = try AuditedRun(path)
        try run.set(2)
        run.trail.close()
        #expect(lines().count == 2 && lines()[1].hasSuffix(#""new":2}"#))
        #expect(home.read("audit.log")?.contains("\n\n") == false)
    }

    @Test func aFileRenamedByAnotherProcessIsNotRotatedAgain() throws {
        let files = FailingFileSystem()
        let run = try startIdle(files, maximumSize: 3_000)
        let path = path
        files.plan { call in
            guard call.kind == .lock, call.numberOfKind == 10 else { return nil }
            // Another process had the lock before.
            try? FileManager.default.moveItem(atPath: path, toPath: "\(path).1")
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            return nil
        }
        for number in 1...12 { try run.setAndWrite(Double(2 + number)) }
        run.trail.close()
        #expect(lines("audit.log.1").count == 9 && lines().count == 3)
        #expect(home.read("audit.log.2") == nil)
    }

    @Test func aFailedRotationIsRetriedAndLosesOnlyTheOldestFile() throws {
        let files = FailingFileSystem()
        let run = try AuditedRun(path, files: files, maximumSize: 700, keep: 5)
        var value = 2.0
        while home.read("audit.log.4") == nil {
            try run.setAndWrite(value)
            value += 1
        }
        let before = (1...4).map { home.read("audit.log.\($0)") }
        files.plan { $0.kind == .rename && $0.name == "audit.log" ? .fails(1) : nil }
        // Until this file is full, too.
        while true {
            try run.set(value)
            run.time.waitUntilAsleep(for: .seconds(1), .milliseconds(100))
            if !run.reported.isEmpty { break }
            value += 1
            run.time.advance(by: .seconds(1))
            run.time.waitUntilIdle()
        }
        for delay in [100, 200, 400, 800] { run.time.advance(whenAsleepFor: .milliseconds(delay)) }
        run.time.waitUntilAsleep(for: .milliseconds(1_600))
        #expect((2...5).map { home.read("audit.log.\($0)") } == before)
        files.plan(nil)
        run.advance(by: .milliseconds(1_600))
        run.trail.close()
        #expect((2...5).map { home.read("audit.log.\($0)") } == before)
        #expect(!lines("audit.log.1").isEmpty && lines().count == 1)
    }
}
