// Tests the end of input: pending replies are sent before the connection ends, as `nc -N` needs it.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct HalfClosedTests {
    private let registry = ExampleTweaks().registry

    @Test(arguments: Transport.available) func pendingRepliesAreSentFirst(_ transport: Transport) throws {
        let lines = try TestServer().connect(transport).exchange(String(repeating: "ping\n", count: 5_000))
        #expect(lines == Array(repeating: "ok pong", count: 5_000))
    }

    @Test(arguments: Transport.available) func aWatchingSessionEnds(_ transport: Transport) throws {
        let lines = try TestServer().connect(transport).exchange("watch Content/Text/Size\n")
        #expect(lines.last == "ok rev 0 watching 1")
    }

    @Test func anInteractiveSessionEnds() throws {
        let lines = try TestServer().connect().exchange("\n")
        #expect(lines.last == "> " && lines.dropLast().last?.hasSuffix("type help") == true)
    }

    @Test(arguments: Transport.available) func aRunningActionIsWaitedFor(_ transport: Transport) throws {
        let action = BlockedAction(in: registry)
        let server = try TestServer(registry: registry)
        let (client, other) = (try server.connect(transport), try server.connect())
        try client.send("run A/B/Act\nset Content/Text/Size 72\nunfinished")
        action.began.waitBlocking()
        client.endInput()
        // Turns in which the server can see the end of input.
        for _ in 1...3 { #expect(try other.ask("ping") == ["ok pong"]) }
        action.released.open()
        let lines = try client.restOfLines()
        #expect(lines.prefix(4) == ["  done", "ok", "Content/Text/Size = 72      # was 60", "ok rev 1"])
        #expect(lines.last?.hasPrefix("error bad-line the input ended inside a line") == true)
    }

    @Test(arguments: Transport.available) func aClosedConnectionEndsThoughItsActionRuns(_ transport: Transport) throws {
        let action = BlockedAction(in: registry)
        let server = try TestServer(registry: registry)
        let other = try server.connect()
        do {
            let client = try server.connect(transport)
            try client.send("run A/B/Act\n")
            action.began.waitBlocking()
        }
        #expect(try other.ask("ping") == ["ok pong"])
        action.released.open()
        try eventually { try other.stats("sessions") == "1" }
        var reply: [String]
        repeat { reply = try other.ask("run A/B/Act") } while reply.last?.hasPrefix("error busy") == true
        #expect(reply == ["  done", "ok"])
    }

    /// The reply exceeds all buffers.
    @Test(arguments: Transport.available) func aLongReplyIsComplete(_ transport: Transport) throws {
        let server = try TestServer(registry: LongListing.registry) { $0.lingerTime = .seconds(3_600) }
        let lines = try server.connect(transport).exchange("get Many\nping\n")
        let last = LongListing.count - 1
        #expect(lines.count == LongListing.count + 2 && lines.suffix(2) == ["ok", "ok pong"])
        #expect(lines[last] == "\"Many/Tweaks/Number \(last)\" = \(last) # int")
    }
}
