// Tests the audit log and the history of a daemon, across restarts.

import Foundation
import Testing
import TweaksStorage
import TweaksTestSupport

@testable import TweaksDaemon

@Suite(.blocking) struct AuditAndHistoryTests {
    private let fixture: DaemonFixture
    private let peer = "uid \(geteuid()) pid \(ProcessInfo.processInfo.processIdentifier)"

    init() throws { fixture = try DaemonFixture() }

    private var audit: String { fixture.directory.file("audit.log") }

    private var lines: [String] { lines("audit.log") }
    private var refused: [String] { lines("audit-refused.log") }

    private func lines(_ name: String) -> [String] {
        let bytes = FileManager.default.contents(atPath: fixture.directory.file(name)) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0).withoutLink }
    }

    private func start(_ registry: TweakRegistry? = nil, audit: String? = nil) throws -> TweakDaemon {
        try fixture.start(registry: registry, ["TWEAKS_AUDIT": audit ?? self.audit])
    }

    /// Its start and its end are in the audit; history and overrides know what is set.
    @Test func aPreviewIsAuditedAndNotKept() throws {
        let daemon = try fixture.start(previews: true, ["TWEAKS_AUDIT": audit])
        let client = try fixture.connect(daemon)
        for line in ["as Ada", "set Content/Text/Size 72", "preview Content", "preview off"] { try client.ask(line) }
        #expect(try client.ask("set Content/Text/Size 72").last == "ok rev 3 unchanged")
        fixture.stop(daemon)
        let kinds = lines.compactMap { $0.firstMatch(of: /"kind":"(change|preview)".*/)?.1 }
        #expect(kinds == ["change", "preview", "preview"], "\(lines)")
        #expect(lines.filter { $0.contains(#""by":"preview of uid "#) && $0.contains("(Ada)") }.count == 2, "\(lines)")
        let again = try fixture.connect(try fixture.start(previews: true, registry: ExampleTweaks().registry))
        #expect(try again.ask("get Content/Text/Size")[0].contains("= 72 "))
        #expect(try again.ask("history").count == 2)
    }

    /// (`TWEAKS_AUDIT`, the file, the destinations); nil where the start is refused
    @Test(
        arguments: [
            ("/a/b.log", "/a/b.log", []), ("/a/b.log,syslog:", "/a/b.log", [.syslog("/dev/log")]),
            (
                "/a,b/c.log,journald:,syslog:/x", "/a,b/c.log",
                [.journald("/run/systemd/journal/socket"), .syslog("/x")]
            ),
            ("syslog:", "/named.log", [.syslog("/dev/log")]), ("", "/named.log", [.journald("/j")]),
        ] as [(String, String, [AuditDestination])])
    func theEnvironmentNamesTheFileAndWhereItsLinesGo(
        _ text: String, _ path: String, _ destinations: [AuditDestination]
    ) throws {
        let named = TweakDaemon.Audit("/named.log", shipsTo: [.journald(socket: "/j")])
        let settings = try #require(
            try AuditSettings.chosen(named, program: "bounce", isStrict: false, ["TWEAKS_AUDIT": text]))
        let expected = text == "/a/b.log" ? [.journald("/j")] : destinations
        #expect(settings.path == path && settings.destinations == expected && settings.program == "bounce")
    }

    @Test func destinationsNeedAFile() {
        let variable = ["TWEAKS_AUDIT": "syslog:"]
        #expect { try AuditSettings.chosen(nil, program: "bounce", isStrict: false, variable) } throws: {
            "\($0)".hasSuffix("name its file, too: TWEAKS_AUDIT=/var/log/bounce/audit.log,syslog:")
        }
    }

    @Test(
        arguments: [
            "syslog", "Journald", "/a.log,syslog", "/a.log,", "/a.log, syslog:", "syslog:,", "/a.log,sylog:", "ftp:x",
        ])
    func aMistypedDestinationIsNoFileOfThatName(_ text: String) {
        #expect { try AuditSettings.chosen(nil, program: "bounce", isStrict: false, ["TWEAKS_AUDIT": text]) } throws: {
            "\($0)".hasSuffix("write PATH, PATH,syslog: or PATH,journald:, without spaces")
        }
    }

    @Test func theHeadIsAStatisticAndCopiesAreSent() throws {
        let socket = try BoundSocket(fixture.directory.file("log"), for: .datagrams)
        let client = try fixture.connect(start(audit: "\(audit),syslog:\(fixture.directory.file("log"))"))
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        let line = try socket.next()
        let head = try #require(line.firstMatch(of: /"chain":"([0-9a-f]{64})"}$/)?.1)
        #expect(line.contains(#""path":"Content/Text/Size","old":60,"new":72,"#))
        #expect(try fixture.statistic("auditHead", client) == String(head))
        #expect(try fixture.statistic("auditShipped", client) == "1")
    }

    @Test func undoWorksAcrossARestart() throws {
        let (first, client) = try fixture.withClient(start())
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        #expect(try client.ask("Player/Audio/Token = hunter2").last == "ok rev 2")
        #expect(try client.ask("Content/Text/Alignment = right").last == "ok rev 3")
        #expect(try fixture.statistic("audit", client) == "written")
        #expect(try fixture.statistic("auditFile", client) == audit)
        #expect(try fixture.statistic("history", client) == "saved")
        fixture.stop(first)
        let second = try start(ExampleTweaks().registry)
        let again = try fixture.connect(second)
        #expect(try again.ask("undo").last?.hasPrefix("ok rev 4 undid 3 by uid ") == true)
        #expect(try again.ask("undo").last?.hasPrefix("error conflict Player/Audio/Token is a secret") == true)
        // The old secret is not stored, so nothing is put back; the entry is skipped from now on.
        #expect(try again.ask("undo force").last?.hasPrefix("ok rev 4 unchanged undid 2 by uid ") == true)
        #expect(try again.ask("undo").last?.hasPrefix("ok rev 5 undid 1 by uid ") == true)
        #expect(try again.ask("history").count == 6)
        fixture.stop(second)
        #expect(lines.count == 5 && refused.count == 1)
        let from = #","from":"unix socket","peer":"\#(peer)","session":1,"kind":"#
        #expect(lines[0].contains(from + #""change","path":"Content/Text/Size""#))
        #expect(lines[3].contains(from + #""undo","of":3,"#))
        #expect(refused.count { $0.contains(from + #""refused","path":"Player/Audio/Token","code":"conflict","#) } == 1)
        for name in ["audit.log", "state/history.jsonl"] { #expect(!lines(name).joined().contains("hunter2")) }
    }

    // MARK: Starts

    /// One run with a config file: what `body` does, and the history and the log afterwards.
    private func run(
        file: String, _ lines: [String] = [], storage: TweakDaemon.Storage? = nil
    ) throws -> (history: [String], log: [String]) {
        try fixture.save(file)
        let start = fixture.events.all.count
        let daemon = try fixture.start(
            config: fixture.configFile, storage: storage, registry: ExampleTweaks().registry,
            ["TWEAKS_AUDIT": audit])
        let client = try fixture.connect(daemon)
        for line in lines { #expect(try client.ask(line).last?.hasPrefix("ok") == true) }
        let history = try client.ask("history")
        fixture.stop(daemon)
        let reloads = fixture.events.all.dropFirst(start).filter { if case .reloaded = $0 { true } else { false } }
        return (history, reloads.flatMap(\.lines))
    }

    @Test func aStartIsNoChange() throws {
        let file = "Content/Text/Size = 64\n"
        let first = try run(file: file, ["Content/Text/Size = 72", "Content/Text/Alignment = right"])
        #expect(first.history.count == 3 && first.history[1].contains("60") == false)
        let line = "\(fixture.config): Content/Text/Size: file sets 64 (default 60)"
        let stays = "; the override 72 stays, reset Content/Text/Size to take the file's"
        #expect(first.log == [line])
        let before = (lines, try String(contentsOfFile: fixture.state + "/history.jsonl", encoding: .utf8))
        for _ in 1...2 {
            let next = try run(file: file)
            #expect(next.history.count == 3 && [[line], [line + stays]].contains(next.log), "\(next)")
        }
        #expect(lines == before.0)
        #expect(try String(contentsOfFile: fixture.state + "/history.jsonl", encoding: .utf8) == before.1)
        let last = try run(file: file, ["Content/Text/Size = 73"])
        #expect(last.history.count == 4 && last.history.contains { $0.contains("3") && $0.contains("72 → 73") })
    }

    /// Nor does the log claim a change, or name the revision of something else.
    @Test(arguments: [
        ("", "PATH read: it sets no value"), ("Content/Text/Size = 60\n", "PATH read: all its values are the defaults"),
        ("Content/Text/Size = 64\n", "PATH: Content/Text/Size: file sets 64 (default 60)"),
        ("Player/Audio/Token = hunter2\n", "PATH: Player/Audio/Token: file sets it"),
    ])
    func theLogOfAStartSaysWhatTheFileSets(_ file: String, _ line: String) throws {
        _ = try run(file: "", ["Content/Text/Alignment = right"])
        #expect(try run(file: file).log == [line.replacing("PATH", with: fixture.config)])
    }

    /// An entry only where the current value differs from that of the last run.
    @Test func aFileThatWasEditedBetweenTwoRunsIsAChange() throws {
        _ = try run(file: "Content/Text/Size = 64\n", ["Content/Text/Alignment = right"])
        let second = try run(file: "Content/Text/Size = 65\nContent/Text/Alignment = center\n")
        #expect(second.history.count == 3 && second.history.contains { $0.contains("Content/Text/Size 64 → 65") })
        #expect(second.log.contains { $0.hasSuffix("Content/Text/Size: file sets 65 (default 60)") }, "\(second.log)")
        let third = try run(file: "# nothing\n")
        #expect(third.history.count == 4 && third.history.contains { $0.contains("Content/Text/Size 65 → 60") })
        let fourth = try run(file: "# nothing\n")
        #expect(fourth.history.count == 4)
        let numbers = lines.compactMap { $0.firstMatch(of: /"revision":([0-9]+)/).map { String($0.1) } }
        #expect(numbers == ["1", "2", "3"])
    }

    /// The lines about values with which a config file has begun a run, without what all of them have.
    private var startLines: [String] {
        let head = #""by":"config file","from":"config file","kind":"reload","start":true,"#
        return lines.compactMap { line in line.firstRange(of: head).map { String(line[$0.upperBound...]) } }
    }

    /// A value of the file that differs from the default is in the audit, though no run before is known.
    @Test func withoutAStateDirectoryTheAuditHasTheValuesOfEachStart() throws {
        let file = "Content/Text/Size = 64\nPlayer/Audio/Token = hunter2\nContent/Text/Alignment = left\n"
        for _ in 1...2 { #expect(try run(file: file, storage: .off).history == ["ok"]) }
        let first = startLines
        try #require(first.count == 4)
        #expect(
            Set(first.prefix(2)) == [
                #""path":"Content/Text/Size","old":60,"new":64}"#, #""path":"Player/Audio/Token","secret":true}"#,
            ])
        // Those of the second start are the same, as its digest says.
        #expect(first[2].wholeMatch(of: /"tweaks":2,"sha256":"[0-9a-f]{64}"}/) != nil && first[3] == first[2])
        _ = try run(file: file.replacing("64", with: "65"), storage: .off)
        let second = startLines.dropFirst(4)
        #expect(second.count == 3 && second.contains(#""path":"Content/Text/Size","old":60,"new":65}"#))
        _ = try run(file: "# nothing\n", storage: .off)
        #expect(startLines.count == 8 && startLines.last?.hasPrefix(#""tweaks":0,"sha256":""#) == true)
        #expect(!lines.joined().contains("hunter2") && !lines.contains { $0.contains("revision") })
    }

    @Test(arguments: ["removed", "damaged", "unreadable"])
    func withoutAUsableCopyAnEditedFileIsInTheAudit(_ what: String) throws {
        _ = try run(file: "Content/Text/Size = 64\n", ["Content/Text/Alignment = right"])
        let copy = fixture.directory.file("state/config.last")
        try FileManager.default.removeItem(atPath: copy)
        if what == "damaged" { try Data("Content/Text/Size".utf8).write(to: URL(fileURLWithPath: copy)) }
        if what == "unreadable" {
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
        }
        let count = startLines.count
        let second = try run(file: "Content/Text/Size = 65\nContent/Text/Alignment = center\n")
        // A start is no change: no entry, and no revision. The override hides the alignment.
        #expect(second.history.count == 2 && !second.log.contains { $0.contains(", rev ") }, "\(second)")
        let new = Array(startLines.dropFirst(count))
        #expect(new.count == 2 && new.first == #""path":"Content/Text/Size","old":60,"new":65}"#, "\(new)")
        if what == "unreadable" { return }
        #expect(try run(file: "Content/Text/Size = 66\n").history.contains { $0.contains("Content/Text/Size 65 → 66") })
        #expect(startLines.count == count + 2)
    }

    /// The copy for the next run has neither secrets nor lines of unknown tweaks, and no other user can read it.
    @Test func theCopyOfTheFileHasNoSecrets() throws {
        let file = "# hunter1\nPlayer/Audio/Token = hunter2\nContent/Text/Size = 64\nNo/Such/Tweak = hunter3\n"
        _ = try run(file: file)
        let copy = fixture.directory.file("state/config.last")
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == "Content/Text/Size = 64\n")
        let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let second = try run(file: file.replacing("hunter2", with: "hunter4"))
        #expect(second.history == ["ok"])
    }

    /// Changes before the start have numbers of their own.
    @Test func changesBeforeTheStartFollowThoseOfTheLastRun() throws {
        _ = try run(file: "", ["Content/Text/Size = 72"])
        let example = ExampleTweaks()
        example.size.value = 80
        try example.registry.commit(origin: .code) { $0.set("Content/Text/Alignment", .choice("right")) }
        fixture.stop(try start(example.registry))
        #expect(example.registry.history.map(\.revision) == [3, 2, 1] && example.registry.revision == 3)
    }

    @Test func linesThatAPowerCutRemovedAreRestoredFromTheHistory() throws {
        let (first, client) = try fixture.withClient(start())
        try client.ask("Content/Text/Size = 72")
        try client.ask("Player/Audio/Token = hunter2")
        try client.ask("Content/Text/Alignment = right")
        fixture.stop(first)
        let before = lines
        try Data((before[0] + "\n" + before[1].prefix(40)).utf8).write(to: URL(fileURLWithPath: audit))
        for _ in 1...2 { fixture.stop(try start(ExampleTweaks().registry)) }
        #expect(lines.count == 4 && lines[0] == before[0])
        let by = #""by":"uid \#(geteuid())","from":"history","kind":"change","path":"#
        #expect(lines[2].hasSuffix(#""revision":2,\#(by)"Player/Audio/Token","secret":true}"#))
        #expect(lines[3].hasSuffix(#""revision":3,\#(by)"Content/Text/Alignment","old":"left","new":"right"}"#))
    }

    @Test func onlyTheOwnerOfTheStateDirectoryCompletesItsAudit() throws {
        let client = try fixture.connect(start())
        for value in 71...73 { try client.ask("Content/Text/Size = \(value)") }
        let before = lines[0]
        let other = fixture.directory.file("other.log")
        try Data("\(before)\n".utf8).write(to: URL(fileURLWithPath: other))
        fixture.stop(try start(ExampleTweaks().registry, audit: other))
        #expect(lines("other.log") == [before])
    }

    @Test func refusedChangesAreRecordedWithoutSecretValues() throws {
        _ = Tweak("Player", "Audio", "Pin", 1_234, in: 0...9_999, flags: .secret, registry: fixture.registry)
        let (daemon, client) = try fixture.withClient(start())
        for line in ["Content/Text/Size = 500", "Player/Audio/Pin = 77777", "undo", "load missing", "get Nothing"] {
            try client.ask(line)
        }
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        fixture.stop(daemon)
        let head = #""by":"uid \#(geteuid())","from":"unix socket","peer":"\#(peer)","session":1,"kind":"refused","#
        let rest = (refused + lines).map { line in line.firstRange(of: head).map { String(line[$0.upperBound...]) } }
        try #require(rest.count == 5)
        for (line, start) in zip(
            rest,
            [
                #""path":"Content/Text/Size","code":"out-of-range","reason":"Content/Text/Size: "#,
                #""path":"Player/Audio/Pin","code":"out-of-range""#, #""code":"conflict""#, #""code":"bad-value""#,
            ])
        { #expect(line?.hasPrefix(start) == true, "\(start)") }
        #expect(rest[4] == nil && !(refused + lines).contains { $0.contains("77777") })
    }

    @Test func theEnvironmentOverridesTheAuditOfTheProgram() throws {
        let named = TweakDaemon.Audit(audit, maximumSize: 1, keep: 0)
        for (variable, files) in [
            (fixture.directory.file("other.log"), ["other.log"]), ("off", []), ("", ["audit.log"]),
        ] {
            let environment = ["TWEAKS_SOCKET": "off", "TWEAKS_AUDIT": variable]
            fixture.stop(try fixture.start(storage: .off, audit: named, environment))
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
            #expect(names.filter { ["audit.log", "other.log"].contains($0) } == files)
            for file in files { try FileManager.default.removeItem(atPath: fixture.directory.file(file)) }
        }
        #expect(TweakDaemon.Audit("a") == "a" && TweakDaemon.Audit("a").minimumAge == .seconds(30 * 86_400))
    }

    @Test(arguments: [
        ("0", Duration.zero), ("365", .seconds(365 * 86_400)), ("", .seconds(60)), ("30d", nil), ("-1", nil),
    ])
    func theEnvironmentSetsTheMinimumAgeInDays(_ text: String, _ expected: Duration?) {
        let settings = try? AuditSettings.chosen(
            .init(audit, minimumAge: .seconds(60)), isStrict: false, ["TWEAKS_AUDIT_DAYS": text])
        #expect(settings?.minimumAge == expected)
    }

    @Test func anAuditThatCannotBeWrittenIsAnEventAndAStatistic() throws {
        let daemon = try start(audit: fixture.directory.file("missing/audit.log"))
        let warning = try fixture.events.next { $0.warning }.value
        #expect(warning.hasSuffix("make the directory \(fixture.directory.file("missing"))"))
        let client = try fixture.connect(daemon)
        let reply = try client.ask("Content/Text/Size = 72").last
        #expect(reply?.hasPrefix("ok rev 1 unaudited: No such file or directory") == true, "\(reply ?? "")")
        #expect(try fixture.statistic("audit", client)?.hasPrefix("unwritten: ") == true)
    }
}
