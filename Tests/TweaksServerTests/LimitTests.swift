// Tests the limits of sessions, time and bytes: the refusals, and that other sessions are served.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct LimitTests {
    // MARK: Sessions

    /// The oldest connection that has not sent a line makes room.
    @Test func theOldestSilentConnectionYields() throws {
        let (server, known) = try TestServer { $0.sessions = 3 }.withClient()
        try known.ask("ping")
        let (oldest, younger) = (try server.connect(), try server.connect(.tcp4))
        // An unfinished line does not count.
        try oldest.send("pin")
        server.settle()
        #expect(try known.stats("sessions") == "3")
        #expect(try server.connect().ask("ping") == ["ok pong"])
        let lines = try oldest.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-many "))
        #expect(try younger.ask("ping") == ["ok pong"])
        #expect(try known.ask("ping") == ["ok pong"])
    }

    /// A peer with its maximum of sessions loses its own, not those of others.
    @Test func theOldestSilentConnectionOfThatPeerYields() throws {
        let server = try TestServer { $0.sessionsPerPeer = 3 }
        let (older, known) = (try server.connect(.tcp4), try server.connect())
        try known.ask("ping")
        let (silent, third) = (try server.connect(), try server.connect())
        try third.ask("ping")
        try server.connect().ask("ping")
        let lines = try silent.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-many others are waiting"))
        #expect(try older.ask("ping") == ["ok pong"])
        #expect(try known.ask("ping") == ["ok pong"])
    }

    @Test(arguments: Transport.available) func whereNoConnectionYieldsTheNewOneIsRefused(_ transport: Transport) throws
    {
        let server = try TestServer { $0.sessions = 2 }
        let (one, two) = (try server.connect(), try server.connect(.tcp4))
        try one.ask("ping")
        try two.ask("ping")
        // The one place that is reserved for this user.
        let reserved = try server.connect()
        try reserved.ask("ping")
        let lines = try server.connect(transport).exchange("set Content/Text/Size 72\n")
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-many 2 sessions are open"))
        #expect(server.registry.revision == 0)
        #expect(try one.hasHit("sessions"))
    }

    /// A user with all rights gets it although all others are taken, and again when that session has ended.
    @Test(arguments: [true, false]) func onePlaceIsKept(_ isOfAll: Bool) throws {
        let server = try TestServer { if isOfAll { $0.sessions = 2 } else { $0.sessionsPerPeer = 2 } }
        let clients = try (1...2).map { _ in try server.connect(isOfAll ? .tcp4 : .unix) }
        for client in clients { #expect(try client.ask("ping") == ["ok pong"]) }
        for _ in 1...3 {
            try expectOneIsServed(server)
            server.settle()
        }
        for client in clients { #expect(try client.ask("ping") == ["ok pong"]) }
    }

    private func expectOneIsServed(_ server: TestServer) throws {
        let kept = try server.connect()
        #expect(try kept.ask("ping") == ["ok pong"])
        #expect(try server.connect().restOfLines().last?.hasPrefix("error too-many 2 sessions") == true)
    }

    /// Refused connections linger so that the refusal is read; many of them must not take the places of others.
    @Test func refusedConnectionsDoNotPileUp() throws {
        let (server, observer) = try TestServer {
            ($0.sessionsPerPeer, $0.fatalDrain.time, $0.lingerTime) = (1, .seconds(3_600), .seconds(3_600))
        }.withClient()
        let known = try server.connect(.tcp4)
        try observer.ask("ping")
        try known.ask("ping")
        let refused = try (0..<200).map { _ in try server.connect(.tcp4) }
        server.settle()
        #expect(try observer.stats("connections") == "202")
        // Two are served, and 64 linger.
        #expect(try observer.stats("sessions") == "66")
        for client in refused { #expect(try client.line().hasPrefix("error too-many 1 sessions of yours are open")) }
        #expect(try observer.hasHit("sessionsPerPeer"))
        #expect(try known.ask("ping") == ["ok pong"])
    }

    @Test func withoutALimitPerPeerTheLimitOfAllHolds() throws {
        let server = try TestServer {
            ($0.sessions, $0.sessionsPerPeer, $0.refusedSessions, $0.lineBytes) = (2, .max, 2, .max)
        }
        let clients = try (0..<2).map { _ in try server.connect(.tcp4) }
        for client in clients { #expect(try client.ask("ping") == ["ok pong"]) }
        for _ in 0..<4 {
            let last = try server.connect(.tcp4).restOfLines().last
            #expect(last?.hasPrefix("error too-many 2 sessions are open") == true)
        }
    }

    // MARK: Time

    @Test(arguments: ["", "pin"]) func aConnectionWithoutALineTimesOut(_ typed: String) throws {
        let (server, client) = try TestServer { $0.timeToFirstLine = .seconds(3_600) }.withClient()
        try client.send(typed)
        // A later session is answered, so the first one was accepted.
        try server.connect().ask("ping")
        server.pass(.seconds(3_600))
        let lines = try client.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error timeout no line came in 1h"))
        #expect(try server.connect().hasHit("timeToFirstLine"))
    }

    @Test func anIdleSessionTimesOutUnlessItWatches() throws {
        let (server, watcher) = try TestServer { $0.idleTime = .seconds(3_600) }.withClient()
        try watcher.ask("watch Content/Text/Size")
        let idle = try server.connect(.tcp4)
        try idle.ask("ping")
        server.pass(.seconds(3_600))
        let lines = try idle.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error timeout nothing came for 1h"))
        #expect(try watcher.ask("ping") == ["ok pong"])
        #expect(try watcher.hasHit("idleTime"))
    }

    // MARK: Bytes

    /// (line without its end, whether it fits 32 bytes)
    @Test(arguments: [
        (String(repeating: "#", count: 32), true), (String(repeating: "#", count: 33), false),
        (String(repeating: "é", count: 16), true), (String(repeating: "é", count: 17), false),
    ])
    func aLongLineIsRefused(_ line: String, _ fits: Bool) throws {
        for lineEnd in ["\n", "\r\n"] {
            // The first line proves the session, so that only the length can be fatal.
            let lines = try TestServer { $0.lineBytes = 32 }.connect()
                .exchange("ping\(lineEnd)\(line)\(lineEnd)ping\(lineEnd)")
            if fits {
                #expect(lines.last?.hasPrefix("ok pong") == true)
            } else {
                #expect(lines.count == 2 && lines[1].hasPrefix("error too-long a line holds at most 32 bytes"))
            }
        }
    }

    @Test func aLineOf64KiBFitsByDefault() throws {
        let text = String(repeating: "x", count: 65_536 - "Content/Text/String = ".utf8.count)
        let (server, client) = try TestServer().withClient()
        #expect(try client.status("Content/Text/String = \(text)") == "ok rev 1")
        #expect(server.registry["Content/Text/String"]?.value == .string(text))
        let lines = try client.exchange("Content/Text/String = \(text)x\nping\n")
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-long"))
    }

    @Test func aLineOfMaximumLengthMayEndInTwoPackets() throws {
        let (server, client) = try TestServer { $0.lineBytes = 4_096 }.withClient()
        #expect(try client.ask("ping") == ["ok pong"])
        let line = "ping" + String(repeating: " ", count: 4_092)
        try client.send("\(line)\r")
        server.settle()
        try client.send("\n")
        #expect(try client.reply() == ["ok pong\r"])
        try client.send("\(line)  ")
        #expect(try client.line().hasPrefix("error too-long a line holds at most 4096 bytes"))
    }

    @Test func aLineWithoutAnEndIsRefused() throws {
        let client = try TestServer { $0.lineBytes = 1_024 }.connect()
        try client.send(String(repeating: "x", count: 2_000))
        let lines = try client.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-long"))
    }

    // MARK: Watching

    @Test func aRepeatedPatternDoesNotCountTwice() throws {
        let client = try TestServer { $0.watchPatterns = 2 }.connect()
        for (line, status) in [
            ("watch Content/Text/Size Content/Text/Fade", "ok rev 0 watching 2"),
            ("watch Player", "error too-many a session watches at most 2 patterns…"),
            ("watch Content/Text/Size", "ok rev 0 watching 2"), ("unwatch Content/Text/Size", "ok watching 1"),
            ("watch Player", "ok rev 0 watching 4"),
        ] { #expect(Transcript.fits(try client.status(line), status)) }
    }

    // MARK: After a fatal error

    @Test func aConnectionThatStaysOpenAfterAFatalErrorIsClosedInTime() throws {
        let (server, client) = try TestServer {
            ($0.fatalDrain.time, $0.lingerTime) = (.milliseconds(1), .seconds(3_600))
        }.withClient()
        try client.send("nonsense\n")
        #expect(try client.restOfLines().count == 1)
        try client.waitUntilClosed()
        #expect(try server.connect().stats("sessions") == "1")
    }

    @Test func aConnectionThatSendsOnAfterAFatalErrorIsClosed() throws {
        let (server, client) = try TestServer { $0.fatalDrain = (.seconds(3_600), 100_000) }.withClient()
        try client.send("nonsense\n")
        #expect(try client.restOfLines().count == 1)
        #expect(throws: ClientError.self) {
            for _ in 1...10_000 { try client.send([UInt8](repeating: 0, count: 10_000)) }
        }
        #expect(try server.connect().stats("sessions") == "1")
    }
}
