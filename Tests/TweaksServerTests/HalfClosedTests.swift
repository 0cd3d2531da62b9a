// The end of input: everything owed is sent, and then the connection ends, as `nc -N` needs it.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct HalfClosedTests {
    @Test(arguments: Transport.available) func repliesAreSentFirst(_ transport: Transport) throws {
        let client = try TestServer().connect(transport)
        let pings = 5_000
        try client.send(String(repeating: "ping\n", count: pings))
        client.endInput()
        #expect(try client.restOfLines() == Array(repeating: "ok pong", count: pings))
    }

    @Test(arguments: Transport.available) func aWatchingSessionEndsToo(_ transport: Transport) throws {
        let client = try TestServer().connect(transport)
        try client.send("watch Content/Text/Size\n")
        client.endInput()
        #expect(try client.restOfLines().last == "ok rev 0 watching 1")
    }

    @Test func anInteractiveSessionEndsToo() throws {
        let client = try TestServer().connect()
        try client.send("\n")
        client.endInput()
        #expect(try client.rest().hasSuffix("type help\n> "))
    }

    /// A program with an action that waits, `A/B/Act`.
    private struct Waiting {
        let began = Gate()
        let gate = Gate()
        let server: TestServer

        init() throws {
            let registry = ExampleTweaks().registry
            let (began, gate) = (began, gate)
            tweakAction("A", "B", "Act", registry: registry) { _ in
                began.open()
                await gate.wait()
                return "done"
            }
            server = try TestServer(registry: registry)
        }
    }

    @Test(arguments: Transport.available) func aRunningActionIsWaitedFor(_ transport: Transport) throws {
        let waiting = try Waiting()
        let (client, other) = (try waiting.server.connect(transport), try waiting.server.connect())
        try client.send("run A/B/Act\nset Content/Text/Size 72\nunfinished")
        waiting.began.waitBlocking()
        client.endInput()
        // The server turns at least once with the end of input in view.
        for _ in 1...3 { #expect(try other.ask("ping") == ["ok pong"]) }
        waiting.gate.open()
        let lines = try client.restOfLines()
        #expect(lines.prefix(4) == ["  done", "ok", "Content/Text/Size = 72      # was 60", "ok rev 1"])
        #expect(lines.last?.hasPrefix("error bad-line the input ended inside a line") == true)
    }

    /// Nobody is there for the answer; the action ends, and nobody else notices.
    @Test(arguments: Transport.available) func aVanishedClientIsForgotten(_ transport: Transport) throws {
        let waiting = try Waiting()
        let other = try waiting.server.connect()
        do {
            let client = try waiting.server.connect(transport)
            try client.send("run A/B/Act\n")
            waiting.began.waitBlocking()
        }
        #expect(try other.ask("ping") == ["ok pong"])
        waiting.gate.open()
        try eventually { try other.ask("stats").contains("  sessions: 1") }
        var reply: [String]
        repeat { reply = try other.ask("run A/B/Act") } while reply.last?.hasPrefix("error busy") == true
        #expect(reply == ["  done", "ok"])
    }

    /// A reply longer than all buffers reaches a peer that has long since ended its input.
    @Test(arguments: Transport.available) func aLongReplyArrivesWhole(_ transport: Transport) throws {
        let client = try TestServer(registry: LongListing.registry).connect(transport)
        try client.send("get Many\nping\n")
        client.endInput()
        let lines = try client.restOfLines()
        #expect(lines.count == LongListing.count + 2)
        #expect(lines.suffix(2) == ["ok", "ok pong"])
        let last = LongListing.count - 1
        #expect(lines[last] == "\"Many/Tweaks/Number \(last)\" = \(last) # int")
    }
}
