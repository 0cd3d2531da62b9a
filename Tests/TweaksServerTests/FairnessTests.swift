// Tests that short requests are served between the turns of long ones; the test runs each turn of the server.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct FairnessTests {
    private let registry = TweakRegistry()
    private let server: TurnByTurnServer

    init() throws {
        _ = Tweak("A", "B", "C", 0, registry: registry)
        server = try TurnByTurnServer(registry: registry)
    }

    /// Sends sets from several clients. Each has a value of its own, so that the revision counts them.
    private func flood(_ clients: [TestClient], count: Int) throws {
        for (number, client) in clients.enumerated() {
            try client.send((1...count).map { "set A/B/C \(number * count + $0)\n" }.joined())
        }
    }

    @Test(arguments: [false, true]) func aShortRequestWaitsForOneTurn(_ isWatched: Bool) throws {
        let watcher = try server.connect()
        if isWatched {
            try watcher.send("watch A\n")
            server.turn(3)
            #expect(try watcher.lines(2).last == "ok rev 0 watching 1")
        }
        let (clients, other) = (try (0..<10).map { _ in try server.connect() }, try server.connect())
        try flood(clients, count: 2_000)
        server.turn(20)
        let before = registry.revision
        #expect(before > 0)
        try other.send("ping\n")
        server.turn()
        #expect(try other.line() == "ok pong")
        #expect(registry.revision - before <= 32)
    }

    @Test func sessionsTakeTurns() throws {
        let clients = try (0..<3).map { _ in try server.connect() }
        // Few enough for the unread replies to fit into the buffers.
        try flood(clients, count: 300)
        server.turn(10)
        for client in clients { #expect(try client.line().hasPrefix("A/B/C = ")) }
        #expect(registry.revision < 900)
        var turns = 0
        while registry.revision < 900, turns < 10_000 {
            server.turn()
            turns += 1
        }
        #expect(registry.revision == 900)
    }

    @Test func aLongReplyIsSentInPartsAndOthersAreServedBetweenThem() throws {
        for number in 0..<5_000 { _ = Tweak("Many", "Of", "Them\(number)", 0, registry: registry) }
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("get *\n")
        server.turn(2)
        #expect(server.stepped.isBusy)
        try other.send("ping\n")
        server.turn()
        #expect(try other.line() == "ok pong")
        #expect(server.stepped.isBusy)
        while server.stepped.isBusy {
            server.turn()
            _ = try client.line()
        }
    }
}
