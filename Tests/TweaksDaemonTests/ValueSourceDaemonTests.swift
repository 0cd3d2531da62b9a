// Tests the sources of a daemon: the environment, arguments, and a program's own.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

/// A source of the program that records its calls, and can fail.
private final class OwnSource: TweakValueSource {
    private struct State {
        var calls: [String] = []
        var sink: TweakSourceSink?
    }

    let layer: TweakLayer
    private let failure: ServerError?
    private let state = Mutex(State())

    init(_ layer: TweakLayer = TweakLayer("own", rank: 350), failsWith failure: ServerError? = nil) {
        self.layer = layer
        self.failure = failure
    }

    var calls: [String] { state.withLock { $0.calls } }
    var sink: TweakSourceSink? { state.withLock { $0.sink } }

    func load(_ sink: TweakSourceSink) {
        state.withLock { state in
            state.sink = sink
            state.calls.append("load \(sink.daemon) \(sink.environment["OWN"] ?? "") \(sink.directory != nil)")
        }
    }

    func start(_ sink: TweakSourceSink) throws {
        state.withLock { $0.calls.append("start") }
        if let failure { throw failure }
        sink.log("follows")
        sink.warn("lags; wait")
    }

    func stop() { state.withLock { $0.calls.append("stop") } }

    func reload() { sink?.update(["Content/Text/Size": .text("33")].mapKeys()) }

    var status: [(name: String, value: TweakValue?)] { [("state", .string("good")), ("age", nil)] }
}

extension [String: TweakSourceEntry?] {
    fileprivate func mapKeys() -> [TweakPath: TweakSourceEntry?] {
        Dictionary<TweakPath, TweakSourceEntry?>(
            uniqueKeysWithValues: compactMap { path, entry in (try? TweakPath(path)).map { ($0, entry) } })
    }
}

