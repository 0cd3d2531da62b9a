// Everything worth logging comes as an event, in order, without secrets; nobody waits for who handles it.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct DaemonEventTests {
    private let station: Station

    init() throws { station = try Station() }

    @Test func aLife() throws {
        try station.save("Content/Text/Size = 64\nContent/Text/Sise = 1\n")
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 2")
        #expect(try client.ask("quit") == ["ok"])
        client.endInput()
        try station.events.next("end of the session") { $0.ending }
        station.stop(daemon)
        let peer = "uid \(geteuid())"
        // Changes come by a queue of their own: one may be told just after its session has gone.
        var lines = station.events.all.flatMap(\.lines)
        let change = try #require(lines.firstIndex { $0.hasPrefix("Content/Text/Size = 72 ") })
        if change == 6 { lines.swapAt(5, 6) }
        #expect(
            lines == [
                "\(station.config): Content/Text/Size: file changed 60 → 64, rev 1",
                "\(station.config):2: there is no tweak “Content/Text/Sise”; did you mean Content/Text/Size?; "
                    + "held until it registers",
                "overrides are kept in \(station.overrides), 0 overrides read",
                "tweaks at unix socket \(daemonPath); try: nc -U \(daemonPath)",
                "session 1 opened by \(peer)", "Content/Text/Size = 72 (was 64) by \(peer), rev 2",
                "session 1 of \(peer) closed: quit", "stopping",
            ])
        let news = station.events.all.filter { !$0.lines.isEmpty }
        #expect(news.map(\.isProblem) == [true, false, false, false, false, false, false])
    }

    private var daemonPath: String { station.directory.file("tweaks/example.sock") }

    @Test func whatAChangeSays() throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try client.send("begin\nContent/Text/Size = 72\nContent/Text/Alignment = right\ncommit\n")
        let (commit, end) = try station.events.next("changed") { $0.changed }
        #expect(commit.origin == .user(geteuid()) && commit.revision == 1)
        #expect(
            commit.changes.map(\.description) == [
                "Content/Text/Size = 72 (was 60)", "Content/Text/Alignment = right (was left)",
            ])
        try #require(station.registry["Content/Text/Size"]).set(.number(80))
        let (own, next) = try station.events.next(from: end, "changed") { $0.changed }
        #expect(own.origin == .code && own.changes.map(\.old) == [.number(72)])
        // Nothing changes for anybody when the default's own value is set.
        for _ in 0..<4 { _ = try client.reply() }
        try client.ask("Content/Text/Fade = 250ms")
        try client.ask("Content/Text/Size = 81")
        let (last, _) = try station.events.next(from: next, "changed") { $0.changed }
        #expect(last.revision == 4)
        station.stop(daemon)
    }

    /// What is said about it is a line that people can read; who did it stands at its end.
    @Test func aLongTextIsCutInTheLog() throws {
        let daemon = try station.start()
        let client = try station.connect(daemon)
        try client.ask("Content/Text/String = \(String(repeating: "é", count: 30_000))")
        let line = try station.events.next("changed") { event -> String? in
            if case .changed = event { event.description } else { nil }
        }.0
        #expect(line.count < 1_100)
        #expect(line.hasPrefix("Content/Text/String = \"éé"))
        #expect(line.contains("é … ") && line.contains(" more … é"))
        #expect(line.hasSuffix(" by uid \(geteuid()), rev 1"))
        station.stop(daemon)
    }

    @Test func troubles() throws {
        try FileManager.default.createDirectory(atPath: station.state, withIntermediateDirectories: true)
        try station.save("not JSON", at: station.overrides)
        try station.save("Content/Text/Size = 500\n")
        let daemon = try station.start(.init(station.config), ["TWEAKS_SOKET": "x"])
        _ = Tweak("Content", "Text", "Size", 61.0, in: 10...100, registry: station.registry)
        try station.events.next("conflict") { if case .conflict = $0 { true } else { nil } }
        station.stop(daemon)
        let problems = station.events.all.filter(\.isProblem).map { $0.lines[0] }
        #expect(problems.count == 4)
        for (text, start) in zip(
            problems,
            [
                "TWEAKS_SOKET is not used", "\(station.config):1: out-of-range", "\(station.overrides) cannot be taken",
                "Content/Text/Size",
            ])
        { #expect(text.hasPrefix(start), "\(problems)") }
    }

    @Test func aStoredValueThatDoesNotFit() throws {
        let first = try station.start()
        try station.connect(first).ask("Content/Text/Size = 72")
        station.stop(first)
        let registry = TweakRegistry()
        let size = Tweak("Content", "Text", "Size", 30.0, in: 10...40, registry: registry)
        let start = station.events.all.count
        let second = try station.start(registry: registry)
        let (text, _) = try station.events.next(from: start, "unfit") { event in
            if case .unfit(let path, _) = event, path == size.path { event.description } else { nil }
        }
        #expect(text.hasPrefix("Content/Text/Size: the override of uid \(geteuid()) is not in effect: "))
        #expect(size.value == 30)
        // It is kept, and returns with the old definition.
        station.stop(second)
        let tweaks = ExampleTweaks()
        try station.start(registry: tweaks.registry).stop()
        #expect(tweaks.size.value == 72)
    }

    @Test func secretsAreNotLogged() throws {
        try station.save("Player/Audio/Token = hunter2\n")
        let daemon = try station.start(.init(station.config))
        let client = try station.connect(daemon)
        try client.ask("Player/Audio/Token = hunter3")
        try client.ask("reset Player/Audio/Token")
        station.stop(daemon)
        let lines = station.events.all.flatMap(\.lines)
        #expect(lines.contains { $0.contains("Player/Audio/Token = (set) by uid ") })
        #expect(!lines.contains { $0.contains("hunter") }, "\(lines)")
    }

    /// A log that hangs delays no set, no reload, and no session.
    @Test func aHandlerThatBlocks() throws {
        let gate = Gate()
        let isBlocked = Gate()
        let daemon = try station.start(.init(station.config)) { event in
            guard event.changed != nil else { return }
            isBlocked.open()
            gate.waitBlocking()
        }
        let client = try station.connect(daemon)
        #expect(try client.ask("Content/Text/Size = 70").last == "ok rev 1")
        isBlocked.waitBlocking()
        for value in 71...90 {
            #expect(try client.ask("Content/Text/Size = \(value)").last?.hasPrefix("ok rev ") == true)
        }
        try station.save("Content/Text/Alignment = right\n")
        try daemon.reload()
        #expect(try station.connect(daemon).ask("ping") == ["ok pong"])
        #expect(station.events.count { $0.changed != nil } == 0)
        gate.open()
        station.stop(daemon)
        // Nothing was lost meanwhile.
        #expect(station.events.all.compactMap(\.changed).last?.revision == station.registry.revision)
    }

    /// The program may stop its daemon when it hears of something.
    @Test func stoppedByItsHandler() throws {
        let box = Mutex<TweakDaemon?>(nil)
        let daemon = try station.start { event in
            if event.changed != nil { box.withLock { $0 }?.stop() }
        }
        box.withLock { $0 = daemon }
        let client = try station.connect(daemon)
        try client.send("Content/Text/Size = 72\n")
        let lines = try client.restOfLines()
        #expect(lines[1] == "ok rev 1" && lines.last?.hasPrefix("error closing ") == true)
        client.endInput()
        try station.events.next("stopping") { if case .stopping = $0 { true } else { nil } }
        box.withLock { $0 = nil }
    }

    // MARK: The default log

    @Test(.enabled(if: Child.exists)) func oneLineEachOnStandardError() throws {
        try station.save("Probe/Int/T0 = 1\n")
        let child = try Child(in: station.directory.path, [], ["TWEAKS_CONFIG": station.config])
        try child.waitUntilReady()
        let client = try child.connect()
        try client.ask("Probe/Int/T0 = 2")
        try client.ask("Probe/Secret/Key = hunter2")
        try client.ask("quit")
        client.endInput()
        try child.waitForLine(containing: "closed: quit")
        try child.stop()
        try child.waitForLine(containing: "(end)")
        let peer = "uid \(geteuid())"
        let path = station.directory.file("probe.sock")
        #expect(
            child.log.all == [
                "probe: \(station.config): Probe/Int/T0: file changed 0 → 1, rev 1",
                "probe: overrides are kept in \(station.overrides), 0 overrides read",
                "probe: tweaks at unix socket \(path); try: nc -U \(path)", "probe: session 1 opened by \(peer)",
                "probe: Probe/Int/T0 = 2 (was 1) by \(peer), rev 2",
                "probe: Probe/Secret/Key = (set) by \(peer), rev 3",
                "probe: session 1 of \(peer) closed: quit", "probe: stopping", "(end)",
            ])
    }
}
