// Every limit: its code, and that the others are served.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct LimitTests {
    private func server(_ change: (inout TweakServerLimits) -> Void) throws -> TestServer {
        var limits = TweakServerLimits()
        change(&limits)
        return try TestServer(limits: limits)
    }

    // MARK: Sessions

    /// A connection that has not sent a line makes room, the oldest first.
    @Test func theOldestStrangerYields() throws {
        let server = try server { $0.sessions = 3 }
        let known = try server.connect()
        try known.ask("ping")
        let (oldest, younger) = (try server.connect(), try server.connect(.tcp4))
        // Half a line is not a line.
        try oldest.send("pin")
        server.settle()
        #expect(try known.ask("stats").contains("  sessions: 3"))
        let newcomer = try server.connect()
        #expect(try newcomer.ask("ping") == ["ok pong"])
        let lines = try oldest.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-many "))
        #expect(try younger.ask("ping") == ["ok pong"])
        #expect(try known.ask("ping") == ["ok pong"])
    }

    @Test(arguments: Transport.available) func whereNobodyYieldsTheNewcomerIsRefused(_ transport: Transport) throws {
        let server = try server { $0.sessions = 2 }
        let (one, two) = (try server.connect(), try server.connect(.tcp4))
        try one.ask("ping")
        try two.ask("ping")
        // There is one more for this user, and no second one.
        let kept = try server.connect()
        try kept.ask("ping")
        let newcomer = try server.connect(transport)
        try newcomer.send("set Content/Text/Size 72\n")
        newcomer.endInput()
        let lines = try newcomer.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-many 2 sessions are open"))
        #expect(server.registry.revision == 0)
        #expect(try one.ask("stats").contains { $0.hasPrefix("  limitsHit: sessions ") })
    }

    /// Who may do everything gets in although all places are taken, and again when that session has ended.
    @Test(arguments: [true, false]) func onePlaceIsKept(_ isOfAll: Bool) throws {
        let server = try server { if isOfAll { $0.sessions = 2 } else { $0.sessionsPerPeer = 2 } }
        let crowd = try (1...2).map { _ in try server.connect(isOfAll ? .tcp4 : .unix) }
        for client in crowd { #expect(try client.ask("ping") == ["ok pong"]) }
        for _ in 1...3 {
            try isServedAlone(server)
            server.settle()
        }
        for client in crowd { #expect(try client.ask("ping") == ["ok pong"]) }
    }

    private func isServedAlone(_ server: TestServer) throws {
        let kept = try server.connect()
        #expect(try kept.ask("ping") == ["ok pong"])
        #expect(try server.connect().restOfLines().last?.hasPrefix("error too-many 2 sessions") == true)
    }

    // MARK: Time

    @Test(arguments: ["", "pin"]) func timeToTheFirstLine(_ typed: String) throws {
        let server = try server { $0.timeToFirstLine = .seconds(3_600) }
        let client = try server.connect()
        try client.send(typed)
        // Who came later is answered, so that the first one is waited for.
        try server.connect().ask("ping")
        server.pass(.seconds(3_600))
        let lines = try client.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error timeout no line came in 1h"))
    }

    /// The watching one is as silent, and lives on.
    @Test func idleTime() throws {
        let server = try server { $0.idleTime = .seconds(3_600) }
        let watcher = try server.connect()
        try watcher.ask("watch Content/Text/Size")
        let idle = try server.connect(.tcp4)
        try idle.ask("ping")
        server.pass(.seconds(3_600))
        let lines = try idle.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error timeout nothing came for 1h"))
        #expect(try watcher.ask("ping") == ["ok pong"])
    }

    // MARK: Bytes

    /// (line without its end, whether it fits 32 bytes)
    @Test(arguments: [
        (String(repeating: "#", count: 32), true), (String(repeating: "#", count: 33), false),
        (String(repeating: "é", count: 16), true), (String(repeating: "é", count: 17), false),
    ])
    func lineBytes(_ line: String, _ fits: Bool) throws {
        for lineEnd in ["\n", "\r\n"] {
            let client = try server { $0.lineBytes = 32 }.connect()
            // Proven, so that only the length can be fatal.
            try client.send("ping\(lineEnd)\(line)\(lineEnd)ping\(lineEnd)")
            client.endInput()
            let lines = try client.restOfLines()
            if fits {
                #expect(lines.last?.hasPrefix("ok pong") == true)
            } else {
                #expect(lines.count == 2 && lines[1].hasPrefix("error too-long a line holds at most 32 bytes"))
            }
        }
    }

    @Test func aLineOf64KiBIsFineByDefault() throws {
        let text = String(repeating: "x", count: 65_536 - "Content/Text/String = ".utf8.count)
        let server = try TestServer()
        let client = try server.connect()
        #expect(try client.ask("Content/Text/String = \(text)").last == "ok rev 1")
        #expect(server.registry["Content/Text/String"]?.value == .string(text))
        try client.send("Content/Text/String = \(text)x\nping\n")
        client.endInput()
        let lines = try client.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-long"))
    }

    /// It never ends, so it never is a line; it is refused all the same.
    /// A line as long as it may be, whose CR and LF come one by one.
    @Test func aLineEndInTwoParts() throws {
        var limits = TweakServerLimits()
        limits.lineBytes = 4_096
        let server = try TestServer(limits: limits)
        let client = try server.connect()
        try client.send("ping\n")
        #expect(try client.reply() == ["ok pong"])
        let line = "ping" + String(repeating: " ", count: 4_092)
        try client.send("\(line)\r")
        server.settle()
        try client.send("\n")
        #expect(try client.reply() == ["ok pong\r"])
        try client.send("\(line)  ")
        #expect(try client.line().hasPrefix("error too-long a line holds at most 4096 bytes"))
    }

    /// Without limits to the number of sessions of one user, and to a line.
    @Test func noLimit() throws {
        var limits = TweakServerLimits()
        (limits.sessions, limits.sessionsPerPeer, limits.refusedSessions, limits.lineBytes) = (2, .max, 2, .max)
        let server = try TestServer(limits: limits)
        let clients = try (0..<2).map { _ in try server.connect(.tcp4) }
        for client in clients { #expect(try client.ask("ping") == ["ok pong"]) }
        for _ in 0..<4 {
            let answer = try server.connect(.tcp4).restOfLines().last
            #expect(answer?.hasPrefix("error too-many 2 sessions are open") == true)
        }
    }

    @Test func anEndlessLine() throws {
        let client = try server { $0.lineBytes = 1_024 }.connect()
        try client.send(String(repeating: "x", count: 2_000))
        let lines = try client.restOfLines()
        #expect(lines.count == 1 && lines[0].hasPrefix("error too-long"))
    }

    // MARK: Watching

    @Test func watchPatterns() throws {
        let client = try server { $0.watchPatterns = 2 }.connect()
        #expect(try client.ask("watch Content/Text/Size Content/Text/Fade").last == "ok rev 0 watching 2")
        let error = try client.ask("watch Player")
        #expect(error.count == 1 && error[0].hasPrefix("error too-many a session watches at most 2 patterns"))
        // The same again is not one more, and the session goes on.
        #expect(try client.ask("watch Content/Text/Size").last == "ok rev 0 watching 2")
        #expect(try client.ask("unwatch Content/Text/Size").last == "ok watching 1")
        #expect(try client.ask("watch Player").last == "ok rev 0 watching 4")
    }

    // MARK: After a fatal error

    /// A client that goes on talking, or never closes, is let go of.
    @Test func drainTime() throws {
        let server = try server {
            $0.fatalDrain.time = .milliseconds(1)
            $0.lingerTime = .seconds(3_600)
        }
        let client = try server.connect()
        try client.send("nonsense\n")
        #expect(try client.restOfLines().count == 1)
        try client.waitUntilGone()
        #expect(try server.connect().ask("stats").contains("  sessions: 1"))
    }

    @Test func drainBytes() throws {
        let server = try server { $0.fatalDrain = (.seconds(3_600), 100_000) }
        let client = try server.connect()
        try client.send("nonsense\n")
        #expect(try client.restOfLines().count == 1)
        #expect(throws: ClientError.self) {
            for _ in 1...10_000 { try client.send([UInt8](repeating: 0, count: 10_000)) }
        }
        #expect(try server.connect().ask("stats").contains("  sessions: 1"))
    }
}
