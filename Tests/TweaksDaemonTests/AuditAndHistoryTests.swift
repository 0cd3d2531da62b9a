// A daemon's audit and its history through a restart, as clients and operators see them.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
@testable import TweaksServing
import TweaksServer
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct AuditAndHistoryTests {
    private let station: Station

    init() throws { station = try Station() }

    private var audit: String { station.directory.file("audit.log") }

    private var lines: [String] { lines(audit) }
    private var refused: [String] { lines(station.directory.file("audit-refused.log")) }

    private func lines(_ path: String) -> [String] {
        let bytes = FileManager.default.contents(atPath: path) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
    }

    @Test func undoAcrossARestart() throws {
        let first = try station.start(nil, ["TWEAKS_AUDIT": audit])
        let client = try station.connect(first)
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        #expect(try client.ask("Player/Audio/Token = hunter2").last == "ok rev 2")
        #expect(try client.ask("Content/Text/Alignment = right").last == "ok rev 3")
        #expect(try station.figure("audit", client) == "written")
        #expect(try station.figure("auditFile", client) == audit)
        #expect(try station.figure("history", client) == "saved")
        station.stop(first)
        let second = try station.start(nil, registry: ExampleTweaks().registry, ["TWEAKS_AUDIT": audit])
        let again = try station.connect(second)
        #expect(try again.ask("undo").last?.hasPrefix("ok rev 4 undid 3 by uid ") == true)
        #expect(try again.ask("undo").last?.hasPrefix("error conflict Player/Audio/Token is a secret") == true)
        // There is nothing that could be put back; but it is out of the way.
        #expect(try again.ask("undo force").last?.hasPrefix("ok rev 4 unchanged undid 2 by uid ") == true)
        #expect(try again.ask("undo").last?.hasPrefix("ok rev 5 undid 1 by uid ") == true)
        #expect(try again.ask("history").count == 6)
        station.stop(second)
        #expect(lines.count == 5 && refused.count == 1)
        let peer = "uid \(geteuid()) pid \(ProcessInfo.processInfo.processIdentifier)"
        let from = #","from":"unix socket","peer":"\#(peer)","session":1,"kind":"#
        let committed = lines
        #expect(committed[0].contains(from + #""change","path":"Content/Text/Size""#))
        #expect(committed[3].contains(from + #""undo","of":3,"#))
        #expect(refused.count { $0.contains(from + #""refused","path":"Player/Audio/Token","code":"conflict","#) } == 1)
        for name in ["audit.log", "state/history.jsonl"] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: station.directory.file(name)))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("hunter2"))
        }
    }

    /// The disk did not have the last lines yet, and has the history.
    @Test func whatThePowerCutHasCost() throws {
        let first = try station.start(nil, ["TWEAKS_AUDIT": audit])
        let client = try station.connect(first)
        try client.ask("Content/Text/Size = 72")
        try client.ask("Player/Audio/Token = hunter2")
        try client.ask("Content/Text/Alignment = right")
        station.stop(first)
        let before = lines
        try Data((before[0] + "\n" + before[1].prefix(40)).utf8).write(to: URL(fileURLWithPath: audit))
        for _ in 1...2 {
            station.stop(try station.start(nil, registry: ExampleTweaks().registry, ["TWEAKS_AUDIT": audit]))
        }
        #expect(lines.count == 4 && lines[0] == before[0])
        let by = #""by":"uid \#(geteuid())","from":"history","kind":"change","path":"#
        #expect(lines[2].hasSuffix(#""revision":2,\#(by)"Player/Audio/Token","secret":true}"#))
        #expect(lines[3].hasSuffix(#""revision":3,\#(by)"Content/Text/Alignment","old":"left","new":"right"}"#))
    }

    /// The history of a directory that another process has is that one's, and so is what its audit lacks.
    @Test func othersAuditsAreTheirOwn() throws {
        let first = try station.start(nil, ["TWEAKS_AUDIT": audit])
        let client = try station.connect(first)
        for value in 71...73 { try client.ask("Content/Text/Size = \(value)") }
        let before = lines[0] + "\n"
        let other = station.directory.file("other.log")
        try Data(before.utf8).write(to: URL(fileURLWithPath: other))
        station.stop(try station.start(nil, registry: ExampleTweaks().registry, ["TWEAKS_AUDIT": other]))
        #expect(lines(other).map { $0 + "\n" } == [before])
        station.stop(first)
    }

    /// Who was refused what, and where from; what a secret should have been is not in it.
    @Test func refusedChanges() throws {
        _ = Tweak("Player", "Audio", "Pin", 1_234, in: 0...9_999, flags: .secret, registry: station.registry)
        let daemon = try station.start(nil, ["TWEAKS_AUDIT": audit])
        let client = try station.connect(daemon)
        for line in ["Content/Text/Size = 500", "Player/Audio/Pin = 77777", "undo", "load missing", "get Nothing"] {
            try client.ask(line)
        }
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        station.stop(daemon)
        let peer = "uid \(geteuid()) pid \(ProcessInfo.processInfo.processIdentifier)"
        let head = #""by":"uid \#(geteuid())","from":"unix socket","peer":"\#(peer)","session":1,"kind":"refused","#
        let rest = (refused + lines).map { line in line.firstRange(of: head).map { String(line[$0.upperBound...]) } }
        try #require(rest.count == 5)
        #expect(
            rest[0]?.hasPrefix(#""path":"Content/Text/Size","code":"out-of-range","reason":"Content/Text/Size: "#)
                == true)
        #expect(rest[1]?.hasPrefix(#""path":"Player/Audio/Pin","code":"out-of-range""#) == true)
        #expect(rest[2]?.hasPrefix(#""code":"conflict""#) == true)
        #expect(rest[3]?.hasPrefix(#""code":"bad-value""#) == true)
        #expect(rest[4] == nil && !(refused + lines).contains { $0.contains("77777") })
    }

    @Test func theEnvironmentWins() throws {
        let other = station.directory.file("other.log")
        let named = TweakDaemon.Audit(audit, maximumSize: 1, keep: 0)
        for (variable, files) in [(other, ["other.log"]), ("off", []), ("", ["audit.log"])] {
            let environment = ["TWEAKS_SOCKET": "off", "TWEAKS_AUDIT": variable]
            let configuration = TweakDaemon.Configuration.test(ExampleTweaks().registry, environment) {
                $0.audit = named
            }
            try TweakDaemon.start("example", configuration).stop()
            #expect(
                ["audit.log", "other.log"].filter { FileManager.default.fileExists(atPath: station.directory.file($0)) }
                    == files)
            for file in files { try FileManager.default.removeItem(atPath: station.directory.file(file)) }
        }
        #expect(TweakDaemon.Audit("a") == "a" && TweakDaemon.Audit("a").minimumAge == .seconds(30 * 86_400))
    }

    @Test(arguments: [
        ("0", Duration.zero), ("365", .seconds(365 * 86_400)), ("", .seconds(60)), ("30d", nil), ("-1", nil),
    ])
    func days(text: String, expected: Duration?) {
        let settings = try? AuditSettings.chosen(
            .init(audit, minimumAge: .seconds(60)), isStrict: false, ["TWEAKS_AUDIT_DAYS": text])
        #expect(settings?.minimumAge == expected)
    }

    @Test func troubleIsAnEventAndAFigure() throws {
        let daemon = try station.start(nil, ["TWEAKS_AUDIT": station.directory.file("missing/audit.log")])
        let warning = try station.events.next { $0.warning }.value
        #expect(warning.hasSuffix("make the directory \(station.directory.file("missing"))"))
        let client = try station.connect(daemon)
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        #expect(try station.figure("audit", client)?.hasPrefix("unwritten: ") == true)
        station.stop(daemon)
    }
}
