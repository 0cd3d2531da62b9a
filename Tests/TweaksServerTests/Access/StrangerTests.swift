// Tests floods of connections without a token: who has one gets in, and ended connections take no places.

import Foundation
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksServer
@testable import TweaksWire

extension Descriptor {
    /// Waits until the other side has closed the connection.
    fileprivate var hasEnded: Bool {
        var entry = pollfd(fd: number, events: 0, revents: 0)
        return uninterrupted { poll(&entry, 1, TestClient.timeout) } > 0
    }
}

@Suite(.blocking) struct StrangerTests {
    private static let begin = "auth scram-sha-256"

    /// Connections that the server has not accepted yet, each with a line.
    private func flood(_ server: AccessServer, _ line: String, count: Int = 100) throws -> [TestClient] {
        let port = try #require(server.server.port)
        return try (0..<count).map { _ in
            let client = try TestClient(port: port)
            try client.send("\(line)\n")
            return client
        }
    }

    private func challenge(_ client: TestClient) throws -> String { String(try client.line().dropFirst(3)) }

    /// A client that has sent the first message of a sign-in, and the challenge. On a busy machine a flood takes the place
    /// of a client that has sent nothing yet; it tries again.
    private func beginning(_ server: AccessServer, _ first: String) throws -> (TestClient, challenge: String) {
        while true {
            let client = try server.connectTCP()
            guard (try? client.send("\(Self.begin) \(first)\n")) != nil, let line = try? client.line(),
                line.hasPrefix("ok r=")
            else { continue }
            return (client, String(line.dropFirst(3)))
        }
    }

    // MARK: Signing in

    /// All clients have one address and one user. A hundred others connect before each step of the server.
    @Test(arguments: ["ping", "hello 1", "auth twk_wrong", "auth scram-sha-256 n,,n=unknown,r=x", ""])
    func allEightSignInsSucceedDuringAFlood(_ line: String) throws {
        let server = try AccessServer(.token("ops", .read), .token("other", .read)) { $0.unauthenticatedSessions = 8 }
        let port = try #require(server.server.port)
        var strangers: [TestClient] = []
        var signedIn = 0
        for number in 0..<8 {
            let client = try TestClient(port: port)
            var scram = Scram.Client(token: number % 2 == 0 ? "twk_ops" : "twk_other")
            // Its line has arrived when it is accepted, as those of all others.
            try client.send("\(Self.begin) \(scram.first)\n")
            strangers += try flood(server, line)
            server.stepped?.settle()
            let answer = try #require(scram.answer(try challenge(client)))
            strangers += try flood(server, line)
            server.stepped?.settle()
            try client.send("\(Self.begin) \(answer)\n")
            strangers += try flood(server, line)
            server.stepped?.settle()
            signedIn += try client.line().contains(" token o") ? 1 : 0
            strangers.removeAll()
            server.stepped?.settle()
        }
        #expect(signedIn == 8)
    }

