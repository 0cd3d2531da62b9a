// Every limit by its name: what hits it, what is answered then, and that stats counts it under that name.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// One limit, and how to hit it once.
struct LimitCase: Sendable, CustomTestStringConvertible {
    let limit: TweakLimit
    /// Makes it small.
    let change: @Sendable (inout TweakServerLimits) -> Void
    /// How the line begins that tells of it.
    let answer: String
    /// Hits it.
    /// - Returns: The last line that came of it.
    let hit: @Sendable (TestServer) throws -> String

    init(
        _ limit: TweakLimit, _ answer: String, _ change: @escaping @Sendable (inout TweakServerLimits) -> Void,
        _ hit: @escaping @Sendable (TestServer) throws -> String
    ) {
        (self.limit, self.answer, self.change, self.hit) = (limit, answer, change, hit)
    }

    var testDescription: String { limit.rawValue }

    /// One line of a client of its own, and the last line of what is answered.
    private static func ask(_ lines: String...) -> @Sendable (TestServer) throws -> String {
        { server in
            let client = try server.connect()
            try client.send(lines.map { $0 + "\n" }.joined())
            client.endInput()
            return try client.restOfLines().last ?? ""
        }
    }

    static let all = [
        LimitCase(.sessions, "error too-many 1 sessions are open", { $0.sessions = 1 }) { server in
            let first = try server.connect()
            try first.ask("ping")
            return try server.connect(.tcp4).restOfLines().last ?? ""
        },
        LimitCase(.sessionsPerPeer, "error too-many 1 sessions of yours", { $0.sessionsPerPeer = 1 }) { server in
            let first = try server.connect(.tcp4)
            try first.ask("ping")
            return try server.connect(.tcp4).restOfLines().last ?? ""
        },
        LimitCase(.lineBytes, "error too-long a line holds at most 8", { $0.lineBytes = 8 }, ask("123456789")),
        LimitCase(
            .batchChanges, "error too-many a batch holds at most 1", { $0.batchChanges = 1 },
            ask("begin", "Content/Text/Size = 70", "Content/Text/Size = 71")),
        LimitCase(
            .watchPatterns, "error too-many a session watches at most 1", { $0.watchPatterns = 1 },
            ask("watch Content Player")),
        LimitCase(
            .watchPatterns, "error too-many at most 1 patterns", { $0.watchPatterns = 1 }, ask("get Content Player")),
        LimitCase(.findWords, "error too-many find takes at most 1", { $0.findWords = 1 }, ask("find a b")),
        LimitCase(
            .actionArguments, "error too-many Player/Audio/Mute: an action takes at most 2",
            { $0.actionArguments = 2 }, ask("run Player/Audio/Mute 1 2 3")),
        LimitCase(
            .timeToFirstLine, "error timeout no line came", { $0.timeToFirstLine = .seconds(3_600) }
        ) { server in
            let client = try server.connect()
            // Who came later is answered, so that the first one is waited for.
            try server.connect().ask("ping")
            server.pass(.seconds(3_600))
            return try client.restOfLines().last ?? ""
        },
        LimitCase(.idleTime, "error timeout nothing came", { $0.idleTime = .seconds(3_600) }) { server in
            let client = try server.connect()
            try client.ask("ping")
            server.pass(.seconds(3_600))
            return try client.restOfLines().last ?? ""
        },
        LimitCase(.actionOutputBytes, "ok", { $0.actionOutputBytes = 3 }, ask("run Player/Audio/Mute")),
        LimitCase(.unsentBytes, "ok", { $0.unsentBytes = 10_000 }) { server in
            let client = try server.connect()
            // More than the sockets hold.
            let line = "get *" + String(repeating: " ", count: 100) + "\n"
            let sent = client.sendMeanwhile(String(repeating: line, count: 4_000))
            let other = try server.connect()
            try eventually { try LimitTableTests.figures(other).contains(where: { $0.hasPrefix("unsentBytes ") }) }
            for _ in 0..<4_000 { _ = try client.reply() }
            sent.waitBlocking()
            return "ok"
        },
        LimitCase(.history, "ok", { _ in }) { server in
            server.registry.historyLimit = 1
            for value in [70, 71] { try server.connect().ask("Content/Text/Size = \(value)") }
            return "ok"
        },
    ]
}

@Suite(.blocking) struct LimitTableTests {
    /// What stats says of the limits.
    static func figures(_ client: TestClient) throws -> [String] {
        let line = try client.ask("stats").first { $0.hasPrefix("  limitsHit: ") } ?? ""
        return line.dropFirst("  limitsHit: ".count).split(separator: ",").map { $0.drop { $0 == " " }.description }
    }

