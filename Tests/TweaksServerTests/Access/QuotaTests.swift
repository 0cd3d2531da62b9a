// Tests the quotas of a token: all its sessions share one, and other tokens are not affected.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import TweaksServer

@Suite(.blocking) struct QuotaTests {
    // MARK: Commits

    /// Sends sets from several clients; returns the number that were allowed.
    private func allowed(_ clients: [TestClient], setsOfEach count: Int) throws -> Int {
        for (number, client) in clients.enumerated() {
            try client.send((0..<count).map { "Content/Text/Size = \(10 + (number * count + $0) % 90).5\n" }.joined())
        }
        return try clients.reduce(0) { sum, client in
            try sum + (0..<count).map { _ in try client.status() }.count { $0.hasPrefix("ok rev ") }
        }
    }

    @Test func aTokensRateIsOneForAllItsSessions() throws {
        let server = try AccessServer(.token("slow", .write, rate: 5), .token("other", .write, rate: 5))
        let start = Moment.now
        let clients = try (0..<20).map { _ in try server.connect(as: "slow") }
        let first = try allowed(clients, setsOfEach: 5)
        // A new connection does not refill the bucket.
        let again = try allowed(try (0..<5).map { _ in try server.connect(as: "slow") }, setsOfEach: 2)
        let passed = (Moment.now - start) / .seconds(1)
        #expect(first >= 5 && Double(first + again) <= 5 + 5 * passed)
        #expect(try allowed([try server.connect(as: "other")], setsOfEach: 5) >= 5)
        server.pass(.seconds(2))
        #expect(try allowed([clients[0]], setsOfEach: 5) >= 5)
    }

    /// Each of the tokens that a session has shown is charged.
    @Test func aSecondTokenDoesNotEvadeTheRate() throws {
        let server = try AccessServer(.token("slow", .write, rate: 2), .token("fast", .write))
        let start = Moment.now
        let client = try server.connect(as: "slow")
        try client.ask("auth twk_fast")
        let count = try allowed([client], setsOfEach: 50)
        #expect(Double(count) <= 2 + 2 * ((Moment.now - start) / .seconds(1)))
    }

    @Test func aUsersRateIsOneForAllItsSessions() throws {
        let server = try AccessServer { $0.commitsPerSecond = 3 }
        let start = Moment.now
        let count = try allowed(try (0..<10).map { _ in try server.connect() }, setsOfEach: 5)
        #expect(count >= 3 && Double(count) <= 3 + 3 * ((Moment.now - start) / .seconds(1)))
    }

    @Test func eachRefusalByTheRateIsCounted() throws {
        let clock = ManualClock(wall: 1_000_000)
        let client = try AccessServer(clock: clock) { $0.commitsPerSecond = 1 }.connect()
        #expect(try client.status("Content/Text/Size = 61").hasPrefix("ok "))
        for request in ["Content/Text/Size = 62", "set Content/Text/Size 63", "reset Content/Text/Size"] {
            #expect(try client.status(request).hasPrefix("error too-many uid "))
        }
        #expect(try client.limitsHit() == ["commitsPerSecond 3"])
    }

    // MARK: Sessions

    @Test func aTokenHasItsShareOfSessions() throws {
        let server = try AccessServer(.token("ops", .read), .token("other", .read)) { $0.sessionsPerPeer = 3 }
        var ops = try (0..<3).map { _ in try server.connect(as: "ops") }
        let fourth = try server.connectTCP()
        let refusal = "error too-many 3 sessions of token ops are open; close one, or raise the limit"
        #expect(try fourth.ask("auth twk_ops") == [refusal])
        #expect(try fourth.status("get Content/Text/Size").hasPrefix("error auth-required "))
        // Other tokens at the same address can connect.
        let others = try (0..<3).map { _ in try server.connect(as: "other") }
        #expect(try others[2].ask("ping") == ["ok pong"])
        #expect(try server.connect().ask("ping") == ["ok pong"])
        // A token that is shown twice on a session counts once.
        #expect(try ops[0].status("auth twk_ops").hasPrefix("ok token ops "))
        ops.removeLast()
        server.stepped?.settle()
        #expect(try fourth.status("auth twk_ops").hasPrefix("ok token ops "))
    }

    // MARK: Presets and pending requests

