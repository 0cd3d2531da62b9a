// Floods: connections that come and go by the thousand, those that stall, and what is left of them.

@testable import TweaksServer
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct FloodTests {
    /// A day's deadline each: they must not be kept for a day.
    @Test func deadlinesOfEndedSessionsAreForgotten() {
        var timers = Timers()
        let now = Moment.now
        var alive: Set<UInt64> = []
        for number in 1...UInt64(quantity(100_000)) {
            let session = SessionID(number: number, descriptor: 7)
            // Every thousandth stays.
            if number % 1_000 == 0 { alive.insert(number) }
            timers.compact(most: 8 * (alive.count + 1) + 64) { alive.contains($0.number) }
            timers.add(.init(deadline: now + .seconds(60), session: session, kind: .firstLine))
            timers.add(.init(deadline: now + .seconds(number), session: session, kind: .idle))
            #expect(timers.count <= 8 * (alive.count + 1) + 66)
        }
        // What stays stays in order.
        var due: [Moment] = []
        var sessions: Set<UInt64> = []
        while let entry = timers.popDue(now + .seconds(1_000_000)) {
            due.append(entry.deadline)
            if alive.contains(entry.session.number) { sessions.insert(entry.session.number) }
        }
        #expect(due == due.sorted() && sessions == alive)
    }

    @Test(.tags(.quantity), arguments: Transport.available) func connectAndGone(_ transport: Transport) throws {
        let server = try TestServer(hasThread: true)
        let observer = try server.connect()
        try observer.ask("ping")
        let connections = quantity(3_000, few: 150)
        for number in 1...connections {
            let client = try server.connect(transport)
            switch number % 4 {
            case 0: try client.send("ping\n")
            case 1: try client.send("pin")
            case 2: client.reset()
            default: break
            }
        }
        // Those that have not been accepted yet are no sessions either.
        try eventually {
            let stats = try observer.ask("stats")
            return stats.contains("  connections: \(connections + 1)") && stats.contains("  sessions: 1")
        }
    }

    /// Hundreds of megabytes of requests whose replies nobody reads: others are served, and it waits where it is.
    @Test func aPipelineThatIsNotRead() throws {
        var limits = TweakServerLimits()
        limits.unsentBytes = 65_536
        let server = try TestServer(limits: limits, hasThread: true)
        let (flood, other) = (try server.connect(), try server.connect(.tcp4))
        let gate = flood.sendMeanwhile(String(repeating: "get *\n", count: 2_000_000))
        try eventually { try LimitTableTests.figures(other).contains(where: { $0.hasPrefix("unsentBytes") }) }
        // It has come to a stop: of millions of requests a few thousand were looked at.
        let before = try Self.requests(other)
        for _ in 1...100 { #expect(try other.ask("get Content/Text/Size").last == "ok") }
        #expect(try Self.requests(other) == before + 101)
        #expect(before < 1_000_000)
        flood.reset()
        server.server.stop()
        gate.waitBlocking()
        withExtendedLifetime(flood) {}
    }

    private static func requests(_ client: TestClient) throws -> Int {
        let line = try client.ask("stats").first { $0.hasPrefix("  requests: ") } ?? ""
        return Int(line.dropFirst("  requests: ".count)) ?? -1
    }

    /// Half a line of many, a byte at a time of one, and nothing of others: nobody else notices.
    @Test func stallingOnes() throws {
        let server = try TestServer(hasThread: true)
        let client = try server.connect()
        try client.ask("ping")
        let half = String(repeating: "x", count: 30_000)
        let stalled = try (0..<100).map { number in
            let stalled = try server.connect(number % 2 == 0 ? .unix : .tcp4)
            if number % 3 != 0 { try stalled.send(half) }
            return stalled
        }
        for number in 1...200 {
            try stalled[1].send("x")
            #expect(try client.ask("Content/Text/Size = \(10 + number % 80)").last?.hasPrefix("ok rev") == true)
        }
        #expect(try client.ask("stats").contains("  sessions: 101"))
        withExtendedLifetime(stalled) {}
    }
}