@Suite(.blocking) struct ValueSourceDaemonTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    private func warnings() -> [String] { fixture.events.all.compactMap(\.warning) }

    private func explain(_ client: TestClient, _ path: String = "Content/Text/Size") throws -> [String] {
        try client.ask("explain \(path)").map { $0.split(separator: " at ")[0].description }
    }

    // MARK: Restarts

    @Test func `A file that wins drops no override over a higher source at a restart`() throws {
        try fixture.save("Content/Text/Size = 64\n")
        let rules = TweakDaemon.ConfigFile(fixture.config, precedence: .fileWins)
        let environment = ["TWEAK_CONTENT_TEXT_SIZE": "40"]
        let (daemon, client) = try fixture.withClient(
            fixture.start(config: rules, sources: [.environment()], environment))
        try client.ask("Content/Text/Size = 72")
        try fixture.registry.waitUntilSaved()
        fixture.stop(daemon)
        // The value below the override is that of the variable, in both runs; only the file has changed.
        try fixture.save("Content/Text/Size = 65\n")
        let registry = ExampleTweaks().registry
        let restarted = try fixture.start(config: rules, registry: registry, sources: [.environment()], environment)
        let later = try fixture.connect(restarted)
        #expect(try later.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 "))
        #expect(try fixture.storedPaths() == ["Content/Text/Size"])
        #expect(registry.history.map(\.origin.description) == ["uid \(geteuid())"])
        #expect(try explain(later).contains("    config file        65  by \(fixture.config):1"))
    }

    @Test func `A stopped environment keeps no registry`() throws {
        weak var registry: TweakRegistry?
        do {
            let own = ExampleTweaks().registry
            registry = own
            let daemon = try fixture.start(
                registry: own, sources: [.environment()], ["TWEAK_CONTENT_TEXT_SIZE": "40"])
            fixture.stop(daemon)
        }
        // The thread of the events may still release the last of them.
        try eventually { registry == nil }
    }

    // MARK: The environment

    @Test func `A variable sets its tweak, as a text without quotes, above the config file`() throws {
        try fixture.save("Content/Text/Size = 64\n")
        let environment = [
            "TWEAK_CONTENT_TEXT_SIZE": "40", "TWEAK_CONTENT_TEXT_FONT_NAME": "Gill Sans # 2",
            "TWEAK_PLAYER_AUDIO_TOKEN": "hunter2",
        ]
        let daemon = try fixture.start(config: fixture.configFile, sources: [.environment()], environment)
        let client = try fixture.connect(daemon)
        #expect(
            try explain(client).dropLast() == [
                "    default            60  by code", "    config file        64  by \(fixture.config):1",
                "  → environment        40  by TWEAK_CONTENT_TEXT_SIZE",
            ])
        #expect(
            try client.ask("get \"Content/Text/Font Name\"")[0].hasPrefix(
                #""Content/Text/Font Name" = "Gill Sans # 2""#))
        let secret = try client.ask("explain Player/Audio/Token").joined()
        #expect(secret.contains("environment") && !secret.contains("hunter2"))
        #expect(fixture.registry["Player/Audio/Token"]?.value == .string("hunter2"))
        #expect(warnings().isEmpty && !fixture.logLines.joined().contains("hunter2"))
    }

    @Test func `A tweak that registers later has its value at once`() throws {
        try fixture.start(sources: [.environment(prefix: "APP_")], ["APP_LATE_TEXT_N1_": "7"])
        let late = Tweak("Late", "Text", "N1é", 1, in: 0...9, registry: fixture.registry)
        #expect(late.value == 7)
    }

    @Test func `Unused variables and bad values are reported, and the next layer applies`() throws {
        try fixture.save("Content/Text/Size = 64\n")
        let environment = ["TWEAK_CONTENT_TEXT_SISE": "s3cr3t", "TWEAK_CONTENT_TEXT_SIZE": "400", "TWEAKED": "1"]
        try fixture.start(config: fixture.configFile, sources: [.environment()], environment)
        let (line, _) = try fixture.events.next { $0.warning }
        #expect(
            line.hasPrefix(
                "no tweak has taken TWEAK_CONTENT_TEXT_SISE (did you mean TWEAK_CONTENT_TEXT_SIZE?); "
                    + "TWEAK_LABEL_TEXT_SIZE is for Label/Text/Size"))
        #expect(warnings().count == 1 && fixture.size == .number(64))
        let log = fixture.logLines
        let unfit = "example: Content/Text/Size: the environment of TWEAK_CONTENT_TEXT_SIZE is not in effect: "
        #expect(log.count { $0.hasPrefix(unfit) } == 1, "\(log)")
        #expect(!log.joined().contains("s3cr3t"))
    }

    @Test(arguments: [true, false])
    func `A variable that fits two tweaks sets neither, and both are reported once`(isEarly: Bool) throws {
        let registry = TweakRegistry()
        func declare(_ name: String) -> Tweak<Int> { Tweak("A", "B", name, 1, in: 0...9, registry: registry) }
        let early = isEarly ? [declare("a b"), declare("a-b")] : []
        try fixture.start(registry: registry, sources: [.environment()], ["TWEAK_A_B_A_B": "7"])
        let first = early.first ?? declare("a b")
        #expect(first.value == (isEarly ? 1 : 7))
        let second = early.last ?? declare("a-b")
        let third = declare("A_B")
        #expect(first.value == 1 && second.value == 1 && third.value == 1)
        try fixture.events.next { $0.warning.flatMap { $0.contains("sets neither") ? $0 : nil } }
        let shared = warnings().filter { $0.contains("fits both") }
        #expect(shared.count == 1 && shared[0].hasPrefix("TWEAK_A_B_A_B fits both "), "\(warnings())")
        #expect(shared[0].contains("A/B/a b") && shared[0].contains("A/B/a-b"))
    }

    @Test(
        arguments: [
            ("TWEAKS_", "takes in those of the daemon"), ("TWEAKS_X_", "takes in those of the daemon"),
            ("TWEAK", "takes in those of the daemon"), ("", "use letters, digits and “_”"),
            ("A=", "use letters, digits and “_”"), ("1A_", "use letters, digits and “_”"),
            ("É_", "use letters, digits and “_”"),
        ])
    func `A prefix that cannot be one fails the start`(prefix: String, reason: String) throws {
        let error = #expect(throws: ServerError.self) { try fixture.start(sources: [.environment(prefix: prefix)]) }
        #expect(error?.description.contains(reason) == true)
        try fixture.start()
    }

    // MARK: Arguments

    @Test func `Arguments set tweaks above the environment, and the last one counts`() throws {
        let list = [
            "--port", "80", "--tweak", "Content/Text/Size=30", "--tweak=Content/Text/Size=31", "--tweaks", "--tweak",
            "Content/Text/Font Name=a=b c", "--", "--tweak", "Content/Text/Size=32",
        ]
        let daemon = try fixture.start(
            sources: [.arguments(list), .environment()], ["TWEAK_CONTENT_TEXT_SIZE": "40"])
        let client = try fixture.connect(daemon)
        #expect(
            try explain(client).dropLast() == [
                "    default            60  by code", "    environment        40  by TWEAK_CONTENT_TEXT_SIZE",
                "  → arguments          31  by --tweak",
            ])
        #expect(fixture.registry["Content/Text/Font Name"]?.value == .string("a=b c"))
        #expect(warnings().isEmpty)
    }

    @Test(
        arguments: [
            (["--tweak"], "--tweak: “” sets no tweak; write --tweak CATEGORY/COLLECTION/NAME=VALUE"),
            (["--tweak", "Size=40"], "--tweak: “Size” sets no tweak; write --tweak"),
            (["--tweak=A/B/C"], "--tweak: “A/B/C” sets no tweak"),
            (["--tweak", "A/B/C/D=1"], "--tweak: “A/B/C/D” is not a path; write category/collection/name"),
            (["--tweak", "A//C=1"], "--tweak: the collection “” is not allowed"),
            (
                ["--tweak", "Content/Text/Sise=s3cr3t"],
                "--tweak: there is no tweak “Content/Text/Sise”; did you mean Content/Text/Size?; the value is used when"
            ),
        ] as [([String], String)])
    func `Malformed arguments and those of unknown tweaks are reported`(list: [String], line: String) throws {
        try fixture.start(sources: [.arguments(list)])
        let (found, _) = try fixture.events.next { $0.warning }
        #expect(found.hasPrefix(line), "\(found)")
        #expect(warnings().count == 1 && !found.contains("s3cr3t"))
    }

    @Test func `A secret is refused with the remedy, and not shown`() throws {
        try fixture.start(sources: [.arguments(["--tweak", "Player/Audio/Token=hunter2"])])
        let log = fixture.logLines.joined(separator: "\n")
        #expect(
            log.contains("takes no value from the arguments, which other processes can read; set it in this process"))
        #expect(!log.contains("hunter2"))
        #expect(fixture.registry["Player/Audio/Token"]?.value != .string("hunter2"))
    }

    // MARK: The program's own

    @Test func `A source is loaded before the sockets are open, started after, and stopped`() throws {
        let source = OwnSource()
        let daemon = try fixture.start(sources: [.init(source)], ["OWN": "1"])
        let client = try fixture.connect(daemon)
        #expect(source.calls == ["load example 1 true", "start"])
        #expect(try fixture.statistic("ownState", client) == "good")
        #expect(try fixture.statistic("ownAge", client) == "null")
        try fixture.events.next { $0.warning == "own: lags; wait" ? true : nil }
        #expect(fixture.logLines.contains("example: own: follows"))
        source.sink?.update(["Content/Text/Size": .text("70")].mapKeys(), origin: TweakOrigin("release 7"))
        try fixture.events.next { $0.changed?.origin == TweakOrigin("release 7") ? true : nil }
        fixture.stop(daemon)
        #expect(source.calls.last == "stop")
        #expect(source.sink?.update(["Content/Text/Size": .text("80")].mapKeys()).isIgnored == true)
        #expect(fixture.size == .number(70))
    }

    @Test func `The command reload and the call ask the sources, with a config file and without`() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(sources: [.init(OwnSource())]))
        #expect(try client.ask("reload dry")[0].hasPrefix("error io no config file is named, and the program's own"))
        #expect(fixture.size == .number(60))
        #expect(try client.ask("reload") == ["ok rev 1"] && fixture.size == .number(33))
        #expect(try daemon.reload().file == "")
        #expect(throws: TweakReloadError.self) { try daemon.reload(dry: true) }
        fixture.stop(daemon)
        #expect(throws: TweakReloadError.self) { try daemon.reload(dry: true) }
        let registry = ExampleTweaks().registry
        try fixture.save("Content/Text/Size = 64\n")
        let other = try fixture.start(config: fixture.configFile, registry: registry, sources: [.init(OwnSource())])
        #expect(try fixture.connect(other).ask("reload").last?.hasSuffix(" unchanged") == true)
        #expect(registry["Content/Text/Size"]?.value == .number(33))
    }

    @Test func `Sources that notice changes by themselves leave the command reload as it is`() throws {
        let client = try fixture.connect(fixture.start(sources: [.environment(), .arguments([])]))
        #expect(try client.ask("reload")[0].hasPrefix("error io no config file is named; set TWEAKS_CONFIG"))
    }

    @Test func `A source that does not start fails the daemon, and nothing is left open`() throws {
        let (good, bad) = (OwnSource(), OwnSource(TweakLayer("bad", rank: 7), failsWith: ServerError("no disk")))
        let error = #expect(throws: ServerError.self) { try fixture.start(sources: [.init(good), .init(bad)]) }
        #expect(error?.description == "the source of the layer bad does not start: no disk")
        #expect(good.calls.last == "stop" && bad.calls.last == "stop")
        #expect(!FileManager.default.fileExists(atPath: fixture.socket))
        try fixture.expectPong(fixture.start(sources: [.init(OwnSource())]))
    }

    @Test func `Two sources of one layer fail the start, with both names and the remedy`() throws {
        try fixture.save("Content/Text/Size = 64\n")
        let cases: [([TweakDaemon.Source], TweakDaemon.ConfigFile?, String)] = [
            ([.environment(), .environment(prefix: "B_")], nil, "EnvironmentSource and EnvironmentSource"),
            (
                [.init(OwnSource()), .init(OwnSource())], nil,
                "the sources OwnSource and OwnSource have the same layer, own"
            ),
            ([.init(OwnSource(.configFile))], fixture.configFile, "\(fixture.config) and the source OwnSource"),
            (
                [.init(OwnSource(TweakLayer("my fleet", rank: 9)))], nil,
                "contains fleet, the name of another layer; rename"
            ),
        ]
        for (sources, config, text) in cases {
            let error = #expect(throws: ServerError.self) { try fixture.start(config: config, sources: sources) }
            #expect(error?.description.contains(text) == true, "\(String(describing: error))")
        }
        let open = try fixture.start(sources: [.init(OwnSource())])
        #expect(throws: ServerError.self) { try fixture.start(named: "second", sources: [.init(OwnSource())]) }
        fixture.stop(open)
        try fixture.start(named: "second", sources: [.init(OwnSource())])
    }

    @Test func `A frozen process opens no source`() throws {
        let source = OwnSource()
        let environment = ["TWEAKS_FROZEN": "1", "TWEAK_CONTENT_TEXT_SIZE": "40"]
        let daemon = try fixture.start(sources: [.init(source), .environment()], environment)
        #expect(try fixture.connect(daemon).ask("stats").contains("  frozen: true"))
        #expect(source.calls.isEmpty && fixture.size == .number(60))
    }
}
