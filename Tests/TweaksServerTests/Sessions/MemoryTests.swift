// Tests the memory budget of all clients together: the session that uses most is closed first.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct MemoryTests {
    private static let name = String(repeating: "x", count: 100)

    /// A server whose listing takes 15 kB.
    private func server(_ bytes: Int) throws -> TestServer {
        let (registry, name) = (TweakRegistry(), Self.name)
        for number in 10..<70 { _ = Tweak(name, name, "\(name)\(number)", true, registry: registry) }
        for number in 10..<30 { _ = Tweak("Texts", "Of", "T\(number)", "", registry: registry) }
        // Closed sessions are read from later.
        return try TestServer(registry: registry) { ($0.memoryBytes, $0.lingerTime) = (bytes, .seconds(3_600)) }
    }

    private func memorySize(_ client: TestClient) throws -> Int { try #require(Int(try client.stats("heldBytes"))) }

    /// Requests whose replies exceed the socket buffers and the limit of unsent bytes.
    private static let flood = String(repeating: "get \(name)\n", count: 150)

    private static func text(_ letter: String, _ count: Int = 60_000) -> String {
        String(repeating: letter, count: count)
    }

    // MARK: Sessions

    @Test func clientsThatDoNotReadAreClosedFirst() throws {
        let (server, client, batch) = try server(1_000_000).withTwoClients()
        try batch.ask("begin")
        try batch.ask("Texts/Of/T10 = \(Self.text("y", 1_000))")
        var deaf: [TestClient] = []
        for _ in 0..<40 {
            deaf.append(try server.connect())
            try deaf.last?.send(Self.flood)
            #expect(try memorySize(client) <= 1_000_000)
        }
        #expect(try client.hasHit("memoryBytes"))
        #expect(try batch.status("commit") == "ok rev 1")
        // Each received the reason on a line of its own, or all replies.
        let closed = try deaf.count { client in
            client.endInput()
            let lines = try client.restOfLines()
            let isClosed = lines.last?.hasPrefix("error too-many clients may use 1000000 bytes of memory") == true
            #expect(isClosed || lines.count == 150 * 61)
            return isClosed
        }
        #expect(closed > 10)
        #expect(try memorySize(client) < 100_000)
    }

    @Test func anAnsweredSessionHoldsNothing() throws {
        let (_, client, other) = try server(64_000_000).withTwoClients()
        try client.ask("get Texts/Of/T10")
        let before = try memorySize(other)
        let gate = client.sendMeanwhile(String(repeating: "get Texts/Of/T10\n", count: 6_000))
        for _ in 0..<6_000 { _ = try client.reply() }
        gate.waitBlocking()
        try client.ask("get Texts/Of/T10")
        #expect(try memorySize(other) < before + 10_000)
    }

    @Test func endedSessionsThatDoNotReadAreClosedBeforeOthers() throws {
        let (server, client) = try server(700_000).withClient()
        var deaf: [TestClient] = []
        for _ in 0..<20 {
            deaf.append(try server.connect())
            // Each packet is read in another turn.
            for line in Array(repeating: "get \(Self.name)", count: 18) + ["quit"] {
                try deaf.last?.send("\(line)\n")
                server.settle()
            }
        }
        let others = try (0..<5).map { _ in try server.connect() }
        for other in others {
            try other.ask("begin")
            #expect(try other.status("Texts/Of/T10 = \(Self.text("y", 5_000))") == "ok queued")
        }
        #expect(try memorySize(client) <= 700_000)
        #expect(try client.hasHit("memoryBytes"))
        for other in others { #expect(try other.status("abort") == "ok aborted 1") }
    }

    /// A reply in progress retains the values that it shows, though they have changed since.
    @Test(arguments: ["history 1000", "get *"]) func valuesRetainedByRepliesCount(_ request: String) throws {
        let (server, client) = try server(10_000_000).withClient()
        var deaf: TestClient? = try server.connect()
        for number in 10..<30 {
            #expect(try client.status("Texts/Of/T\(number) = \(Self.text("a", 40_000))").hasPrefix("ok rev "))
        }
        let before = try memorySize(client)
        try deaf?.send("\(request)\n")
        server.settle()
        #expect(try memorySize(client) - before >= 800_000)
        deaf = nil
        server.settle()
        #expect(try memorySize(client) - before < 100_000)
    }

    @Test func batchesCount() throws {
        let (server, client) = try server(1_000_000).withClient()
        let writers = try (0..<10).map { _ in try server.connect() }
        for writer in writers {
            try writer.ask("begin")
            for number in 10..<14 {
                #expect(try writer.status("Texts/Of/T\(number) = \(Self.text("z"))") == "ok queued")
            }
            #expect(try memorySize(client) <= 1_000_000)
        }
        #expect(try client.ask("ping") == ["ok pong"])
        #expect(try client.hasHit("memoryBytes"))
        let replies = writers.map { writer in (try? writer.status("abort")) ?? (try? writer.line()) ?? "" }
        #expect((2...4).contains(replies.count { $0 == "ok aborted 4" }))
        #expect(replies.count { $0.hasPrefix("error too-many clients may use") } >= 6)
    }

    // MARK: Values and history

    @Test func textsHaveAShare() throws {
        let (server, client) = try server(1_000_000).withClient()
        for number in 10..<18 {
            #expect(try client.status("Texts/Of/T\(number) = \(Self.text("a"))").hasPrefix("ok rev "))
        }
        let revision = server.registry.revision
        let refusal = "error too-many texts that were set may take 500000 bytes of memory"
        for line in ["Texts/Of/T20 = \(Self.text("a"))", "set Texts/Of/T20 \(Self.text("a")) for 1h"] {
            #expect(try client.status(line).hasPrefix(refusal))
        }
        try client.ask("begin")
        #expect(try client.status("Texts/Of/T20 = \(Self.text("a"))") == "ok queued")
        #expect(try client.status("commit").hasPrefix(refusal))
        // As with other limits, the batch stays open.
        #expect(try client.status("abort") == "ok aborted 1")
        #expect(server.registry.revision == revision)
        // A text of the same length is no growth; a reset makes room.
        for line in [
            "Texts/Of/T10 = \(Self.text("b"))", "reset Texts/Of/T11", "Texts/Of/T20 = \(Self.text("a"))", "reset Texts",
        ] { #expect(try client.status(line).hasPrefix("ok rev ")) }
        #expect(server.registry.memorySize.values == 0)
    }

    @Test func theHistoryKeepsToItsShare() throws {
        let (server, client, other) = try server(1_000_000).withTwoClients()
        for number in 0..<60 {
            try client.ask("Texts/Of/T\(10 + number % 2) = \(Self.text("\(number % 10)"))")
            #expect(server.registry.memorySize.history <= 250_000)
        }
        // Short texts that become long ones.
        for number in 0..<60 {
            for text in ["a\(number)", Self.text("\(number % 10)")] {
                try [client, other][number % 2].ask("Texts/Of/T12 = \(text)")
            }
            #expect(server.registry.memorySize.history <= 250_000)
        }
        #expect(try client.status("undo").hasPrefix("ok rev "))
        #expect(try client.hasHit("history"))
        #expect(try memorySize(client) <= 1_000_000)
    }
}
