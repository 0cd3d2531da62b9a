// What the audit says of each kind of commit, and what becomes of its file.

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

@Suite("Audit", .blocking)
struct AuditTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private var path: String { home.file("audit.log") }

    private func lines(_ name: String = "audit.log") -> [String] {
        (home.read(name) ?? "").split(separator: "\n").map { String($0) }
    }

    @Test("each kind of commit is a line for each of its tweaks, with who, from where, what was and what is")
    func kinds() throws {
        let life = try AuditedLife(path)
        let (registry, head) = (life.registry, #"{"time":"2026-11-21T09:30:00.123Z","revision":"#)
        let word = try registry.register("A", "B", "Word", "a")
        let secret = try registry.register("A", "B", "Secret", "a", flags: .secret)
        let figure = try registry.register("A", "B", "Figure", 1, flags: .readOnly)
        try life.set(2, by: 7)
        try registry.commit(
            try #require(registry["A/B/X"]).node, .set(.number(3)),
            origin: TweakOrigin("ops").through(TweakConnection(transport: "tcp", peer: "127.0.0.1:50412")),
            kind: .change(session: 8), delivery: .caller)
        word.value = "say \"ö\"\n\u{1B}[31m\u{202E}"
        secret.value = "hunter2"
        figure.value = 2
        try registry.commit(origin: TweakOrigin("web panel")) { batch in
            batch.set("A/B/X", .number(4))
            batch.set("A/B/Word", .string("b"))
        }
        try registry.undo(origin: .user(0))
        try registry.redo()
        let entry = ConfigEntry(path: "A/B/X", text: "9", line: 1, origin: TweakOrigin("x.conf:1"))
        _ = registry.applyConfigFile([entry])
        try registry.commit(origin: .code) { $0.reset("A/B/X") }
        _ = registry.applyConfigFile([])
        life.trail.close()
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
        #expect(lines().last == head + reload)
        #expect(lines().count == 12)
        for line in lines() { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("the first commit is written at once, those behind it within a second, and nothing wakes it after")
    func pace() throws {
        let life = try AuditedLife(path)
        life.time.waitUntilIdle()
        try life.set(2)
        life.time.waitUntilAsleep(for: .seconds(1))
        #expect(lines().count == 1)
        for value in 3...9 { try life.set(Double(value)) }
        #expect(lines().count == 1)
        life.time.advance(by: .seconds(1))
        life.time.waitUntilAsleep(for: .seconds(1))
        #expect(lines().count == 8)
        life.time.advance(by: .seconds(1))
        life.time.waitUntilIdle()
    }

    @Test("a program that is too fast fills its own share; people are not crowded out, and what is missing is counted")
    func tooFast() throws {
        let life = try AuditedLife(path)
        life.time.waitUntilIdle()
        try life.set(2)
        life.time.waitUntilAsleep(for: .seconds(1))
        let tweak = try life.registry.register("A", "B", "Y", 0)
        for value in 1...1_000 { tweak.value = value }
        for _ in 0..<3_000 { for value in [4, 5] { try life.set(Double(value), by: 3) } }
        try life.set(3, by: 2, 1001)
        life.trail.close()
        let (all, facts) = (lines(), life.trail.facts)
        let program = all.count { $0.contains(#""from":"program""#) }
        let people = all.count { $0.contains(#""by":"uid 1000","#) }
        #expect(program > 0 && people > 4 * program)
        #expect(all.contains { $0.contains(#""by":"uid 1001","#) })
        #expect(facts.leftOut > 1_000 && facts.commits + facts.leftOut == 7_002)
        let leftOut = try #require(all.last { $0.contains(#""kind":"left out""#) })
        #expect(leftOut.contains(#""commits":\#(facts.leftOut),"from revision":2,"to revision":"#))
    }

    @Test("what sessions did beside committing stands between the commits, in order")
    func events() throws {
        let life = try AuditedLife(path)
        life.time.waitUntilIdle()
        let note = { (kind: String, details: [(key: String, value: AuditNote.Detail)]) in
            life.trail.note(
                AuditNote(
                    by: "ops\u{202E}\n", from: "tcp", peer: "127.0.0.1:5", session: 3, kind: kind, details))
        }
        try life.set(2)
        life.time.waitUntilAsleep(for: .seconds(1))
        note("refused", [("path", .text("A/B/X")), ("code", .text("out-of-range")), ("reason", .text("\u{1B}[31m"))])
        life.time.advance(by: .milliseconds(10))
        try life.set(3)
        life.time.advance(by: .milliseconds(10))
        note("kicked", [("of", .number(7))])
        note("granted", [("scopes", .texts(["read", "write:A"]))])
        #expect(lines().count == 1)
        life.trail.close()
        let head = { (time: String) in
            #"{"time":"2026-11-21T09:30:00.\#(time)Z","by":"ops\u202E\u000A","from":"tcp","peer":"127.0.0.1:5","session":3,"#
                .replacingOccurrences(of: "\\u000A", with: "\\n")
        }
        #expect(
            lines().enumerated().filter { $0.offset == 1 || $0.offset > 2 }.map(\.element) == [
                head("123") + #""kind":"refused","path":"A/B/X","code":"out-of-range","reason":"\u001B[31m"}"#,
                head("143") + #""kind":"kicked","of":7}"#,
                head("143") + #""kind":"granted","scopes":["read","write:A"]}"#,
            ])
        #expect(lines()[2].contains(#""kind":"change""#))
        #expect(life.trail.facts.events == 3 && life.trail.facts.commits == 2)
        for line in lines() { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
    }

    @Test("a flood of refusals fills its own share of a file of its own, and what is missing is counted")
    func flood() throws {
        let life = try AuditedLife(path)
        life.time.waitUntilIdle()
        try life.set(2)
        life.time.waitUntilAsleep(for: .seconds(1))
        for number in 0..<3_000 {
            life.trail.note(
                AuditNote(
                    by: "x", from: "tcp", peer: "y", session: 1, kind: "refused", isRefusal: true,
                    [("path", .text("A/B/\(number)"))]))
        }
        try life.set(3)
        life.trail.close()
        let refused = lines("audit-refused.log")
        #expect(refused.count { $0.contains(#""kind":"refused""#) } == 1_024)
        #expect(lines().count == 2)
        #expect(refused.last?.hasSuffix(#""kind":"left out","events":1976}"#) == true)
        #expect(life.trail.facts.leftOut == 1_976)
    }

    @Test("a wall clock that is set back is believed from then on")
    func clockJump() throws {
        let life = try AuditedLife(path)
        try life.setAndWrite(2)
        life.time.jump(by: -3_600_000)
        try life.setAndWrite(3)
        life.trail.close()
        #expect(lines().count == 2)
        #expect(lines()[1].hasPrefix(#"{"time":"2026-11-21T08:30:0"#))
    }

    @Test("a full file becomes .1, that .2, and so on; the oldest goes", arguments: [0, 1, 3])
    func rotation(keep: Int) throws {
        let life = try AuditedLife(path, maximumSize: 400, keep: keep, minimumAge: .zero)
        for value in 2...21 { try life.set(Double(value)) }
        life.trail.close()
        let names = ["audit.log"] + (0..<keep).map { "audit.log.\($0 + 1)" }
        #expect(home.names() == names)
        // Three lines fit, or fewer behind what says that a file was dropped.
        let kept = names.reversed().flatMap { lines($0) }.filter { !$0.contains("dropped") }.map { $0.suffix(12) }
        let last = (2...21).map { "\"old\":\($0 - 1),\"new\":\($0)}".suffix(12) }
        #expect(!kept.isEmpty && kept == last.suffix(kept.count))
        #expect(names.allSatisfy { (home.read($0) ?? "").utf8.count <= 400 })
        #expect(life.reported.allSatisfy { $0.hasPrefix("the audit has dropped ") } && !life.reported.isEmpty)
    }

    @Test("a file that was moved, deleted or emptied by others is opened anew")
    func moved() throws {
        let life = try AuditedLife(path)
        try life.setAndWrite(2)
        try FileManager.default.moveItem(atPath: path, toPath: path + "-20261121")
        try life.setAndWrite(3)
        #expect(lines("audit.log-20261121").count == 1 && lines().count == 1)
        try FileManager.default.removeItem(atPath: path)
        try life.setAndWrite(4)
        #expect(lines().count == 1)
        truncate(path, 0)
        try life.setAndWrite(5)
        #expect(lines().count == 1)
        life.trail.close()
        #expect(life.reported.isEmpty)
    }

    @Test("what is no regular file is refused with a remedy, and taken when it is gone")
    func refused() throws {
        mkfifo(path, 0o600)
        let fifo = try AuditedLife(path)
        #expect(
            fifo.reported == [
                "the audit is not written: \(path) is no regular file; name a file in TWEAKS_AUDIT, or move that away"
            ])
        #expect(fifo.trail.facts.state == "unwritten: \(path) is no regular file")
        try fifo.set(2)
        unlink(path)
        fifo.trail.close()
        #expect(lines().count == 1 && fifo.reported.last == "the audit is written again to \(path)")
        try FileManager.default.createDirectory(atPath: home.file("folder"), withIntermediateDirectories: false)
        symlink(path, home.file("link"))
        for (name, what) in [("folder", "a directory"), ("link", "a symbolic link")] {
            let life = try AuditedLife(home.file(name))
            #expect(life.reported.map { $0.contains("is \(what); name a file") } == [true])
        }
        let lost = try AuditedLife(home.file("missing/audit.log"))
        #expect(lost.reported.first?.hasSuffix("make the directory \(home.file("missing"))") == true)
    }

    @Test("a full disk is reported once, tried again, and cuts no line in two")
    func full() throws {
        let files = FailingFileSystem()
        let life = try AuditedLife(path, files: files)
        // Half of the bytes, and then nothing.
        files.plan { call in
            guard call.kind == .write else { return nil }
            return call.numberOfKind == 1 ? .isShort : .fails(28)
        }
        life.time.waitUntilIdle()
        try life.set(2)
        life.time.waitUntilAsleep(for: .milliseconds(100))
        #expect(life.reported.count == 1 && life.reported[0].hasSuffix("make room"))
        try life.set(3)
        life.time.advance(by: .milliseconds(100))
        life.time.waitUntilAsleep(for: .milliseconds(200))
        #expect(life.reported.count == 1)
        files.plan(nil)
        life.time.advance(by: .milliseconds(200))
        life.time.waitUntilAsleep()
        life.trail.close()
        #expect(lines().map { $0.suffix(15) } == [#","old":1,"new":2}"#, #","old":2,"new":3}"#].map { $0.suffix(15) })
        #expect(life.reported.last == "the audit is written again to \(path)")
    }

    @Test("what is noted while the disk refuses the line of what was alike is written when it takes it")
    func fullForAFold() throws {
        let files = FailingFileSystem()
        let life = try AuditedLife(path, files: files)
        let note = AuditNote(by: "ops", from: "tcp", peer: "127.0.0.1:1", session: 1, kind: "authenticated")
        life.trail.note(note)
        life.time.waitUntilAsleep(for: .seconds(1))
        life.trail.note(note)
        for rest in [1, 58] {
            life.time.advance(by: .seconds(1))
            life.time.waitUntilAsleep(for: .seconds(rest))
        }
        files.plan { call in
            guard call.kind == .write else { return nil }
            // It comes while the thread is about to find that out.
            if call.numberOfKind == 1 { try? life.set(2) }
            return .fails(ENOSPC)
        }
        life.time.advance(by: .seconds(58))
        life.time.waitUntilAsleep(for: .milliseconds(100))
        files.plan(nil)
        life.time.advance(by: .milliseconds(100))
        life.time.waitUntilAsleep()
        #expect(lines().last?.hasSuffix(#""path":"A/B/X","old":1,"new":2}"#) == true, "\(lines())")
    }

    @Test("whatever was granted, and whoever was kicked, has a line of its own")
    func whatIsNotAlike() throws {
        let life = try AuditedLife(path)
        let note = { (kind: String, detail: (String, AuditNote.Detail)) in
            life.trail.note(
                AuditNote(by: "ops", from: "tcp", peer: "127.0.0.1:1", session: 1, kind: kind, [detail]))
        }
        for scope in ["read", "admin", "read"] { note("granted", ("scopes", .texts([scope]))) }
        for session: UInt64 in [3, 4, 5] { note("kicked", ("of", .number(session))) }
        life.trail.close()
        let text = home.read("audit.log") ?? ""
        #expect(text.contains(#""scopes":["admin"]"#))
        for session in 3...5 { #expect(text.contains(#""of":\#(session)"#)) }
    }

    @Test("half a line at the end of the file does not swallow the next one", arguments: [true, false])
    func torn(isTorn: Bool) throws {
        let before = #"{"time":"2026-11-20T00:00:00.000Z""# + (isTorn ? "" : "}\n")
        try Data(before.utf8).write(to: URL(fileURLWithPath: path))
        let life = try AuditedLife(path)
        try life.set(2)
        life.trail.close()
        #expect(lines().count == 2 && lines()[1].hasSuffix(#""new":2}"#))
        #expect(home.read("audit.log")?.contains("\n\n") == false)
    }

    @Test("a file that another process has renamed meanwhile is not rotated again")
    func shared() throws {
        let files = FailingFileSystem()
        let life = try AuditedLife(path, files: files, maximumSize: 2_000)
        life.time.waitUntilIdle()
        let path = path
        files.plan { call in
            guard call.kind == .lock else { return nil }
            // Another one had the lock before.
            try? FileManager.default.moveItem(atPath: path, toPath: "\(path).1")
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            return nil
        }
        for number in 1...12 { try life.setAndWrite(Double(2 + number)) }
        life.trail.close()
        #expect(lines("audit.log.1").count > 8 && lines().count + lines("audit.log.1").count == 12)
        #expect(home.read("audit.log.2") == nil)
    }

    @Test("a rotation waits for another process, and for none without locks", arguments: [EWOULDBLOCK, ENOLCK])
    func locks(code: Int32) throws {
        let before = #"{"time":"2026-11-20T00:00:00.000Z","by":"\#(String(repeating: "x", count: 1_940))"}"# + "\n"
        try Data(before.utf8).write(to: URL(fileURLWithPath: path))
        let files = FailingFileSystem()
        let life = try AuditedLife(path, files: files, maximumSize: 2_000)
        life.time.waitUntilIdle()
        files.plan { $0.kind == .lock && $0.numberOfKind == 1 ? .fails(code) : nil }
        try life.set(2)
        if code == EWOULDBLOCK { life.time.waitUntilAsleep(for: .milliseconds(100)) }
        life.trail.close()
        #expect(lines().count == 1 && lines("audit.log.1").count == 1)
        #expect(life.reported.count == (code == EWOULDBLOCK ? 2 : 0), "\(life.reported)")
    }

    @Test("a rotation that fails is tried again, and costs no more than the oldest file")
    func rotationFails() throws {
        let files = FailingFileSystem()
        let life = try AuditedLife(path, files: files, maximumSize: 400, keep: 5)
        var value = 2.0
        while home.read("audit.log.4") == nil {
            try life.setAndWrite(value)
            value += 1
        }
        let before = (1...4).map { home.read("audit.log.\($0)") }
        files.plan { $0.kind == .rename && $0.name == "audit.log" ? .fails(1) : nil }
        // Until this one is full, too.
        while true {
            try life.set(value)
            life.time.waitUntilAsleep(for: .seconds(1), .milliseconds(100))
            if !life.reported.isEmpty { break }
            value += 1
            life.time.advance(by: .seconds(1))
            life.time.waitUntilIdle()
        }
        for delay in [100, 200, 400, 800] {
            life.time.waitUntilAsleep(for: .milliseconds(delay))
            life.time.advance(by: .milliseconds(delay))
        }
        life.time.waitUntilAsleep(for: .milliseconds(1_600))
        #expect((2...5).map { home.read("audit.log.\($0)") } == before)
        files.plan(nil)
        life.time.advance(by: .milliseconds(1_600))
        life.time.waitUntilAsleep()
        life.trail.close()
        #expect((2...5).map { home.read("audit.log.\($0)") } == before)
        #expect(!lines("audit.log.1").isEmpty && lines().count == 1)
    }
}