    /// A round of many connections takes longer than a turn, in which a connection may carry out one line alone.
    @Test(arguments: ["", "hello 1\n", "hello 1\nwhoami\nping\n"])
    func linesBeforeASignInTakeNoPlaceAway(_ before: String) throws {
        let server = try AccessServer(.token("ops", .read)) { ($0.unauthenticatedSessions, $0.turn) = (8, .zero) }
        let client = try TestClient(port: try #require(server.server.port))
        var scram = Scram.Client(token: "twk_ops")
        try client.send("\(before)\(Self.begin) \(scram.first)\n")
        let strangers = try flood(server, "ping")
        server.stepped?.settle()
        var line = try client.line()
        while !line.hasPrefix("ok r=") { line = try client.line() }
        let answer = scram.answer(String(line.dropFirst(3)))
        try client.send("\(Self.begin) \(try #require(answer))\n")
        server.stepped?.settle()
        while !line.contains(" token ops") { line = try client.line() }
        withExtendedLifetime(strangers) {}
    }

    /// A key that is named and not proven holds a place of its own kind, and not one of another key.
    @Test func knownKeysShareTheirPlaces() throws {
        let server = try AccessServer(.token("ops", .read), .token("other", .read)) { $0.unauthenticatedSessions = 2 }
        var clients: [(TestClient, Scram.Client)] = []
        for token in ["twk_ops", "twk_ops", "twk_other"] {
            let (client, scram) = (try server.connectTCP(), Scram.Client(token: token))
            try client.send("\(Self.begin) \(scram.first)\n")
            clients.append((client, scram))
        }
        let stranger = try server.connectTCP()
        server.stepped?.settle()
        _ = try challenge(clients[0].0)
        #expect(try clients[0].0.restOfLines().last?.hasPrefix("error too-many others are waiting") == true)
        for (client, var scram) in clients.dropFirst() {
            let answer = try #require(scram.answer(try challenge(client)))
            #expect(try client.status("\(Self.begin) \(answer)").contains(" token o"))
        }
        #expect(try stranger.ask("auth twk_ops") == ["ok token ops may read"])
    }

    /// A wrong proof gives the place back.
    @Test func aWrongProofKeepsNoPlace() throws {
        let server = try AccessServer(.token("ops", .read)) { $0.unauthenticatedSessions = 1 }
        let wrong = try server.connectTCP()
        let scram = Scram.Client(token: "twk_ops")
        #expect(try wrong.status("\(Self.begin) \(scram.first)").hasPrefix("ok r="))
        #expect(try server.connect().ask("ping") == ["ok pong"])
        let other = try server.connectTCP()
        try wrong.send("auth twk_wrong\n")
        server.pass(.seconds(1))
        #expect(try wrong.line().hasPrefix("error denied the token is wrong"))
        let newcomers = try flood(server, "hello 1", count: 2)
        server.stepped?.settle()
        #expect(try wrong.restOfLines().last?.hasPrefix("error too-many others are waiting") == true)
        withExtendedLifetime((other, newcomers)) {}
    }

    /// However an exchange ends, it gives the place back: by a malformed message, or because its token is revoked.
    @Test(arguments: ["c=", "c=biws,r=x,p=AAAA", "n,,", "n,,n=unknown,r=x", nil])
    func anExchangeThatHasEndedKeepsNoPlace(_ message: String?) throws {
        let server = try AccessServer(.token("ops", .read)) { $0.unauthenticatedSessions = 1 }
        let (client, admin) = (try server.connectTCP(), try server.connect())
        #expect(try client.status("\(Self.begin) \(Scram.Client(token: "twk_ops").first)").hasPrefix("ok r="))
        if let message {
            try client.send("\(Self.begin) \(message)\n")
            server.pass(.seconds(1))
        } else {
            try server.replaceTokens([], admin)
        }
        let newcomers = try flood(server, "hello 1", count: 2)
        server.stepped?.settle()
        #expect(try client.restOfLines().last?.hasPrefix("error too-many others are waiting") == true)
        withExtendedLifetime(newcomers) {}
    }

    // MARK: Users

    /// Where the kernel says who owns the client's socket, users of one address have shares of their own.
    @Test func aUsersConnectionsDisplaceNoneOfAnotherUser() throws {
        let server = try AccessServer(.token("ops", .read), loopbackUsers: [7, 8]) { $0.unauthenticatedSessions = 8 }
        let silent = try server.connectTCP()
        server.stepped?.settle()
        let strangers = try flood(server, "ping")
        server.stepped?.settle()
        #expect(try silent.ask("auth twk_ops") == ["ok token ops may read"])
        withExtendedLifetime(strangers) {}
    }

    @Test func theKernelNamesTheOwnerOfTheOtherEnd() throws {
        let server = try AccessServer()
        let port = try #require(server.server.port)
        for client in [try server.connectTCP(), try TestClient(port6: port, server: server.stepped)] {
            _ = try client.status("hello 1")
            // Unknown where there is no such kernel interface.
            let user = LoopbackUsers().user(of: client.number)
            #expect(user == nil || user == geteuid())
            #if os(Linux)
                let isSupported = tweaks_diag_user(tweaks_diag_open(), client.number, 0) >= 0
                #expect((user != nil) == isSupported)
            #endif
            // Not a connection.
            #expect(LoopbackUsers().user(of: 0) == nil)
        }
    }

    /// A client cannot turn the question off for all others.
    @Test func aConnectionThatWasResetBeforeItIsAcceptedProvesNothing() throws {
        let (users, socket) = (LoopbackUsers(), try BoundSocket(loopback: .version4))
        for _ in 0..<20 {
            var client: TestClient? = try TestClient(port: socket.port)
            client?.reset()
            client = nil
            let accepted = Descriptor(try socket.accepted())
            // A program that is being started has the client from fork to exec.
            #expect(accepted.hasEnded)
            #expect(users.user(of: accepted.number) == nil)
        }
        let client = try TestClient(port: socket.port)
        let accepted = Descriptor(try socket.accepted())
        #expect(users.user(of: accepted.number) == LoopbackUsers().user(of: accepted.number))
        #if os(Linux)
            let isSupported = tweaks_diag_user(tweaks_diag_open(), accepted.number, 0) >= 0
            #expect((users.user(of: accepted.number) == geteuid()) == isSupported)
        #endif
        withExtendedLifetime(client) {}
    }

    // MARK: Ended connections

    /// They wait for the client to close, so that it can read the reason, and take no place of its address.
    @Test func endedConnectionsAreNotCounted() throws {
        let server = try AccessServer(.token("ops", .read)) {
            ($0.sessionsPerPeer, $0.unauthenticatedSessions) = (4, 4)
            ($0.fatalDrain.time, $0.lingerTime) = (.seconds(3_600), .seconds(3_600))
        }
        let ended = try (0..<50).map { _ in
            let client = try server.connectTCP()
            try client.send("nonsense\n")
            return client
        }
        let client = try server.connectTCP()
        #expect(try client.ask("auth twk_ops") == ["ok token ops may read"])
        for client in ended { #expect(try client.restOfLines().last?.hasPrefix("error unknown-command ") == true) }
    }

    /// The oldest are closed when they and the others have all descriptors of the server. All have read the reason.
    @Test func endedConnectionsAreBounded() throws {
        let server = try AccessServer(.token("ops", .read)) {
            ($0.sessions, $0.refusedSessions) = (8, 4)
            ($0.fatalDrain.time, $0.lingerTime) = (.seconds(3_600), .seconds(3_600))
        }
        let ended = try (0..<50).map { _ in
            let client = try server.connectTCP()
            try client.send("nonsense\n")
            return client
        }
        #expect(server.stepped?.sessionCount == 12)
        #expect(try server.connectTCP().ask("auth twk_ops") == ["ok token ops may read"])
        #expect(try server.connect().ask("ping") == ["ok pong"])
        for client in ended { #expect(try client.restOfLines().last?.hasPrefix("error unknown-command ") == true) }
    }

    // MARK: A server with a thread

    /// Another thread opens connections as fast as they are answered, while clients sign in one after the other.
    @Test func clientsSignInDuringARealFlood() throws {
        let server = try AccessServer(.token("ops", .read), hasThread: true)
        let flood = Flood(try #require(server.server.port), "ping\n")
        defer { flood.end() }
        flood.hasBegun.waitBlocking()
        for _ in 0..<8 {
            var scram = Scram.Client(token: "twk_ops")
            let (client, challenge) = try beginning(server, scram.first)
            let reply = scram.answer(challenge)
            let answer = try #require(reply)
            #expect(try client.status("\(Self.begin) \(answer)").hasSuffix(" token ops may read"))
        }
    }
}
