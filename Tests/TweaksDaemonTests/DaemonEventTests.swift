// Tests the events of a daemon: their order, lines and secrets, and handlers that block.

import Foundation
import Synchronization
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct DaemonEventTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    @Test func eventsOfAWholeRunComeInOrder() throws {
        try fixture.save("Content/Text/Size = 64\nContent/Text/Sise = 1\n")
        let (daemon, client) = try fixture.withClient(fixture.start(config: fixture.configFile))
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        #expect(try client.ask("quit") == ["ok"])
        client.endInput()
        try fixture.events.next("end of the session") { $0.ending }
        fixture.stop(daemon)
        let peer = "uid \(geteuid())"
        // Changes have their own queue: one may be reported just after its session ended.
        var lines = fixture.events.all.flatMap(\.lines)
        let change = try #require(lines.firstIndex { $0.hasPrefix("Content/Text/Size = 72 ") })
        if change == 6 { lines.swapAt(5, 6) }
        #expect(
            lines == [
                "overrides are kept in \(fixture.overrides), 0 overrides read",
                "\(fixture.config): Content/Text/Size: file sets 64 (default 60)",
                "\(fixture.config):2: there is no tweak “Content/Text/Sise”; did you mean Content/Text/Size?; "
                    + TweakReload.pendingNote,
                "tweaks at unix socket \(fixture.socket); try: nc -U \(fixture.socket)",
                "session 1 opened by \(peer)", "Content/Text/Size = 72 (was 64) by \(peer), rev 1",
                "session 1 of \(peer) closed: quit", "stopping",
            ])
        let news = fixture.events.all.filter { !$0.lines.isEmpty }
        #expect(news.map(\.isProblem) == [false, true, false, false, false, false, false])
        let levels = news.map { $0.lines[0].hasPrefix("session") ? "session: \($0.level)" : $0.level.rawValue }
        #expect(
            levels.sorted() == ["info", "info", "info", "info", "session: debug", "session: debug", "warning"])
    }

    /// Swift's statics are lazy: a program that passes none has no tweaks, although it declares them.
    @Test func aStartWithoutTweaksSaysSo() throws {
        try fixture.start(registry: TweakRegistry())
        let (line, _) = try fixture.events.next("warning") { event in
            event.lines.first { $0.hasPrefix("there are no tweaks") }
        }
        #expect(line.hasPrefix("there are no tweaks yet: pass them to the start (tweaks: "))
    }

    @Test func anExpiredOverrideAndAForeignProtocolAreLoggedInPlainWords() throws {
        let (daemon, client) = try fixture.withClient(fixture.start())
        try client.ask("set Content/Text/Size 72 for 10ms")
        let expired = "Content/Text/Size = 60 (was 72), expired, rev 2"
        try fixture.events.next("expiry") { $0.lines == [expired] ? true : nil }
        try fixture.connect(daemon).send("GET / HTTP/1.1\r\n\r\n")
        let closed = "session 2 of uid \(geteuid()) closed: the input is not the protocol"
        try fixture.events.next("end of the session") { $0.lines == [closed] ? true : nil }
    }

    @Test func aChangeHasOriginRevisionAndOldValues() throws {
        let client = try fixture.connect(fixture.start())
        try client.send("begin\nContent/Text/Size = 72\nContent/Text/Alignment = right\ncommit\n")
        let (commit, end) = try fixture.events.next("changed") { $0.changed }
        #expect(commit.origin == .user(geteuid()) && commit.revision == 1)
        #expect(
            commit.changes.map(\.description) == [
                "Content/Text/Size = 72 (was 60)", "Content/Text/Alignment = right (was left)",
            ])
        try #require(fixture.registry["Content/Text/Size"]).set(.number(80))
        let (own, next) = try fixture.events.next(from: end, "changed") { $0.changed }
        #expect(own.origin == .code && own.changes.map(\.old) == [.number(72)])
        // A set to the current value is no change.
        for _ in 0..<4 { _ = try client.reply() }
        try client.ask("Content/Text/Fade = 250ms")
        try client.ask("Content/Text/Size = 81")
        let (last, _) = try fixture.events.next(from: next, "changed") { $0.changed }
        #expect(last.revision == 4)
    }

    @Test func aLongTextIsShortenedInTheLog() throws {
        let client = try fixture.connect(fixture.start())
        try client.ask("Content/Text/String = \(String(repeating: "é", count: 30_000))")
        let line = try fixture.events.next("changed") { $0.changed != nil ? $0.description : nil }.value
        #expect(line.count < 1_100 && line.hasPrefix("Content/Text/String = \"éé"))
        #expect(line.contains("é … ") && line.contains(" more … é"))
        #expect(line.hasSuffix(" by uid \(geteuid()), rev 1"))
    }

    @Test func problemsAreMarked() throws {
        try FileManager.default.createDirectory(atPath: fixture.state, withIntermediateDirectories: true)
        try fixture.save("not JSON", at: fixture.overrides)
        try fixture.save("Content/Text/Size = 500\n")
        let daemon = try fixture.start(config: fixture.configFile, ["TWEAKS_SOKET": "x"])
        _ = Tweak("Content", "Text", "Size", 61.0, in: 10...100, registry: fixture.registry)
        try fixture.events.next("conflict") { if case .conflict = $0 { true } else { nil } }
        fixture.stop(daemon)
        let problems = fixture.events.all.filter(\.isProblem).map { $0.lines[0] }
        let starts = [
            "TWEAKS_SOKET is not used", "\(fixture.overrides) cannot be used", "\(fixture.config):1: out-of-range",
            "Content/Text/Size",
        ]
        #expect(problems.count == 4 && zip(problems, starts).allSatisfy { $0.hasPrefix($1) }, "\(problems)")
    }

    @Test func anInvalidStoredValueIsReportedAndKept() throws {
        let first = try fixture.start()
        try fixture.connect(first).ask("Content/Text/Size = 72")
        fixture.stop(first)
        let registry = TweakRegistry()
        let size = Tweak("Content", "Text", "Size", 30.0, in: 10...40, registry: registry)
        let start = fixture.events.all.count
        let second = try fixture.start(registry: registry)
        let (text, _) = try fixture.events.next(from: start, "unfit") { event in
            if case .unfit(let path, _) = event, path == size.path { event.description } else { nil }
        }
        #expect(text.hasPrefix("Content/Text/Size: the override of uid \(geteuid()) is not in effect: "))
        #expect(size.value == 30)
        // It is in effect again with the old definition.
        fixture.stop(second)
        let tweaks = ExampleTweaks()
        try fixture.start(registry: tweaks.registry).stop()
        #expect(tweaks.size.value == 72)
    }

    @Test func secretsAreNotLogged() throws {
        let (daemon, client) = try fixture.withClient(fixture.start(configText: "Player/Audio/Token = hunter2\n"))
        try client.ask("Player/Audio/Token = hunter3")
        try client.ask("reset Player/Audio/Token")
        fixture.stop(daemon)
        let lines = fixture.events.all.flatMap(\.lines)
        #expect(lines.contains { $0.contains("Player/Audio/Token = (set) by uid ") })
        #expect(!lines.contains { $0.contains("hunter") }, "\(lines)")
    }

    @Test func aBlockedHandlerDelaysNoSetReloadOrSession() throws {
        let gate = Gate()
        let isBlocked = Gate()
        let daemon = try fixture.start(config: fixture.configFile) { event in
            guard event.changed != nil else { return }
            isBlocked.open()
            gate.waitBlocking()
        }
        let client = try fixture.connect(daemon)
        #expect(try client.ask("Content/Text/Size = 70").last == "ok rev 1")
        isBlocked.waitBlocking()
        for value in 71...90 {
            #expect(try client.ask("Content/Text/Size = \(value)").last?.hasPrefix("ok rev ") == true)
        }
        try fixture.save("Content/Text/Alignment = right\n")
        try daemon.reload()
        #expect(try fixture.connect(daemon).ask("ping") == ["ok pong"])
        #expect(fixture.events.all.count { $0.changed != nil } == 0)
        gate.open()
        fixture.stop(daemon)
        #expect(fixture.events.all.compactMap(\.changed).last?.revision == fixture.registry.revision)
    }

    @Test func aHandlerCanStopItsDaemon() throws {
        let box = Mutex<TweakDaemon?>(nil)
        let daemon = try fixture.start { event in
            if event.changed != nil { box.withLock { $0 }?.stop() }
        }
        box.withLock { $0 = daemon }
        let client = try fixture.connect(daemon)
        try client.send("Content/Text/Size = 72\n")
        let lines = try client.restOfLines()
        #expect(lines[1] == "ok rev 1" && lines.last?.hasPrefix("error closing ") == true)
        client.endInput()
        try fixture.events.next("stopping") { if case .stopping = $0 { true } else { nil } }
        box.withLock { $0 = nil }
    }

    /// Each call of tweakctl opens a session, and closes it; what ends it otherwise is news.
    @Test(
        arguments: [
            (.created, .debug), (.opening, .debug), (.open, .debug), (.closed(.quit), .debug),
            (.closed(.endOfInput), .debug), (.closed(.lost), .debug), (.closed(.idle), .debug),
            (.closed(.shutdown), .debug), (.closed(.kicked), .info), (.closed(.limit), .info),
            (.closed(.revoked), .info),
            (.closed(.denied), .info), (.closed(.stranger), .info), (.failed(.denied), .warning),
            (.failed(.lost), .warning),
        ] as [(TweakSession.State, TweakDaemonEvent.Level)])
    func aSessionThatBeginsAndEndsByItselfIsADetail(_ state: TweakSession.State, _ level: TweakDaemonEvent.Level) {
        let session = TweakSession(
            id: 1, transport: .unix, peer: "uid 1000", userID: 1000, processID: nil, identity: .user(1000), scopes: [],
            state: state)
        let event = TweakDaemonEvent.session(TweakSessionEvent(session: session, kind: .state))
        #expect(event.level == level && event.isProblem == (level == .warning))
        let other = TweakDaemonEvent.session(TweakSessionEvent(session: session, kind: .kicked(2)))
        #expect(other.level == .info)
    }

    @Test(.enabled(if: Child.exists)) func theDefaultLogIsOneLineForEachEventOnStandardError() throws {
        try fixture.save("Probe/Int/T0 = 1\n")
        let child = try Child(in: fixture.directory.path, [], ["TWEAKS_CONFIG": fixture.config])
        try child.waitUntilReady()
        let client = try child.connect()
        try client.ask("Probe/Int/T0 = 2")
        try client.ask("Probe/Secret/Key = hunter2")
        try client.ask("quit")
        client.endInput()
        // A change is logged soon after its answer: a stop could overtake it.
        try child.waitForLine(containing: "rev 2")
        try child.stop()
        try child.waitForLine(containing: "(end)")
        let peer = "uid \(geteuid())"
        let path = fixture.directory.file("probe.sock")
        #expect(
            child.log.all == [
                "probe: overrides are kept in \(fixture.overrides), 0 overrides read",
                "probe: \(fixture.config): Probe/Int/T0: file sets 1 (default 0)",
                "probe: tweaks at unix socket \(path); try: nc -U \(path)",
                "probe: Probe/Int/T0 = 2 (was 1) by \(peer), rev 1",
                "probe: Probe/Secret/Key = (set) by \(peer), rev 2",
                "probe: stopping", "(end)",
            ])
    }
}
