// Who asks for little is served between the turns of those who ask for much; each turn of the server is taken by hand.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct FairnessTests {
    private let directory: TemporaryDirectory
    private let registry = TweakRegistry()
    private let server: SteppedServer

    init() throws {
        directory = try TemporaryDirectory()
        _ = Tweak("A", "B", "C", 0, registry: registry)
        var limits = TweakServerLimits()
        // The shortest turns there are: what cannot be divided.
        (limits.turn, limits.watchedTurn) = (.zero, .zero)
        server = try SteppedServer(
            at: try SteppedServer.Place(socketPath: directory.file("socket")), registry: registry, limits: limits,
            hooks: TweakServerHooks())
    }

    private func connect() throws -> TestClient {
        let (client, count) = (try TestClient(unix: directory.file("socket")), server.sessionCount)
        while server.sessionCount == count { server.turn(patience: 100) }
        return client
    }

    /// Each set has a value of its own, so that the revision counts them.
    private func flood(_ client: TestClient, from first: Int, count: Int = 2_000) throws {
        try client.send((first..<first + count).map { "set A/B/C \($0)\n" }.joined())
    }

    private func turn(_ count: Int) { for _ in 0..<count { server.turn(patience: 0) } }

    @Test(arguments: [false, true]) func aPoliteOneWaitsForOneTurn(_ isWatched: Bool) throws {
        let watcher = try connect()
        if isWatched {
            try watcher.send("watch A\n")
            turn(3)
            #expect(try watcher.lines(2).last == "ok rev 0 watching 1")
        }
        let (floods, polite) = (try (0..<10).map { _ in try connect() }, try connect())
        for (number, client) in floods.enumerated() { try flood(client, from: 1 + number * 2_000) }
        turn(20)
        let before = registry.revision
        #expect(before > 0)
        try polite.send("ping\n")
        turn(1)
        #expect(try polite.line() == "ok pong")
        #expect(registry.revision - before <= 32)
    }

    @Test func turnsGoAround() throws {
        let floods = try (0..<3).map { _ in try connect() }
        // So few that their replies find room where nobody has read yet.
        for (number, client) in floods.enumerated() { try flood(client, from: 1 + number * 1_000, count: 1_000) }
        turn(30)
        // Each has been answered something, and none all of it.
        for client in floods { #expect(try client.line().hasPrefix("A/B/C = ")) }
        #expect(registry.revision < 3_000)
        var turns = 0
        while registry.revision < 3_000, turns < 10_000 {
            turn(1)
            turns += 1
        }
        #expect(registry.revision == 3_000)
    }

    /// A reply of many lines is sent in parts, and others are served between them.
    @Test func aLongReplyIsDivided() throws {
        for number in 0..<5_000 { _ = Tweak("Many", "Of", "Them\(number)", 0, registry: registry) }
        let (greedy, polite) = (try connect(), try connect())
        try greedy.send("get *\n")
        turn(2)
        #expect(server.isBusy)
        try polite.send("ping\n")
        turn(1)
        #expect(try polite.line() == "ok pong")
        #expect(server.isBusy)
        while server.isBusy {
            turn(1)
            _ = try greedy.line()
        }
    }
}
