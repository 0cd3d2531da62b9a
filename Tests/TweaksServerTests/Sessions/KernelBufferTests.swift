// Tests that the kernel's buffers of all connections together stay within the memory budget.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct KernelBufferTests {
    private static let budget = 8_388_608

    private func server(_ budget: Int = budget, lingers: Duration = .seconds(5)) throws -> TestServer {
        let registry = TweakRegistry()
        for number in 0..<500 { _ = Tweak("Many", "Of", "T\(number)", 0, help: "x", registry: registry) }
        return try TestServer(registry: registry) {
            $0.memoryBytes = budget
            $0.lingerTime = lingers
        }
    }

    /// What arrives at clients that have not read is what the kernel held for them.
    @Test(arguments: Transport.available)
    func clientsThatDoNotReadFillNoMoreThanTheirShare(_ transport: Transport) throws {
        let (server, count) = (try server(), 120)
        let flood = String(repeating: "get *\n", count: 40)
        let deaf = try (0..<count).map { _ in
            let client = try server.connect(transport)
            try client.send(flood)
            return client
        }
        let other = try server.connect()
        // A turn may exceed the budget until its end.
        server.settle()
        #expect(try Int(other.stats("heldBytes")) ?? .max <= Self.budget)
        // Over TCP the rest is in the clients' receive buffers, which this process does not hold.
        let inKernel =
            try transport == .unix
            ? deaf.map { try $0.arrivedBytes() } : SocketQueues.all(of: server.server.port ?? 0, transport).map(\.sent)
        // The kernel's table changes while it is read.
        let isKnown = transport == .unix || hasSocketTable && transport == .tcp4
        #expect(!isKnown || inKernel.count >= count / 2)
        #expect(inKernel.reduce(0, +) <= Self.budget / 4)
        #expect(inKernel.allSatisfy { $0 <= 32_768 })
    }

    /// Where the server stops sending, the kernel must not call the socket writable, at any number of unsent bytes.
    @Test(arguments: Transport.available) func aFullBufferCausesNoTurns(_ transport: Transport) throws {
        let server = try server()
        let deaf = try (1...12).map { count in
            let client = try server.connect(transport)
            for _ in 0..<3 {
                let request = Array(String(repeating: "get *\n", count: count).utf8)
                send(client.number, request, request.count, Int32(MSG_DONTWAIT))
                try #require(server.settle(atMost: 1_000))
            }
            return client
        }
        #expect(server.stepped.map { $0.unsentBytes > 0 } ?? false)
        withExtendedLifetime(deaf) {}
    }

    @Test func theBuffersShrinkWithTheNumberOfSessions() throws {
        let server = try server(67_108_864)
        func held() throws -> Int {
            let client = try server.connect()
            try client.send(String(repeating: "get *\n", count: 100))
            return try client.arrivedBytes()
        }
        let alone = try held()
        let others = try (0..<400).map { _ in try server.connect() }
        #expect(try held() < alone / 4)
        withExtendedLifetime(others) {}
    }

    /// A small buffer must not make a reader wait for timers of the kernel.
    @Test(arguments: Transport.available) func aLongReplyArrivesThroughSmallBuffers(_ transport: Transport) throws {
        let server = try server()
        let others = try (0..<300).map { _ in try server.connect(transport) }
        let client = try server.connect(transport)
        for _ in 0..<20 { #expect(try client.ask("get *").count == 501) }
        withExtendedLifetime(others) {}
    }

    // MARK: Input that is not read

    /// Sends lines until neither the kernel nor the server takes more.
    private func fill(_ client: TestClient, _ server: TestServer) {
        let bytes = [UInt8](repeating: 0x0A, count: 65_536)
        var rounds = 0
        while rounds < 3 {
            let count = send(client.number, bytes, bytes.count, Int32(MSG_DONTWAIT))
            rounds = count > 0 ? 0 : rounds + 1
            server.settle()
        }
    }

    @Test(.enabled(if: Transport.available.contains(.tcp4)), .enabled(if: hasSocketTable, "there is no /proc/net"))
    func receiveBuffersHaveAFixedSizeAndCount() throws {
        let (server, count) = (try server(), 20)
        let other = try server.connect()
        var deaf = try (0..<count).map { _ in
            let client = try server.connect(.tcp4)
            try client.send(String(repeating: "get *\n", count: 40))
            return client
        }
        for client in deaf { fill(client, server) }
        let received = SocketQueues.all(of: server.server.port ?? 0).map(\.received)
        #expect(received.count >= count / 2)
        #expect(received.contains { $0 > 0 })
        #expect(received.allSatisfy { $0 <= 16_384 })
        let held = try #require(Int(try other.stats("heldBytes")))
        #expect(held >= count * 8_192 && held <= Self.budget)
        // Of those that are closed nothing is counted.
        deaf = []
        server.settle()
        #expect(try #require(Int(try other.stats("heldBytes"))) <= held - count * 8_192)
    }

    // MARK: What ended sessions leave

    private enum Ending: CaseIterable { case quit, closedSide, memory }

    /// Replies of many lengths: some fit into the kernel's buffers, so that the session is closed with unread bytes there.
    @Test(
        .enabled(if: Transport.available.contains(.tcp4)), .enabled(if: hasSocketTable, "there is no /proc/net"),
        arguments: Ending.allCases)
    private func endedSessionsLeaveNothingInTheKernel(_ ending: Ending) throws {
        let server = try server(ending == .memory ? 1_000_000 : 67_108_864)
        // Slices of time decide how much is generated for each; so many exceed the budget in any case.
        let clients = try (1...(ending == .memory ? 120 : 16)).map { number in
            let client = try server.connect(.tcp4)
            let count = ending == .memory ? 40 : number
            try client.send(String(repeating: "get *\n", count: count) + (ending == .quit ? "quit\n" : ""))
            if ending == .closedSide { client.endInput() }
            server.settle()
            return client
        }
        let port = server.server.port ?? 0
        #expect(SocketQueues.all(of: port).contains { $0.sent > 0 })
        // Those that are still sending have the same time once more.
        for _ in 0..<2 { server.pass(.seconds(6)) }
        if ending == .memory {
            let hits = try server.connect().limitsHit()
            #expect(hits.contains { $0.hasPrefix("memoryBytes ") }, "\(hits)")
        }
        let left = SocketQueues.all(of: port).filter(\.hasEnded).map(\.sent)
        #expect(left.reduce(0, +) == 0)
        withExtendedLifetime(clients) {}
    }

    /// An end that a client cannot acknowledge is no byte of a reply.
    @Test(.enabled(if: Transport.available.contains(.tcp4)), .enabled(if: hasSocketTable, "there is no /proc/net"))
    func theEndOfAStreamIsNotCounted() throws {
        let listener = try BoundSocket(loopback: .version4)
        let client = try TestClient(port: listener.port)
        let peer = try listener.accepted()
        defer { close(peer) }
        let bytes = [UInt8](repeating: 0x0A, count: 65_536)
        while send(peer, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
        func sent() throws -> Int { try #require(SocketQueues.all(of: listener.port).first).sent }
        let before = try sent()
        try #require(before > 0)
        shutdown(peer, Int32(SHUT_WR))
        // The client may acknowledge more in between.
        #expect(try sent() <= before)
        withExtendedLifetime(client) {}
    }

    /// Nothing of a reply is lost, wherever it waits when the client closes its side.
    @Test(arguments: Transport.available) func aClientThatReadsLateGetsAllReplies(_ transport: Transport) throws {
        let server = try server(67_108_864, lingers: .seconds(3_600))
        let clients = try (1...10).map { count in
            let client = try server.connect(transport)
            try client.send(String(repeating: "get *\n", count: count))
            client.endInput()
            server.settle()
            return client
        }
        server.pass(.seconds(1_800))
        for (number, client) in clients.enumerated() {
            #expect(try client.restOfLines().count == 501 * (number + 1))
        }
    }
}

private let hasSocketTable = FileManager.default.fileExists(atPath: "/proc/net/tcp")
