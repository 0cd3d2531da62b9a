// Tests that control characters and line breaks from outside are escaped wherever they are printed.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct HostileTextTests {
    static let hostile = [
        "\u{1B}[31m", "\u{1B}]0;title\u{7}", "\r", "\nok rev 99\n", "\u{9B}2J", "\u{85}", "\u{2028}", "\u{2029}",
        "\u{202E}", "\u{2066}", "\u{200F}", "\u{8}\u{8}", "\u{7F}",
        "\u{200B}", "\u{AD}", "\u{3164}", "\u{FE0F}", "\u{E0041}\u{E007F}", "\u{2060}", "\u{FEFF}", "\u{2800}",
    ]

    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    private func expectSafe(_ lines: [String], _ place: String) {
        for line in lines { #expect(Quoting.isSafe(line), "\(place): \(Quoting.json(line))") }
    }

    @Test(arguments: hostile) func namesOfFilesAndVariablesAreEscaped(_ text: String) throws {
        let folder = fixture.directory.file("a\(text)b")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data("Content/Text/Size = 500\nContent/Text/String = \"\(text)\"\nx\(text)/b/c = 1\n".utf8)
            .write(to: URL(fileURLWithPath: "\(folder)/x.conf"))
        let environment = [
            "TWEAKS_CONFIG": "\(folder)/x.conf", "TWEAKS_AUDIT": "\(folder)/missing/audit.log",
            "TWEAKS_STATE_DIR": "\(folder)/state", "TWEAKS_SOKET\(text)": "1", "NOTIFY_SOCKET": "x\(text)",
        ]
        let (daemon, client) = try fixture.withClient(fixture.start(config: "x", environment))
        let lines = try ["stats", "reload", "conflicts", "Content/Text/Size = 61", "presets"].flatMap(client.ask)
        #expect(lines.contains { $0.hasPrefix("ok rev 1") })
        expectSafe(lines, "wire")
        try client.send("json\nstats\nreload\n")
        expectSafe(try client.lines(3), "json")
        fixture.stop(daemon)
        let logged = fixture.events.all
        for text in ["TWEAKS_SOKET", "NOTIFY_SOCKET", "the audit is not written"] {
            // As it is shown: a selector after a letter would be a part of it.
            #expect(logged.contains { $0.warning.map(Quoting.sanitized)?.contains(text) == true }, "\(text)")
        }
        #expect(logged.contains { $0.reloadFailed != nil })
        expectSafe(logged.flatMap(\.lines), "log")
        for case .reloadFailed(let error) in logged { expectSafe(error.description.splitLines(), "error") }
    }

    @Test(arguments: hostile) func errorsOfTheStartAreEscaped(_ text: String) throws {
        let path = fixture.directory.file("x\(text)y")
        try Data().write(to: URL(fileURLWithPath: path))
        for variables in [
            ["TWEAKS_SOCKET": path], ["TWEAKS_SOCKET": "relative\(text)"], ["TWEAKS_SOCKET": "\(path)/socket"],
            ["TWEAKS_PORT": "1\(text)"], ["TWEAKS_FROZEN": text + "x"],
        ] {
            do throws(ServerError) {
                fixture.stop(try fixture.start(variables))
                Issue.record("\(variables) is not refused")
            } catch {
                expectSafe(error.description.splitLines(), "\(variables.keys)")
                #expect(!error.description.splitLines().contains("ok rev 99") || text.contains("\n"))
            }
        }
    }

    /// In replies, in the log, and in every file of lines.
    @Test(arguments: hostile) func valuesOriginsAndOutputOfActionsAreEscaped(_ text: String) throws {
        tweakAction("Player", "Audio", "Say", registry: fixture.registry) { $0.first ?? "" }
        let daemon = try fixture.start(["TWEAKS_AUDIT": fixture.directory.file("audit.log")])
        let (client, watcher) = (try fixture.connect(daemon), try fixture.connect(daemon))
        try watcher.ask("watch *")
        let quoted = Quoting.json("a\(text)b")
        var lines = try client.ask("Content/Text/String = \(quoted)")
        #expect(lines.last == "ok rev 1")
        lines += try [
            "Content/Text/Size = \(quoted)", "set \(quoted) 1", "save \(quoted)", "load \(quoted)", "get *",
            "run Player/Audio/Say \(quoted)", "find \(quoted)", "\(quoted)",
        ].flatMap(client.ask)
        try fixture.registry.commit(origin: TweakOrigin("o\(text)p")) { $0.set("Content/Text/Size", .number(70)) }
        lines += try ["history", "explain Content/Text/Size", "export"].flatMap(client.ask)
        lines += [try watcher.line(), try watcher.line()]
        expectSafe(lines, "wire")
        fixture.stop(daemon)
        for name in ["audit.log", "state/overrides.json", "state/history.jsonl"] {
            let written = try String(contentsOfFile: fixture.directory.file(name), encoding: .utf8).splitLines()
            #expect(written.count > 1)
            expectSafe(written, name)
        }
        expectSafe(fixture.events.all.flatMap(\.lines), "log")
    }

    @Test func fileNamesThatAreNotTextAreNoPresets() throws {
        let client = try fixture.connect(fixture.start())
        #expect(try client.ask("save good").last?.hasPrefix("ok") == true)
        for name in [[0xFF, 0xFE], [0xC3, 0x28], [0x1B, 0x5B, 0x41], [0xED, 0xA0, 0x80], [0x0A, 0x6F, 0x6B]] {
            let path = Array("\(fixture.state)/presets/".utf8) + name.map { UInt8($0) } + Array(".conf".utf8) + [0]
            let number = path.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { open($0, O_CREAT | O_WRONLY, 0o600) } }
            }
            try #require(number.map { $0 >= 0 } == true)
            close(number ?? -1)
        }
        let lines = try client.ask("presets")
        #expect(lines.count == 2 && lines[0].hasPrefix("  good"))
        #expect(try client.ask("complete load ").count == 2)
    }
}
