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
        let registry = TweakRegistry()
        let name = String(repeating: "x", count: 100)
        for number in 10..<70 { _ = Tweak(name, name, "\(name)\(number)", true, registry: registry) }
        let server = try TestServer(registry: registry)
        let (deaf, other) = (try server.connect(transport), try server.connect())
        // More than all the buffers between here and there hold.
        let requests = 500
        let sent = deaf.sendMeanwhile(String(repeating: "get * \(name)\n", count: requests))
        // Until the server stops taking its requests, everybody else is answered.
        var (before, now) = (0, try figure("requests", other))
        repeat {
            (before, now) = (now, try figure("requests", other))
        } while now - before > 1 || now < 10
        #expect(now < requests)
        // Then it reads, and nothing is missing.
        var replies = 0
        while replies < requests {
            let reply = try deaf.reply()
            try #require(reply.count == 61 && reply.last == "ok")
            replies += 1
        }
        sent.waitBlocking()
        #expect(try deaf.ask("ping") == ["ok pong"])
    }
}
