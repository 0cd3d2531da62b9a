// Tests floods of connections and requests, and clients that stall in the middle of a line.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

@Suite(.blocking) struct FloodTests {
    /// Deadlines of up to a day must not be kept for a day.
    @Test func deadlinesOfEndedSessionsAreRemoved() {
        var timers = Timers()
        let now = Moment.now
        var alive: Set<UInt64> = []
        for number in 1...UInt64(quantity(100_000)) {
            let session = SessionID(number: number, descriptor: 7)
            // One of a thousand stays open.
            if number % 1_000 == 0 { alive.insert(number) }
            timers.compact(limit: 8 * (alive.count + 1) + 64) { alive.contains($0.number) }
            timers.add(.init(deadline: now + .seconds(60), session: session, kind: .firstLine))
            timers.add(.init(deadline: now + .seconds(number), session: session, kind: .idle))
            #expect(timers.count <= 8 * (alive.count + 1) + 66)
        }
        var due: [Moment] = []
        var sessions: Set<UInt64> = []
        while let entry = timers.popDue(now + .seconds(1_000_000)) {
            due.append(entry.deadline)
            if alive.contains(entry.session.number) { sessions.insert(entry.session.number) }
        }
        #expect(due == due.sorted() && sessions == alive)
    }

    @Test(.tags(.quantity), arguments: Transport.available)
    func thousandsOfShortConnectionsLeaveNoSession(_ transport: Transport) throws {
        let (server, observer) = try TestServer(hasThread: true).withClient()
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
        // Connections that are not accepted yet are no sessions either.
        try eventually {
            let stats = try observer.ask("stats")
            return stats.contains("  connections: \(connections + 1)") && stats.contains("  sessions: 1")
        }
    }

    /// The replies would be hundreds of megabytes.
    @Test func aPipelineWithoutAReaderIsNotProcessed() throws {
        let server = try TestServer(hasThread: true) { $0.unsentBytes = 65_536 }
        let (flood, other) = (try server.connect(), try server.connect(.tcp4))
        let gate = flood.sendMeanwhile(String(repeating: "get *\n", count: 2_000_000))
        try eventually { try other.hasHit("unsentBytes") }
        // Of millions of requests a few thousand were processed, and no more are.
        let before = try #require(Int(try other.stats("requests")))
        for _ in 1...100 { #expect(try other.status("get Content/Text/Size") == "ok") }
        #expect(try other.stats("requests") == "\(before + 101)")
        #expect(before < 1_000_000)
        flood.reset()
        server.server.stop()
        gate.waitBlocking()
        withExtendedLifetime(flood) {}
    }

    /// Some send half a line, one sends byte by byte, and others send nothing.
    @Test func stalledClientsDelayNoOthers() throws {
        let (server, client) = try TestServer(hasThread: true) { $0.timeToFirstLine = .seconds(3_600) }.withClient()
        try client.ask("ping")
        let half = String(repeating: "x", count: 30_000)
        let stalled = try (0..<100).map { number in
            let stalled = try server.connect(number % 2 == 0 ? .unix : .tcp4)
            if number % 3 != 0 { try stalled.send(half) }
            return stalled
        }
        for number in 1...200 {
            try stalled[1].send("x")
            #expect(try client.status("Content/Text/Size = \(10 + number % 80)").hasPrefix("ok rev"))
        }
        #expect(try client.stats("sessions") == "101")
        withExtendedLifetime(stalled) {}
    }
}
