// Tests config files that others can write, and config files with many errors.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct ConfigTrustTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    private func saveForAll() throws {
        try fixture.save("Content/Text/Size = 64\n")
        chmod(fixture.config, 0o666)
    }

    @Test func itIsReadWithOneWarning() throws {
        try saveForAll()
        let client = try fixture.connect(fixture.start(config: fixture.configFile))
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        for _ in 1...3 { #expect(try client.ask("reload").last == "ok rev 0 unchanged") }
        let warnings = fixture.events.all.compactMap(\.warning).filter { $0.contains(fixture.config) }
        let problem = "others can write \(fixture.config) (mode 666); chmod go-w it"
        #expect(warnings == ["the config file \(fixture.config) may be another user's: \(problem)"])
    }

    /// With required durability, the daemon starts without the file; with a required file, it does not start.
    @Test func itIsRefused() throws {
        try saveForAll()
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile, durability: .required))
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 60 "))
        let failure = try fixture.events.next { $0.reloadFailed }.value
        #expect(failure.description.hasSuffix("io others can write \(fixture.config) (mode 666); chmod go-w it"))
        #expect(try client.ask("reload").last?.hasPrefix("error io ") == true)
        chmod(fixture.config, 0o644)
        _ = try client.ask("reload")
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 64 "))
        fixture.stop(daemon)
        chmod(fixture.config, 0o646)
        let error = #expect(throws: ServerError.self) {
            try fixture.start(config: .init(fixture.config, atStart: .required), registry: ExampleTweaks().registry)
        }
        #expect(error?.description.hasSuffix("(mode 646); chmod go-w it") == true)
    }

    @Test func repliesEventsAndErrorsListAHundredErrorsAndCountTheOthers() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile))
        try fixture.save(String(repeating: "nonsense\n", count: 250) + "Content/Text/Size = 640")
        let reply = try client.ask("reload")
        #expect(reply.count == 102 && reply[100] == "  … and 151 more")
        #expect(reply[101].hasSuffix("example.conf: 251 errors; nothing has changed"))
        try client.send("json\nreload\njson off\n")
        #expect(try client.lines(3)[1].contains(#"{"more":151}]"#))
        let error = #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(error?.problems.count == 100 && error?.count == 251)
        #expect(error?.description.hasSuffix("\n… and 151 more") == true)
        let (event, _) = try fixture.events.next("reloadFailed") { event in
            event.reloadFailed.flatMap { $0.count == 251 ? $0 : nil }
        }
        #expect(TweakDaemonEvent.reloadFailed(event).lines.count == 102)
    }

    @Test func aHundredUnknownTweaksAreListedAndTheOthersCounted() throws {
        let client = try fixture.connect(fixture.start(config: fixture.configFile))
        try fixture.save((0..<250).map { "No/Such/Tweak\($0) = 1\n" }.joined() + "Content/Text/Size = 64")
        let reply = try client.ask("reload")
        #expect(reply.count == 103 && reply[101] == "  … and 150 more" && reply[102] == "ok rev 1")
    }

    @Test func aStoppedDaemonReloadsNothing() throws {
        let daemon = try fixture.start(config: fixture.configFile)
        fixture.stop(daemon)
        try fixture.save("Content/Text/Size = 64\n")
        let error = #expect(throws: TweakReloadError.self) { try daemon.reload() }
        #expect(error?.description.hasSuffix("io the process ends; nothing is reloaded any more") == true)
        #expect(fixture.registry["Content/Text/Size"]?.isModified == false)
    }
}