    @Test(arguments: LimitCase.all) func isAnsweredAndCounted(_ example: LimitCase) throws {
        var limits = TweakServerLimits()
        example.change(&limits)
        let server = try TestServer(limits: limits)
        let before = server.registry.revision
        #expect(try example.hit(server).hasPrefix(example.answer))
        if example.limit != .history { #expect(server.registry.revision == before) }
        // Where the first has the only place, it takes a moment until that is free again.
        var figures: [String] = []
        while figures.isEmpty {
            let other = try server.connect()
            figures = (try? Self.figures(other)) ?? []
        }
        #expect(figures.contains { $0.hasPrefix("\(example.limit.rawValue) ") }, "\(figures)")
    }

    /// A limit that is new needs a row, or a test beside the table: for these it stands where they are.
    @Test func noneIsMissing() {
        let elsewhere: Set<TweakLimit> = [
            .descriptors, .presets, .presetBytes, .unauthenticatedSessions, .unauthenticatedLineBytes,
            .timeToAuthenticate, .authenticationFailures, .scopes, .scopeRequests, .commitsPerSecond,
            .abandonedRequests, .pendingRequestsPerPeer, .presetsPerPeer,
            .memoryBytes,
        ]
        #expect(Set(LimitCase.all.map(\.limit)).union(elsewhere) == Set(TweakLimit.allCases))
        #expect(elsewhere.isDisjoint(with: LimitCase.all.map(\.limit)))
    }

    // MARK: Sessions of one peer

    /// A peer that has all it may have takes from itself, and from nobody else.
    @Test func theOldestOfThatPeerYields() throws {
        var limits = TweakServerLimits()
        limits.sessionsPerPeer = 3
        let server = try TestServer(limits: limits)
        let older = try server.connect(.tcp4)
        let known = try server.connect()
        try known.ask("ping")
        let (mute, third) = (try server.connect(), try server.connect())
        try third.ask("ping")
        try server.connect().ask("ping")
        let lines = try mute.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-many others are waiting"))
        #expect(try older.ask("ping") == ["ok pong"])
        #expect(try known.ask("ping") == ["ok pong"])
    }

    /// Refused ones linger to be read; a flood of them must not take the places of others.
    @Test func refusedOnesDoNotPileUp() throws {
        var limits = TweakServerLimits()
        limits.sessionsPerPeer = 1
        limits.fatalDrain.time = .seconds(3_600)
        limits.lingerTime = .seconds(3_600)
        let server = try TestServer(limits: limits)
        let (observer, known) = (try server.connect(), try server.connect(.tcp4))
        try observer.ask("ping")
        try known.ask("ping")
        let refused = try (0..<200).map { _ in try server.connect(.tcp4) }
        server.settle()
        #expect(try observer.ask("stats").contains("  connections: 202"))
        // Two that are served, and 64 that linger.
        #expect(try observer.ask("stats").contains("  sessions: 66"))
        for client in refused { #expect(try client.line().hasPrefix("error too-many 1 sessions of yours are open")) }
        #expect(try known.ask("ping") == ["ok pong"])
    }

    // MARK: Output of actions

    /// (text, limit, what is shown)
    @Test(
        arguments: [
            ("short", 5, nil), ("longer", 5, "longe"), ("ééé", 5, "éé"), ("aé", 1, "a"), ("é", 1, ""),
            ("👨‍👩‍👧‍👦!", 24, ""), ("a👨‍👩‍👧‍👦!", 25, "a"), ("a👨‍👩‍👧‍👦!", 26, "a👨‍👩‍👧‍👦"), ("", 0, nil), ("x", 0, ""),
            ("one\r\ntwo", 4, "one"), ("one\r\ntwo", 5, "one\r\n"),
        ] as [(String, Int, String?)])
    func outputIsCutBetweenCharacters(_ text: String, _ limit: Int, _ shown: String?) throws {
        var limits = TweakServerLimits()
        limits.actionOutputBytes = limit
        let registry = ExampleTweaks().registry
        tweakAction("A", "B", "Act", registry: registry) { _ in text }
        let client = try TestServer(registry: registry, limits: limits).connect()
        let plain = try client.ask("run A/B/Act")
        let remark = "  … cut: these are \(shown?.utf8.count ?? 0) of \(text.utf8.count) bytes"
        #expect(plain.contains(remark) == (shown != nil))
        #expect(plain.last == "ok")
        try client.send("json\nrun A/B/Act\n")
        let json = try client.lines(2)[1]
        #expect(json.contains(#""cutFromBytes":\#(text.utf8.count)"#) == (shown != nil))
        #expect(json.contains(#""output":\#(Quoting.json(shown ?? text))"#))
    }

    /// Hundreds of marks on one letter are one character, and would fill everything.
    @Test func anEndlessCharacterIsCut() throws {
        var limits = TweakServerLimits()
        limits.actionOutputBytes = 10_001
        let registry = ExampleTweaks().registry
        tweakAction("A", "B", "Act", registry: registry) { _ in "a" + String(repeating: "\u{301}", count: 50_000) }
        tweakAction("A", "B", "Fail", registry: registry) { _ in
            throw TweakError(.actionFailed, String(repeating: "é", count: 50_000))
        }
        let client = try TestServer(registry: registry, limits: limits).connect()
        let lines = try client.ask("run A/B/Act")
        #expect(lines.count == 3 && lines[0].utf8.count == 2 + 10_001)
        #expect(try client.ask("run A/B/Fail").last?.utf8.count == "error action-failed ".utf8.count + 10_000)
    }
}
