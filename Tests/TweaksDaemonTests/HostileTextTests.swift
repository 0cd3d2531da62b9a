// Text that would fool a terminal or a reader of lines, in every place where text from outside is printed.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct HostileTextTests {
    static let hostile = [
        "\u{1B}[31m", "\u{1B}]0;title\u{7}", "\r", "\nok rev 99\n", "\u{9B}2J", "\u{85}", "\u{2028}", "\u{2029}",
        "\u{202E}", "\u{2066}", "\u{200F}", "\u{8}\u{8}", "\u{7F}",
    ]

    private let station: Station

    init() throws { station = try Station() }

    private func expectSafe(_ lines: [String], _ place: String) {
        for line in lines { #expect(Quoting.isSafe(line), "\(place): \(Quoting.json(line))") }
    }

    /// Directories and variables are named by whoever starts the process, and file names by whoever writes there.
    @Test(arguments: hostile) func namesOfFilesAndVariables(_ text: String) throws {
        let folder = station.directory.file("a\(text)b")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data("Content/Text/Size = 500\nContent/Text/String = \"\(text)\"\nx\(text)/b/c = 1\n".utf8)
            .write(to: URL(fileURLWithPath: "\(folder)/x.conf"))
        let environment = [
            "TWEAKS_CONFIG": "\(folder)/x.conf", "TWEAKS_AUDIT": "\(folder)/missing/audit.log",
            "TWEAKS_STATE_DIR": "\(folder)/state", "TWEAKS_SOKET\(text)": "1", "NOTIFY_SOCKET": "x\(text)",
        ]
        let daemon = try station.start("x", environment)
        let client = try station.connect(daemon)
        let lines = try ["stats", "reload", "conflicts", "Content/Text/Size = 61", "presets"].flatMap(client.ask)
        #expect(lines.contains { $0.hasPrefix("ok rev 1") })
        expectSafe(lines, "wire")
        try client.send("json\nstats\nreload\n")
        expectSafe(try client.lines(3), "json")
        station.stop(daemon)
        let logged = station.events.all
        #expect(logged.contains { $0.warning?.contains("TWEAKS_SOKET") == true })
        #expect(logged.contains { $0.warning?.contains("NOTIFY_SOCKET") == true })
        #expect(logged.contains { $0.warning?.contains("the audit is not written") == true })
        #expect(logged.contains { $0.reloadFailed != nil })
        expectSafe(logged.flatMap(\.lines), "log")
        for case .reloadFailed(let error) in logged { expectSafe(error.description.splitLines(), "error") }
    }

    @Test(arguments: hostile) func whyItDoesNotStart(_ text: String) throws {
        let path = station.directory.file("x\(text)y")
        try Data().write(to: URL(fileURLWithPath: path))
        for variables in [
            ["TWEAKS_SOCKET": path], ["TWEAKS_SOCKET": "relative\(text)"], ["TWEAKS_SOCKET": "\(path)/socket"],
            ["TWEAKS_PORT": "1\(text)"], ["TWEAKS_FROZEN": text + "x"],
        ] {
            do throws(ServerError) {
                station.stop(try station.start(nil, variables))
                Issue.record("\(variables) is not refused")
            } catch {
                expectSafe(error.description.splitLines(), "\(variables.keys)")
                #expect(!error.description.splitLines().contains("ok rev 99") || text.contains("\n"))
            }
        }
    }

    /// Values, origins, what actions print and throw: over the wire, in the log, and in every file of lines.
    @Test(arguments: hostile) func whatPeopleSet(_ text: String) throws {
        let audit = station.directory.file("audit.log")
        tweakAction("Player", "Audio", "Say", registry: station.registry) { $0.first ?? "" }
        let daemon = try station.start(nil, ["TWEAKS_AUDIT": audit])
        let (client, watcher) = (try station.connect(daemon), try station.connect(daemon))
        try watcher.ask("watch *")
        let quoted = Quoting.json("a\(text)b")
        var lines = try client.ask("Content/Text/String = \(quoted)")
        #expect(lines.last == "ok rev 1")
        lines += try ["Content/Text/Size = \(quoted)", "set \(quoted) 1", "save \(quoted)", "load \(quoted)"]
            .flatMap(client.ask)
        lines += try ["get *", "run Player/Audio/Say \(quoted)", "find \(quoted)", "\(quoted)"].flatMap(client.ask)
        try station.registry.commit(origin: TweakOrigin("o\(text)p")) { $0.set("Content/Text/Size", .number(70)) }
        lines += try ["history", "explain Content/Text/Size", "export"].flatMap(client.ask)
        lines += [try watcher.line(), try watcher.line()]
        expectSafe(lines, "wire")
        station.stop(daemon)
        for name in ["audit.log", "state/overrides.json", "state/history.jsonl"] {
            let written = try String(contentsOfFile: station.directory.file(name), encoding: .utf8).splitLines()
            #expect(written.count > 1)
            expectSafe(written, name)
        }
        expectSafe(station.events.all.flatMap(\.lines), "log")
    }

    /// Names that are no text at all, in the folder where presets are.
    @Test func fileNamesThatAreNoText() throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        #expect(try client.ask("save good").last?.hasPrefix("ok") == true)
        for name in [[0xFF, 0xFE], [0xC3, 0x28], [0x1B, 0x5B, 0x41], [0xED, 0xA0, 0x80], [0x0A, 0x6F, 0x6B]] {
            let path = Array("\(station.state)/presets/".utf8) + name.map { UInt8($0) } + Array(".conf".utf8) + [0]
            let number = path.withUnsafeBufferPointer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { open($0, O_CREAT | O_WRONLY, 0o600) } }
            }
            try #require(number.map { $0 >= 0 } == true)
            close(number ?? -1)
        }
        let lines = try client.ask("presets")
        #expect(lines.count == 2 && lines[0].hasPrefix("  good"))
        #expect(try client.ask("complete load ").count == 2)
        station.stop(daemon)
    }
}
