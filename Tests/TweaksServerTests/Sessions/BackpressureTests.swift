// Tests that a client which does not read replies is not read from, and that others are served meanwhile.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct BackpressureTests {
    @Test(arguments: Transport.available) func theServerStopsReadingUntilTheClientReads(_ transport: Transport) throws {
        let registry = TweakRegistry()
        let name = String(repeating: "x", count: 100)
        for number in 10..<70 { _ = Tweak(name, name, "\(name)\(number)", true, registry: registry) }
        let server = try TestServer(registry: registry)
        let (deaf, other) = (try server.connect(transport), try server.connect())
        // The replies exceed all buffers in between.
        let requests = 500
        let sent = deaf.sendMeanwhile(String(repeating: "get * \(name)\n", count: requests))
        func count() throws -> Int { try #require(Int(try other.stats("requests"))) }
        var (before, now) = (0, try count())
        repeat {
            (before, now) = (now, try count())
        } while now - before > 1 || now < 10
        #expect(now < requests)
        // The client reads, and no reply is missing.
        for _ in 0..<requests {
            let reply = try deaf.reply()
            try #require(reply.count == 61 && reply.last == "ok")
        }
        sent.waitBlocking()
        #expect(try deaf.ask("ping") == ["ok pong"])
    }
}
