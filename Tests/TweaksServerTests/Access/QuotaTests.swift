// Tests the quotas of a token: one for all its sessions, which takes nothing from others.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import TweaksServer

@Suite(.blocking) struct QuotaTests {
    // MARK: Commits

    /// Sets, over all of some clients, and how many were allowed.
    private func allowed(_ clients: [TestClient], setsOfEach count: Int) throws -> Int {
        for (number, client) in clients.enumerated() {
            try client.send((0..<count).map { "Content/Text/Size = \(10 + (number * count + $0) % 90).5\n" }.joined())
        }
        return try clients.reduce(0) { sum, client in
            let replies = try (0..<count).map { _ in try client.reply().last ?? "" }
            return sum + replies.count { $0.hasPrefix("ok rev ") }
        }
    }

    @Test func aTokensRateIsOneForAllItsSessions() throws {
        let server = try AccessServer(.token("slow", .write, rate: 5), .token("other", .write, rate: 5))
        let start = Moment.now
        let clients = try (0..<20).map { _ in try server.connect(as: "slow") }
        let first = try allowed(clients, setsOfEach: 5)
        // Connecting again gives nothing back.
        let again = try allowed(try (0..<5).map { _ in try server.connect(as: "slow") }, setsOfEach: 2)
        let passed = (Moment.now - start) / .seconds(1)
        #expect(first >= 5 && Double(first + again) <= 5 + 5 * passed)
        // Another one has all of its own.
        #expect(try allowed([try server.connect(as: "other")], setsOfEach: 5) >= 5)
        server.pass(.seconds(2))
        #expect(try allowed([clients[0]], setsOfEach: 5) >= 5)
    }

    /// Each of the tokens that a session has shown is charged.
    @Test func aSecondTokenIsNoWayAround() throws {
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

    @Test("each refusal counts, of a plain assignment as of a command")
    func refusalsCount() throws {
        let server = try AccessServer { $0.commitsPerSecond = 1 }
        let client = try server.connect()
        #expect(try client.ask("Content/Text/Size = 61").last?.hasPrefix("ok ") == true)
        for request in ["Content/Text/Size = 62", "set Content/Text/Size 63", "reset Content/Text/Size"] {
            #expect(try client.ask(request).last?.hasPrefix("error too-many uid ") == true)
        }
        #expect(try client.ask("stats").contains("  limitsHit: commitsPerSecond 3"))
    }

    // MARK: Sessions

    @Test func aTokenHasItsShareOfSessions() throws {
        let server = try AccessServer(.token("ops", .read), .token("other", .read)) { $0.sessionsPerPeer = 3 }
        var ops = try (0..<3).map { _ in try server.connect(as: "ops") }
        let fourth = try server.connectTCP()
        #expect(
            try fourth.ask("auth twk_ops") == [
                "error too-many 3 sessions of token ops are open; close one, or raise the limit"
            ])
        #expect(try fourth.ask("get Content/Text/Size").last?.hasPrefix("error auth-required ") == true)
        // The address that they all come from has room for others.
        let others = try (0..<3).map { _ in try server.connect(as: "other") }
        #expect(try others[2].ask("ping") == ["ok pong"])
        #expect(try server.connect().ask("ping") == ["ok pong"])
        // Shown twice on one session it is one.
        #expect(try ops[0].ask("auth twk_ops").last?.hasPrefix("ok token ops ") == true)
        ops.removeLast()
        server.stepped?.settle()
        #expect(try fourth.ask("auth twk_ops").last?.hasPrefix("ok token ops ") == true)
    }

    // MARK: Presets

