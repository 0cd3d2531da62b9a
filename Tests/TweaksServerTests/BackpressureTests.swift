// A client that does not read: it is not read from, and nobody else waits for it.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct BackpressureTests {
    private func figure(_ name: String, _ client: TestClient) throws -> Int {
        let line = try client.ask("stats").first { $0.hasPrefix("  \(name): ") }
        return try #require(line.flatMap { Int($0.dropFirst("  \(name): ".count)) })
    }

    @Test(arguments: Transport.available) func aDeafClientIsNotReadFrom(_ transport: Transport) throws {
        let server = try TestServer()
        let (deaf, other) = (try server.connect(transport), try server.connect())
        let requests = 30_000
        // All of it fits the server's patience for input, none of the replies would fit anywhere.
        let sent = deaf.sendMeanwhile(String(repeating: "get Content\n", count: requests))
        // Until the server stops taking its requests, everybody else is answered.
        var (before, now) = (0, try figure("requests", other))
        repeat {
            (before, now) = (now, try figure("requests", other))
        } while now - before > 1 || now < 100
        #expect(now < requests)
        // Then it reads, and nothing is missing.
        var replies = 0
        while replies < requests {
            let reply = try deaf.reply()
            try #require(reply.count == 7 && reply.last == "ok")
            replies += 1
        }
        sent.waitBlocking()
        #expect(try deaf.ask("ping") == ["ok pong"])
    }
}
