// Reloads: the difference, every error, what is held, what lies beneath an override; over the wire and by call.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct ReloadTests {
    private let station: Station

    init() throws { station = try Station() }

    /// What the command answers but for the file's name.
    private func reload(_ client: TestClient, _ line: String = "reload") throws -> [String] {
        try client.ask(line).map { $0.replacing(station.config, with: "FILE") }
    }

    // MARK: The difference

    @Test func theDifferenceIsListed() throws {
        try station.save("Content/Text/Size = 64\n\"Content/Text/Font Name\" = Futura\n")
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        // Without its last line break the watcher leaves it to who asks.
        try station.save("Content/Text/Size = 70")
        #expect(
            try reload(client) == [
                "  Content/Text/Size: file changed 64 → 70",
                #"  "Content/Text/Font Name": no longer in the file, changed "Futura" → "Avenir Next""#, "ok rev 2",
            ])
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 70 "))
        #expect(try reload(client) == ["ok rev 2 unchanged"])
        station.stop(daemon)
    }

    @Test func dryChangesNothing() throws {
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        try station.save("Content/Text/Size = 64")
        #expect(try reload(client, "reload dry") == ["  Content/Text/Size: file changed 60 → 64", "ok rev 0 dry"])
        let dry = try daemon.reload(dry: true)
        #expect(dry.changes.map(\.description) == ["Content/Text/Size: file changed 60 → 64"] && dry.revision == 0)
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 60 "))
        #expect(station.events.all.compactMap(\.reloaded).isEmpty)
        try client.send("json\nreload dry\nreload\n")
        #expect(
            try client.lines(3).dropFirst().map { $0 } == [
                #"{"ok":true,"rev":0,"tweaks":1,"dry":true,"changes":[{"path":"Content/Text/Size","was":60,"value":64}]}"#,
                #"{"ok":true,"rev":1,"tweaks":1,"changes":[{"path":"Content/Text/Size","was":60,"value":64}]}"#,
            ])
        station.stop(daemon)
    }

    /// Each line as over the wire, and in order; nothing has changed, and all of it is said in every place.
    @Test func everyError() throws {
        try station.save("Content/Text/Size = 64\n")
        let daemon = try station.start(.init(station.config, unknown: .error))
        let client = try station.connect(daemon)
        let lines = [
            "# a comment", "Content/Text/Size = 500", "Content/Text/Fade = soon", "Content/Text/Alignment = middle",
            "get *", "Content/Text/Sise = 3", "a/b/c=1", "Content/Text/Color = black", "Content/Text/Color = white",
            "Player/Audio/Mute = 1", "Player/Status/Frames = 1", #"Content/Text/String = "open"#,
        ]
        try station.save(lines.joined(separator: "\n") + "\n")
        let reply = try reload(client)
        // What the same line is answered over the wire. But a file takes assignments alone, and each path once.
        var expected: [String] = []
        try client.ask("begin")
        for (index, line) in lines.enumerated().dropFirst() {
            let own = [4: "error usage a config file holds assignments alone: PATH = VALUE", 8: "error conflict …"][
                index]
            let answer = try own ?? client.ask(line).last ?? ""
            if answer.hasPrefix("error ") { expected.append("  line \(index + 1): \(answer.dropFirst(6))") }
        }
        try client.ask("abort")
        #expect(reply.count == 11 && reply.last == "error out-of-range FILE: 10 errors; nothing has changed")
        for (line, pattern) in zip(reply, expected) { #expect(Transcript.fits(line, pattern), "\(reply)") }
        #expect(expected.count == 10, "\(expected)")
        let error = #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(error?.problems.map { "  line \($0.line ?? 0): \($0.error)" } == Array(reply.dropLast()))
        let (failed, _) = try station.events.next("reloadFailed") { $0.reloadFailed }
        #expect(failed == error)
        #expect(try station.figure("configError", client)?.contains(":2: out-of-range") == true)
        #expect(try client.ask("modified").dropLast().map { $0.prefix(23) } == ["Content/Text/Size = 64 "])
        // Right again, it is taken at once.
        try station.save("Content/Text/Size = 65\n")
        try daemon.reload()
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 65 "))
        #expect(try station.figure("configError", client) == "null")
        station.stop(daemon)
    }

    @Test func errorsForPrograms() throws {
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        try station.save("\nContent/Text/Size = 500")
        try client.send("json\nreload\n")
        _ = try client.line()
        let line = try client.line()
        #expect(line.hasPrefix(#"{"ok":false,"error":{"code":"out-of-range","message":"#), "\(line)")
        #expect(line.contains(#""problems":[{"line":2,"code":"out-of-range","message":"Content/Text/Size"#), "\(line)")
        station.stop(daemon)
    }

    @Test func aSecretIsNeverShown() throws {
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        try station.save("Player/Audio/Token = hunter2\n")
        let reply = try reload(client) + client.ask("explain Player/Audio/Token")
        let (event, _) = try station.events.next("reloaded") { $0.reloaded != nil ? $0.description : nil }
        #expect(!(reply.joined() + event).contains("hunter2"))
        #expect(event.contains("Player/Audio/Token: file changed"))
        station.stop(daemon)
    }

    @Test func withoutAFile() throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        #expect(try client.ask("reload")[0].hasPrefix("error io no config file is named; set TWEAKS_CONFIG"))
        #expect(throws: TweakReloadError.self) { try daemon.reload() }
        station.stop(daemon)
    }

    /// export → file → reload changes no value.
    @Test func exportIsTheIdentity() throws {
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        for line in [
            "Content/Text/Size = 72.5", #"Content/Text/String = "a \"quoted\" # text\u0001\\ é""#,
            "Content/Text/Color = #12345678", "Content/Text/Alignment = center", "Content/Text/Fade = 1.25s",
        ] { try client.ask(line) }
        let exported = try client.ask("export").dropLast()
        try station.save(exported.joined(separator: "\n") + "\n")
        try daemon.reload()
        #expect(try client.ask("export").dropLast() == exported)
        try client.ask("reset *")
        #expect(try client.ask("export").dropLast() == exported)
        station.stop(daemon)
    }

    // MARK: Held

    @Test func whatIsNotRegisteredYetIsHeld() throws {
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        try station.save("Content/Text/Size = 64\nContent/Text/Sise = 3\nPlug/In/Level = 7\n")
        try daemon.reload()
        let (reload, end) = try station.events.next("reloaded") { $0.reloaded }
        #expect(reload.unknown.count == 2 && reload.unknown[0].hasPrefix("\(station.config):2: "))
        #expect(reload.unknown[0].contains("did you mean Content/Text/Size"))
        // Said once, however often it is read; but who asks is told.
        #expect(try self.reload(client).count { $0.hasSuffix("; held") } == 2)
        let (again, _) = try station.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(again.unknown.isEmpty && again.changes.isEmpty)
        #expect(try client.ask("explain Plug/In/Level").joined().contains("waits for one to register"))
        let level = Tweak("Plug", "In", "Level", 1, registry: station.registry)
        #expect(level.value == 7)
        #expect(try client.ask("explain Plug/In/Level").joined().contains("by \(station.config):3 "))
        station.stop(daemon)
    }

    @Test func whatIsHeldMayNotFit() throws {
        try station.save("Plug/In/Level = 700\n")
        let daemon = try station.start(.init(station.config))
        let level = Tweak("Plug", "In", "Level", 1, in: 0...10, registry: station.registry)
        #expect(level.value == 1)
        let (text, _) = try station.events.next("unfit") { event in
            if case .unfit(let path, let text) = event, path == level.path { text } else { nil }
        }
        #expect(text.contains("config file of \(station.config):1 is not in effect: "))
        let client = try station.connect(daemon)
        #expect(try client.ask("explain Plug/In/Level").joined().contains("is not in effect: "))
        station.stop(daemon)
    }

    // MARK: Overrides

    @Test func anOverrideStays() throws {
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        try client.ask("Content/Text/Size = 72")
        try station.save("Content/Text/Size = 64")
        let reload = try daemon.reload()
        let text =
            "Content/Text/Size: file changed 60 → 64; the override 72 stays, reset Content/Text/Size to take the file's"
        #expect(reload.changes.map(\.description) == [text])
        let (event, _) = try station.events.next("reloaded") { $0.reloaded != nil ? $0.description : nil }
        #expect(event.hasPrefix("\(station.config): \(text), rev "))
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 "))
        let explained = try client.ask("explain Content/Text/Size")
        #expect(
            explained.contains(
                "    file changed 60 → 64 since; the override stays, reset Content/Text/Size to take the file's"))
        #expect(explained.contains { $0.contains("config file") && $0.contains("64  by \(station.config):1 at ") })
        // Also after a restart.
        station.stop(daemon)
        let registry = ExampleTweaks().registry
        let next = try station.start(.init(station.config), registry: registry)
        let later = try station.connect(next)
        #expect(try later.ask("explain Content/Text/Size").joined().contains("file changed 60 → 64 since"))
        #expect(try later.ask("reset Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        #expect(try !later.ask("explain Content/Text/Size").joined().contains("since"))
        station.stop(next)
    }

    @Test func theFileWins() throws {
        let rules = TweakDaemon.ConfigFile(station.config, precedence: .fileWins)
        let daemon = try station.start(rules)
        let client = try station.connect(daemon)
        try client.ask("Content/Text/Size = 72")
        try station.save("Content/Text/Size = 64\n")
        try daemon.reload()
        let (event, _) = try station.events.next("reloaded") { $0.reloaded != nil ? $0.description : nil }
        #expect(event.contains("file changed 60 → 64; the override 72 is dropped"))
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        try station.registry.waitUntilSaved()
        #expect(try station.storedPaths().isEmpty)
        // Only a value that changes in the file drops one.
        try client.ask("Content/Text/Size = 73")
        try daemon.reload()
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 73 "))
        station.stop(daemon)
    }

    // MARK: The start

    @Test func requiredAtTheStart() throws {
        try station.save("Content/Text/Size = 500\nContent/Text/Alignment = middle\n")
        let rules = TweakDaemon.ConfigFile(station.config, atStart: .required)
        let error = #expect(throws: ServerError.self) { try station.start(rules) }
        let text = error?.description ?? ""
        #expect(text.hasPrefix("the config file is required and cannot be taken:\n\(station.config):1: out-of-range "))
        #expect(text.contains("\n\(station.config):2: not-a-choice "))
        #expect(!FileManager.default.fileExists(atPath: station.directory.file("tweaks/example.sock")))
        #expect(!FileManager.default.fileExists(atPath: station.state))
        // Missing is as bad.
        try FileManager.default.removeItem(atPath: station.config)
        #expect(throws: ServerError.self) { try station.start(rules) }
        try station.save("Content/Text/Size = 64\n")
        let daemon = try station.start(rules)
        #expect(station.registry["Content/Text/Size"]?.value == .number(64))
        station.stop(daemon)
    }

    @Test func optionalAtTheStart() throws {
        try station.save("Content/Text/Size = 500\n")
        let daemon = try station.start(.init(station.config))
        let (failed, end) = try station.events.next("reloadFailed") { $0.reloadFailed }
        #expect(failed.problems.map(\.line) == [1])
        #expect(station.registry["Content/Text/Size"]?.value == .number(60))
        // As soon as it is right.
        try station.save("Content/Text/Size = 64\n")
        try station.events.next(from: end, "reloaded") { $0.reloaded }
        #expect(station.registry["Content/Text/Size"]?.value == .number(64))
        station.stop(daemon)
    }
}