    @Test func aTokenHasItsShareOfPresets() throws {
        let server = try AccessServer(
            .token("ops", .read, "write:Content"), .token("other", .read, "write:Content"),
            presets: try MemoryPresets()
        ) { $0.presetsPerPeer = 2 }
        let ops = try server.connect(as: "ops")
        for name in ["a", "b"] { #expect(try ops.ask("save \(name)").last?.hasPrefix("ok") == true) }
        let refusal = "error too-many 2 presets were saved by token ops; delete one of them, or save under its name"
        #expect(try ops.ask("save c") == [refusal])
        #expect(try server.connect(as: "ops").ask("save d") == [refusal])
        #expect(try server.connect(as: "other").ask("save c").last?.hasPrefix("ok") == true)
        // Who may do everything can also delete them.
        for name in ["x", "y", "z"] { #expect(try server.connect().ask("save \(name)").last?.hasPrefix("ok") == true) }
    }

    // MARK: Requests under way

    @Test func aTokenHasItsShareOfPendingRequests() throws {
        let goOn = Gate()
        let presets = try MemoryPresets(gate: (Gate(), goOn))
        let server = try AccessServer(.token("ops", .read), .token("other", .read), presets: presets) {
            $0.pendingRequestsPerPeer = 2
        }
        let waiting = try (0..<2).map { _ in try server.connect(as: "ops") }
        for client in waiting { try client.send("presets\n") }
        let third = try server.connect(as: "ops")
        let refusal = "error busy 2 requests of token ops are under way; wait for one of them"
        for request in ["presets", "find size", "complete l"] { #expect(try third.ask(request) == [refusal]) }
        #expect(try third.ask("get Content/Text/Size").last == "ok")
        #expect(try server.connect(as: "other").ask("find size").last == "ok")
        // Leaving does not make it less.
        waiting[0].reset()
        server.stepped?.settle()
        #expect(try third.ask("find size") == [refusal])
        goOn.open()
        #expect(try waiting[1].reply().last?.hasPrefix("ok") == true)
        #expect(try third.ask("find size").last == "ok")
    }

    /// What a session begins as soon as its answer has come is counted by itself; a wrong token is no work at all.
    @Test func noRequestIsLeftBehind() throws {
        let server = try AccessServer(.token("ops", .read)) { $0.pendingRequestsPerPeer = 1 }
        for _ in 1...3 {
            let client = try server.connect()
            try client.send("find size\nauth twk_wrong\n")
            #expect(try client.reply().last == "ok")
            client.reset()
            server.stepped?.settle()
        }
        server.pass(.seconds(60))
        #expect(try server.connect().ask("find size").last == "ok")
    }

    /// An account is known as long as a session commits for it, so that its budget is one.
    @Test func anAccountInUseIsNotForgotten() {
        var (accounts, now) = (Accounts(), Moment.now)
        let (guest, idle) = (accounts.account("guest", now), accounts.account("idle", now))
        let session = Session(
            id: SessionID(number: 1, descriptor: -1), descriptor: Descriptor(-1),
            peer: Peer(address: "127.0.0.1", port: 1), isDenied: false, now: now, dialect: LineDialect(limit: 100))
        session.payer.otherAccounts = [guest]
        for number in 0..<200 { _ = accounts.account("\(number)", now) }
        #expect(accounts.account("guest", now) === guest)
        #expect(accounts.account("idle", now) !== idle)
        session.payer.otherAccounts = []
        now = now.advanced(by: .seconds(1))
        for number in 0..<200 { _ = accounts.account("\(number)", now) }
        #expect(accounts.account("guest", now) !== guest)
    }

    // MARK: Strangers

    /// Who has asked something is on its way to show a token; silent ones go first.
    @Test(arguments: ["hello 1", "auth twk_wrong", "get Content"]) func silentStrangersYieldFirst(_ line: String) throws
    {
        let server = try AccessServer(.token("ops", .read)) { $0.unauthenticatedSessions = 4 }
        let typing = try server.connectTCP()
        try typing.ask(line)
        var silent: [TestClient] = []
        for _ in 0..<65 {
            silent.append(try server.connectTCP())
            server.stepped?.settle()
        }
        #expect(try silent[0].restOfLines().last?.hasPrefix("error too-many others are waiting") == true)
        #expect(try typing.ask("auth twk_ops") == ["ok token ops may read"])
    }

    /// Where all have asked something, the oldest yields, and a newcomer has its turn.
    @Test func aNewcomerIsNotShutOut() throws {
        let server = try AccessServer(.token("ops", .read)) { $0.unauthenticatedSessions = 4 }
        let asking = try (0..<4).map { _ in try server.connectTCP() }
        for client in asking { try client.ask("hello 1") }
        let newcomer = try server.connectTCP()
        #expect(try asking[0].restOfLines().last?.hasPrefix("error too-many others are waiting") == true)
        #expect(try newcomer.ask("auth twk_ops") == ["ok token ops may read"])
    }

    // MARK: Descriptors

    /// (descriptors, reserve, sessions and share wished for, what is in force)
    @Test(
        arguments: [
            (1_048_576, 0.5, 4_096, 1_024, 4_096, 1_024, 64), (16_384, 0.5, 4_096, 1_024, 4_096, 1_024, 64),
            (1_024, 0.5, 4_096, 1_024, 432, 108, 64), (1_024, 0.5, 100, 50, 100, 50, 64),
            (1_024, 0, 4_096, 4_096, 944, 944, 64), (64, 0.5, 4_096, 1_024, 12, 3, 4), (4, 0.99, 4_096, 1_024, 1, 1, 1),
            (Int.max, 0, 4_096, 1_024, 4_096, 1_024, 64),
        ] as [(Int, Double, Int, Int, Int, Int, Int)])
    func sessionsFitTheDescriptors(
        _ descriptors: Int, _ reserve: Double, _ sessions: Int, _ share: Int, _ fitted: Int, _ fittedShare: Int,
        _ refused: Int
    ) {
        var limits = TweakServerLimits()
        (limits.sessions, limits.sessionsPerPeer, limits.descriptorReserve) = (sessions, share, reserve)
        let inForce = limits.fitted(to: descriptors)
        #expect(inForce.sessions == fitted && inForce.sessionsPerPeer == fittedShare)
        #expect(inForce.refusedSessions == refused)
        #expect((limits.warning(inForce, descriptors: descriptors) == nil) == (fitted == sessions))
    }
}
