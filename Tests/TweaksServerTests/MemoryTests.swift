// Tests the memory budget: one for all that clients can make the process hold, and the greediest loses first.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct MemoryTests {
    private static let name = String(repeating: "x", count: 100)

    /// A registry whose listing takes 15 kB.
    private static func registry() -> TweakRegistry {
        let registry = TweakRegistry()
        for number in 10..<70 { _ = Tweak(name, name, "\(name)\(number)", true, registry: registry) }
        for number in 10..<30 { _ = Tweak("Texts", "Of", "T\(number)", "", registry: registry) }
        return registry
    }

    private func server(_ bytes: Int) throws -> TestServer {
        var limits = TweakServerLimits()
        limits.memoryBytes = bytes
        // Those that are ended are read from later.
        limits.lingerTime = .seconds(3_600)
        return try TestServer(registry: Self.registry(), limits: limits)
    }

    private func held(_ client: TestClient) throws -> Int {
        let line = try client.ask("stats").first { $0.hasPrefix("  heldBytes: ") }
        return try #require(line.flatMap { Int($0.dropFirst("  heldBytes: ".count)) })
    }

    /// More than sockets and one session's share of unsent bytes hold.
    private static let flood = String(repeating: "get \(name)\n", count: 150)

    // MARK: Sessions

    @Test func thoseWhoDoNotReadLose() throws {
        let server = try server(1_000_000)
        let (polite, batch) = (try server.connect(), try server.connect())
        try batch.ask("begin")
        try batch.ask("Texts/Of/T10 = \(String(repeating: "y", count: 1_000))")
        var deaf: [TestClient] = []
        for _ in 0..<40 {
            deaf.append(try server.connect())
            try deaf.last?.send(Self.flood)
            #expect(try held(polite) <= 1_000_000)
        }
        #expect(try LimitTableTests.figures(polite).contains { $0.hasPrefix("memoryBytes ") })
        #expect(try batch.ask("commit").last == "ok rev 1")
        // Each was told, on a line of its own; or has all it asked for.
        var lost = 0
        for client in deaf {
            client.endInput()
            let lines = try client.restOfLines()
            let error = "error too-many clients may have this process hold 1000000 bytes"
            let isTold = lines.last?.hasPrefix(error) == true
            #expect(isTold || lines.count == 150 * 61)
            lost += isTold ? 1 : 0
        }
        #expect(lost > 10)
        #expect(try held(polite) < 100_000)
    }

    /// A session that has been answered holds nothing of what it asked in one go.
    @Test func restingSessionsHoldNothing() throws {
        let server = try server(64_000_000)
        let (client, other) = (try server.connect(), try server.connect())
        try client.ask("get Texts/Of/T10")
        let before = try held(other)
        let gate = client.sendMeanwhile(String(repeating: "get Texts/Of/T10\n", count: 6_000))
        for _ in 0..<6_000 { _ = try client.reply() }
        gate.waitBlocking()
        try client.ask("get Texts/Of/T10")
        #expect(try held(other) < before + 10_000)
    }

    /// Those that have said their last word and do not read count, too, and go before others do.
    @Test func thoseWhoHaveEndedLose() throws {
        let server = try server(1_000_000)
        let polite = try server.connect()
        var deaf: [TestClient] = []
        for _ in 0..<20 {
            deaf.append(try server.connect())
            // Each packet brings another turn.
            for line in Array(repeating: "get \(Self.name)", count: 18) + ["quit"] {
                try deaf.last?.send("\(line)\n")
                server.settle()
            }
        }
        let others = try (0..<6).map { _ in try server.connect() }
        for client in others {
            try client.ask("begin")
            #expect(try client.ask("Texts/Of/T10 = \(String(repeating: "y", count: 50_000))").last == "ok queued")
        }
        #expect(try held(polite) <= 1_000_000)
        #expect(try LimitTableTests.figures(polite).contains { $0.hasPrefix("memoryBytes ") })
        for client in others { #expect(try client.ask("abort").last == "ok aborted 1") }
    }

    /// A reply that is made while it is sent keeps what it shows, though others have changed that meanwhile.
    @Test(arguments: ["history 1000", "get *"]) func whatRepliesKeepCounts(_ request: String) throws {
        let server = try server(10_000_000)
        let polite = try server.connect()
        var deaf: TestClient? = try server.connect()
        for number in 10..<30 {
            let text = String(repeating: "a", count: 40_000)
            #expect(try polite.ask("Texts/Of/T\(number) = \(text)").last?.hasPrefix("ok rev ") == true)
        }
        let before = try held(polite)
        try deaf?.send("\(request)\n")
        server.settle()
        let growth = try held(polite) - before
        #expect(growth >= 800_000)
        deaf = nil
        server.settle()
        let rest = try held(polite) - before
        #expect(rest < 100_000)
    }

    /// What is held by many sessions of a batch each is held all the same.
    @Test func batchesCount() throws {
        let server = try server(1_000_000)
        let polite = try server.connect()
        let text = String(repeating: "z", count: 60_000)
        let clients = try (0..<10).map { _ in try server.connect() }
        for client in clients {
            try client.ask("begin")
            for number in 10..<14 { #expect(try client.ask("Texts/Of/T\(number) = \(text)").last == "ok queued") }
            #expect(try held(polite) <= 1_000_000)
        }
        #expect(try polite.ask("ping") == ["ok pong"])
        #expect(try LimitTableTests.figures(polite).contains { $0.hasPrefix("memoryBytes ") })
        let replies = clients.map { client in (try? client.ask("abort").last) ?? (try? client.line()) ?? "" }
        #expect((2...4).contains(replies.count { $0 == "ok aborted 4" }))
        #expect(replies.count { $0.hasPrefix("error too-many clients may have this process hold") } >= 6)
    }

    // MARK: Values and history

    @Test func textsHaveAShare() throws {
        let server = try server(1_000_000)
        let client = try server.connect()
        let text = { (letter: String) in String(repeating: letter, count: 60_000) }
        for number in 10..<18 {
            #expect(try client.ask("Texts/Of/T\(number) = \(text("a"))").last?.hasPrefix("ok rev ") == true)
        }
        let revision = server.registry.revision
        let refusal = "error too-many texts that were set may take 500000 bytes of memory"
        for line in ["Texts/Of/T20 = \(text("a"))", "set Texts/Of/T20 \(text("a")) for 1h"] {
            #expect(try client.ask(line).last?.hasPrefix(refusal) == true)
        }
        try client.send("begin\nTexts/Of/T20 = \(text("a"))\n")
        #expect(try (client.reply() + client.reply()).last == "ok queued")
        #expect(try client.ask("commit").last?.hasPrefix(refusal) == true)
        // As with other limits it stays, to be tried again.
        #expect(try client.ask("abort").last == "ok aborted 1")
        #expect(server.registry.revision == revision)
        // In place of another as long it is no growth; and a reset makes room.
        #expect(try client.ask("Texts/Of/T10 = \(text("b"))").last?.hasPrefix("ok rev ") == true)
        #expect(try client.ask("reset Texts/Of/T11").last?.hasPrefix("ok rev ") == true)
        #expect(try client.ask("Texts/Of/T20 = \(text("a"))").last?.hasPrefix("ok rev ") == true)
        #expect(try client.ask("reset Texts").last?.hasPrefix("ok rev ") == true)
        #expect(server.registry.heldBytes.values == 0)
    }

    @Test func theHistoryKeepsToItsShare() throws {
        let server = try server(1_000_000)
        let client = try server.connect()
        for number in 0..<60 {
            let text = String(repeating: "\(number % 10)", count: 60_000)
            try client.ask("Texts/Of/T\(10 + number % 2) = \(text)")
            #expect(server.registry.heldBytes.history <= 250_000)
        }
        // Short ones that become long ones.
        let other = try server.connect()
        for number in 0..<60 {
            for text in ["a\(number)", String(repeating: "\(number % 10)", count: 60_000)] {
                try [client, other][number % 2].ask("Texts/Of/T12 = \(text)")
            }
            #expect(server.registry.heldBytes.history <= 250_000)
        }
        #expect(try client.ask("undo").last?.hasPrefix("ok rev ") == true)
        #expect(try LimitTableTests.figures(client).contains { $0.hasPrefix("history ") })
        #expect(try held(client) <= 1_000_000)
    }
}