    @Test func aTokenHasItsShareOfPresets() throws {
        let server = try AccessServer(
            .token("ops", .read, "write:Content"), .token("other", .read, "write:Content"),
            presets: try MemoryPresets()
        ) { $0.presetsPerPeer = 2 }
        let ops = try server.connect(as: "ops")
        for name in ["a", "b"] { #expect(try ops.status("save \(name)").hasPrefix("ok")) }
        let refusal = "error too-many 2 presets were saved by token ops; delete one of them, or save under its name"
        #expect(try ops.ask("save c") == [refusal])
        #expect(try server.connect(as: "ops").ask("save d") == [refusal])
        #expect(try server.connect(as: "other").status("save c").hasPrefix("ok"))
        // Sessions with all rights can also delete them.
        for name in ["x", "y", "z"] { #expect(try server.connect().status("save \(name)").hasPrefix("ok")) }
    }

    @Test func aTokenHasItsShareOfPendingRequests() throws {
        let released = Gate()
        let presets = try MemoryPresets(gate: (Gate(), released))
        let server = try AccessServer(.token("ops", .read), .token("other", .read), presets: presets) {
            $0.pendingRequestsPerPeer = 2
        }
        let waiting = try (0..<2).map { _ in try server.connect(as: "ops") }
        for client in waiting { try client.send("presets\n") }
        let third = try server.connect(as: "ops")
        let refusal = "error busy 2 requests of token ops are under way; wait for one of them"
        for request in ["presets", "find size", "complete l"] { #expect(try third.ask(request) == [refusal]) }
        #expect(try third.status("get Content/Text/Size") == "ok")
        #expect(try server.connect(as: "other").status("find size") == "ok")
        // The request of a closed session still counts.
        waiting[0].reset()
        server.stepped?.settle()
        #expect(try third.ask("find size") == [refusal])
        released.open()
        #expect(try waiting[1].status().hasPrefix("ok"))
        #expect(try third.status("find size") == "ok")
    }

    /// A request that begins as soon as a reply was sent is counted by itself; a wrong token is not counted at all.
    @Test func noPendingRequestIsLeaked() throws {
        let server = try AccessServer(.token("ops", .read)) { $0.pendingRequestsPerPeer = 1 }
        for _ in 1...3 {
            let client = try server.connect()
            try client.send("find size\nauth twk_wrong\n")
            #expect(try client.status() == "ok")
            client.reset()
            server.stepped?.settle()
        }
        server.pass(.seconds(60))
        #expect(try server.connect().status("find size") == "ok")
    }

    @Test func anAccountIsKeptWhileASessionUsesIt() {
        var (accounts, now) = (Accounts(), Moment.now)
        let (guest, idle) = (accounts.account("guest", now), accounts.account("idle", now))
        let session = Session(
            id: SessionID(number: 1, descriptor: -1), descriptor: Descriptor(-1),
            peer: Peer(address: "127.0.0.1", port: 1), isDenied: false, now: now, dialect: LineDialect(limit: 100))
        session.accounts.others = [guest]
        for number in 0..<200 { _ = accounts.account("\(number)", now) }
        #expect(accounts.account("guest", now) === guest)
        #expect(accounts.account("idle", now) !== idle)
        session.accounts.others = []
        now = now.advanced(by: .seconds(1))
        for number in 0..<200 { _ = accounts.account("\(number)", now) }
        #expect(accounts.account("guest", now) !== guest)
    }

    // MARK: Unauthenticated connections

    /// A client that has sent a request is likely to show a token.
    @Test(arguments: ["hello 1", "auth twk_wrong", "get Content"])
    func silentConnectionsYieldFirst(_ line: String) throws {
        let server = try AccessServer(.token("ops", .read)) { $0.unauthenticatedSessions = 4 }
        let typing = try server.connectTCP()
        try typing.ask(line)
        let silent = try (0..<65).map { _ in
            defer { server.stepped?.settle() }
            return try server.connectTCP()
        }
        #expect(try silent[0].restOfLines().last?.hasPrefix("error too-many others are waiting") == true)
        #expect(try typing.ask("auth twk_ops") == ["ok token ops may read"])
    }

    @Test func whereNoConnectionIsSilentTheOldestYields() throws {
        let server = try AccessServer(.token("ops", .read)) { $0.unauthenticatedSessions = 4 }
        let asking = try (0..<4).map { _ in try server.connectTCP() }
        for client in asking { try client.ask("hello 1") }
        let newcomer = try server.connectTCP()
        #expect(try asking[0].restOfLines().last?.hasPrefix("error too-many others are waiting") == true)
        #expect(try newcomer.ask("auth twk_ops") == ["ok token ops may read"])
    }

    // MARK: Descriptors

    /// (descriptors, reserve, configured sessions and share, effective sessions, share and refused sessions)
    @Test(
        arguments: [
            (1_048_576, 0.5, 4_096, 1_024, 4_096, 1_024, 64), (16_384, 0.5, 4_096, 1_024, 4_096, 1_024, 64),
            (1_024, 0.5, 4_096, 1_024, 432, 108, 64), (1_024, 0.5, 100, 50, 100, 50, 64),
            (1_024, 0, 4_096, 4_096, 944, 944, 64), (64, 0.5, 4_096, 1_024, 12, 3, 4), (4, 0.99, 4_096, 1_024, 1, 1, 1),
            (Int.max, 0, 4_096, 1_024, 4_096, 1_024, 64), (1_024, 0.5, .max, .max, 432, 432, 64),
            (1_024, 0.5, .max, 1_024, 432, 1, 64),
        ] as [(Int, Double, Int, Int, Int, Int, Int)])
    func sessionsFitTheDescriptors(
        _ descriptors: Int, _ reserve: Double, _ sessions: Int, _ share: Int, _ fitted: Int, _ fittedShare: Int,
        _ refused: Int
    ) {
        var limits = TweakServerLimits()
        (limits.sessions, limits.sessionsPerPeer, limits.descriptorReserve) = (sessions, share, reserve)
        let effective = limits.fitted(to: descriptors)
        #expect(effective.sessions == fitted && effective.sessionsPerPeer == fittedShare)
        #expect(effective.refusedSessions == refused)
        #expect((limits.warning(effective, descriptors: descriptors) == nil) == (fitted == sessions))
    }
}
