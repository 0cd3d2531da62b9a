// Tests reloads by command and by call: changes, errors, unknown tweaks, overrides.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct ReloadTests {
    private let fixture: DaemonFixture

    init() throws {
        // Its time stands still, so that a file without a last line break is never read by itself.
        let clock = ManualClock()
        fixture = try DaemonFixture(registry: ExampleTweaks(in: TweakRegistry { clock.now }).registry)
    }

    /// The reply without the path of the file.
    private func reload(_ client: TestClient, _ line: String = "reload") throws -> [String] {
        try client.ask(line).map { $0.replacing(fixture.config, with: "FILE") }
    }

    @Test func changesAreListed() throws {
        try fixture.save("Content/Text/Size = 64\n\"Content/Text/Font Name\" = Futura\n")
        let client = try fixture.connect(fixture.start(config: fixture.configFile))
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        // Without a last line break the file is read on request only.
        try fixture.write("Content/Text/Size = 70")
        #expect(
            try reload(client) == [
                "  Content/Text/Size: file changed 64 → 70",
                #"  "Content/Text/Font Name": no longer in the file, changed "Futura" → "Avenir Next""#, "ok rev 1",
            ])
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 70 "))
        #expect(try reload(client) == ["ok rev 1 unchanged"])
    }

    @Test func aDryReloadChangesNothing() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile))
        try fixture.save("Content/Text/Size = 64")
        #expect(try reload(client, "reload dry") == ["  Content/Text/Size: file changed 60 → 64", "ok rev 0 dry"])
        let dry = try daemon.reload(dry: true)
        #expect(dry.changes.map(\.description) == ["Content/Text/Size: file changed 60 → 64"] && dry.revision == 0)
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 60 "))
        #expect(fixture.events.all.compactMap(\.reloaded).isEmpty)
        try client.send("json\nreload dry\nreload\n")
        let changes = #""changes":[{"path":"Content/Text/Size","was":60,"value":64}]}"#
        let replies = [#"{"ok":true,"rev":0,"tweaks":1,"dry":true,"#, #"{"ok":true,"rev":1,"tweaks":1,"#]
        #expect(try Array(client.lines(3).dropFirst()) == replies.map { $0 + changes })
    }

    /// Errors of lines are those of the same commands, in order.
    @Test func allErrorsAreReportedAndNothingChanges() throws {
        try fixture.save("Content/Text/Size = 64\n")
        let (daemon, client) = try fixture.withClient(fixture.start(config: .init(fixture.config, unknown: .error)))
        let lines = [
            "# a comment", "Content/Text/Size = 500", "Content/Text/Fade = soon", "Content/Text/Alignment = middle",
            "get *", "Content/Text/Sise = 3", "a/b/c=1", "Content/Text/Color = black", "Content/Text/Color = white",
            "Player/Audio/Mute = 1", "Player/Status/Frames = 1", #"Content/Text/String = "open"#,
        ]
        try fixture.save(lines.joined(separator: "\n") + "\n")
        let reply = try reload(client)
        // Unlike a session, a file holds only assignments, and each path once.
        var expected: [String] = []
        try client.ask("begin")
        for (index, line) in lines.enumerated().dropFirst() {
            let own = [4: "error usage a config file holds only assignments: PATH = VALUE", 8: "error conflict …"]
            let reply = try own[index] ?? client.ask(line).last ?? ""
            if reply.hasPrefix("error ") { expected.append("  line \(index + 1): \(reply.dropFirst(6))") }
        }
        try client.ask("abort")
        #expect(reply.count == 11 && reply.last == "error out-of-range FILE: 10 errors; nothing has changed")
        for (line, pattern) in zip(reply, expected) { #expect(Transcript.fits(line, pattern), "\(reply)") }
        #expect(expected.count == 10, "\(expected)")
        let error = #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(error?.problems.map { "  line \($0.line ?? 0): \($0.error)" } == Array(reply.dropLast()))
        let (failed, _) = try fixture.events.next("reloadFailed") { $0.reloadFailed }
        #expect(failed == error)
        #expect(try fixture.statistic("configError", client)?.contains(":2: out-of-range") == true)
        #expect(try client.ask("modified").dropLast().map { $0.prefix(23) } == ["Content/Text/Size = 64 "])
        try fixture.save("Content/Text/Size = 65\n")
        try daemon.reload()
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 65 "))
        #expect(try fixture.statistic("configError", client) == "null")
    }

    /// A path that no tweak has is pending in a file without errors; in another one it may be misspelled.
    @Test func aMisspelledPathIsListedWithTheErrors() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile))
        try fixture.save("Content/Text/Sise = 64\nContent/Text/Fade = 1s\nContent/Text/Size = 500\n")
        #expect(
            try reload(client) == [
                "  line 1: unknown-tweak there is no tweak “Content/Text/Sise”; did you mean Content/Text/Size?",
                "  line 3: out-of-range Content/Text/Size: 500 is outside 10...100",
                "error out-of-range FILE: 2 errors; nothing has changed",
            ])
        #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(try client.ask("explain Content/Text/Sise")[0].hasPrefix("error unknown-tweak"))
        #expect(try fixture.statistic("configError", client)?.contains(":3: out-of-range") == true)
        // Many paths that wait for plug-ins hide no error.
        let paths = (1...200).map { "Late/Plug-in/N\($0) = 1\n" }.joined()
        try fixture.save(paths + "Content/Text/Size = 500\n")
        let reply = try reload(client)
        #expect(reply.count == 22 && reply[20] == "  line 201: out-of-range Content/Text/Size: 500 is outside 10...100")
        #expect(reply.last == "error out-of-range FILE: 21 errors; nothing has changed")
    }

    @Test func errorsInJSONHaveLineNumbers() throws {
        let client = try fixture.connect(fixture.start(config: fixture.configFile))
        try fixture.save("\nContent/Text/Size = 500")
        try client.send("json\nreload\n")
        _ = try client.line()
        let line = try client.line()
        #expect(line.hasPrefix(#"{"ok":false,"error":{"code":"out-of-range","message":"#), "\(line)")
        #expect(line.contains(#""problems":[{"line":2,"code":"out-of-range","message":"Content/Text/Size"#), "\(line)")
    }

    @Test func aSecretIsNeverShown() throws {
        let client = try fixture.connect(fixture.start(config: fixture.configFile))
        try fixture.save("Player/Audio/Token = hunter2\n")
        let reply = try reload(client) + client.ask("explain Player/Audio/Token")
        let (event, _) = try fixture.events.next("reloaded") { $0.reloaded != nil ? $0.description : nil }
        #expect(!(reply.joined() + event).contains("hunter2"))
        #expect(event.contains("Player/Audio/Token: file changed"))
    }

    @Test func withoutAConfigFileReloadIsAnError() throws {
        let (daemon, client) = try fixture.withClient(fixture.start())
        #expect(try client.ask("reload")[0].hasPrefix("error io no config file is named; set TWEAKS_CONFIG"))
        #expect(throws: TweakReloadError.self) { try daemon.reload() }
    }

    @Test func anExportedFileChangesNoValue() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile))
        for line in [
            "Content/Text/Size = 72.5", #"Content/Text/String = "a \"quoted\" # text\u0001\\ é""#,
            "Content/Text/Color = #12345678", "Content/Text/Alignment = center", "Content/Text/Fade = 1.25s",
        ] { try client.ask(line) }
        let exported = try client.ask("export").dropLast()
        try fixture.save(exported.joined(separator: "\n") + "\n")
        try daemon.reload()
        #expect(try client.ask("export").dropLast() == exported)
        try client.ask("reset *")
        #expect(try client.ask("export").dropLast() == exported)
    }

    @Test func valuesOfUnknownTweaksWaitForTheirRegistration() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile))
        try fixture.save("Content/Text/Size = 64\nContent/Text/Sise = 3\nPlug/In/Level = 7\n")
        try daemon.reload()
        let (reload, end) = try fixture.events.next("reloaded") { $0.reloaded }
        #expect(reload.unknown.count == 2 && reload.unknown[0].hasPrefix("\(fixture.config):2: "))
        #expect(reload.unknown[0].contains("did you mean Content/Text/Size"))
        // Logged once, but listed in each reply.
        #expect(try self.reload(client).count { $0.hasSuffix("; \(TweakReload.pendingNote)") } == 2)
        let (again, _) = try fixture.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(again.unknown.isEmpty && again.changes.isEmpty)
        #expect(try client.ask("explain Plug/In/Level").joined().contains("is pending until it registers"))
        let level = Tweak("Plug", "In", "Level", 1, registry: fixture.registry)
        #expect(level.value == 7)
        #expect(try client.ask("explain Plug/In/Level").joined().contains("by \(fixture.config):3 "))
    }

    @Test func anInvalidValueOfATweakThatRegistersLaterIsReported() throws {
        let daemon = try fixture.start(configText: "Plug/In/Level = 700\n")
        let level = Tweak("Plug", "In", "Level", 1, in: 0...10, registry: fixture.registry)
        #expect(level.value == 1)
        let (text, _) = try fixture.events.next("unfit") { event in
            if case .unfit(let path, let text) = event, path == level.path { text } else { nil }
        }
        #expect(text.contains("config file of \(fixture.config):1 is not in effect: "))
        let client = try fixture.connect(daemon)
        #expect(try client.ask("explain Plug/In/Level").joined().contains("is not in effect: "))
    }

    @Test func anOverrideStaysAboveAChangedFile() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile))
        try client.ask("Content/Text/Size = 72")
        try fixture.save("Content/Text/Size = 64")
        let reload = try daemon.reload()
        let text =
            "Content/Text/Size: file changed 60 → 64; the override 72 stays, reset Content/Text/Size to take the file's"
        #expect(reload.changes.map(\.description) == [text])
        let (event, _) = try fixture.events.next("reloaded") { $0.reloaded != nil ? $0.description : nil }
        #expect(event.hasPrefix("\(fixture.config): \(text), rev "))
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 "))
        let explained = try client.ask("explain Content/Text/Size")
        let remedy = "the override stays, reset Content/Text/Size to take the file's"
        #expect(explained.contains("    file changed 60 → 64 since; \(remedy)"))
        #expect(explained.contains { $0.contains("config file") && $0.contains("64  by \(fixture.config):1 at ") })
        fixture.stop(daemon)
        let restarted = try fixture.start(config: fixture.configFile, registry: ExampleTweaks().registry)
        let later = try fixture.connect(restarted)
        #expect(try later.ask("explain Content/Text/Size").joined().contains("file changed 60 → 64 since"))
        #expect(try later.ask("reset Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        #expect(try !later.ask("explain Content/Text/Size").joined().contains("since"))
    }

    @Test func withFileWinsAChangedValueDropsItsOverride() throws {
        let rules = TweakDaemon.ConfigFile(fixture.config, precedence: .fileWins)
        let (daemon, client) = try fixture.withClient(fixture.start(config: rules))
        try client.ask("Content/Text/Size = 72")
        try fixture.save("Content/Text/Size = 64\n")
        try daemon.reload()
        let (event, _) = try fixture.events.next("reloaded") { $0.reloaded != nil ? $0.description : nil }
        #expect(event.contains("file changed 60 → 64; the override 72 is dropped"))
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        try fixture.registry.waitUntilSaved()
        #expect(try fixture.storedPaths().isEmpty)
        // A value that did not change in the file drops none.
        try client.ask("Content/Text/Size = 73")
        try daemon.reload()
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 73 "))
    }

    @Test func aRequiredFileWithErrorsPreventsTheStart() throws {
        try fixture.save("Content/Text/Size = 500\nContent/Text/Alignment = middle\n")
        let rules = TweakDaemon.ConfigFile(fixture.config, atStart: .required)
        let error = #expect(throws: ServerError.self) { try fixture.start(config: rules) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("the config file is required and cannot be used:\n\(fixture.config):1: out-of-range "))
        #expect(text.contains("\n\(fixture.config):2: not-a-choice "))
        #expect(!FileManager.default.fileExists(atPath: fixture.socket))
        #expect(!FileManager.default.fileExists(atPath: fixture.state))
        try FileManager.default.removeItem(atPath: fixture.config)
        #expect(throws: ServerError.self) { try fixture.start(config: rules) }
        try fixture.save("Content/Text/Size = 64\n")
        try fixture.start(config: rules)
        #expect(fixture.size == .number(64))
    }

    @Test func anOptionalFileWithErrorsIsReadWhenItIsCorrected() throws {
        try fixture.start(configText: "Content/Text/Size = 500\n")
        let (failed, end) = try fixture.events.next("reloadFailed") { $0.reloadFailed }
        #expect(failed.problems.map(\.line) == [1])
        #expect(fixture.size == .number(60))
        try fixture.save("Content/Text/Size = 64\n")
        try fixture.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(fixture.size == .number(64))
    }
}
