// A daemon's audit and its history through a restart, as clients and operators see them.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct AuditAndHistoryTests {
    private let station: Station

    init() throws { station = try Station() }

    private var audit: String { station.directory.file("audit.log") }

    private var lines: [String] {
        let bytes = FileManager.default.contents(atPath: audit) ?? Data()
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
        #expect(try again.ask("undo force").last == "ok rev 4 unchanged")
        #expect(try again.ask("undo").last?.hasPrefix("ok rev 5 undid 1 by uid ") == true)
        #expect(try again.ask("history").count == 6)
        station.stop(second)
        #expect(lines.count == 5)
        #expect(lines[0].contains(#","from":"unix socket","session":1,"kind":"change","path":"Content/Text/Size""#))
        #expect(lines[3].contains(#","from":"unix socket","session":1,"kind":"undo","of":3,"#))
        for name in ["audit.log", "state/history.jsonl"] {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: station.directory.file(name)))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("hunter2"))
        }
    }

    @Test func theEnvironmentWins() throws {
        let other = station.directory.file("other.log")
        let named = TweakDaemon.Audit(audit, maximumSize: 1, keep: 0)
        for (variable, files) in [(other, ["other.log"]), ("off", []), ("", ["audit.log"])] {
            let daemon = try TweakDaemon.start(
                "example", storage: .off, audit: named, signals: [], registry: ExampleTweaks().registry,
                limits: TweakServerLimits(),
                environment: ["TWEAKS_SOCKET": "off", "TWEAKS_AUDIT": variable], onEvent: { _ in })
            daemon.stop()
            #expect(
                ["audit.log", "other.log"].filter { FileManager.default.fileExists(atPath: station.directory.file($0)) }
                    == files)
            for file in files { try FileManager.default.removeItem(atPath: station.directory.file(file)) }
        }
        #expect(TweakDaemon.Audit("a") == "a")
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
