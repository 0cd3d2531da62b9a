// Tests long replies that begin after a wait for the storage: they are complete, in their own mode, and in order.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct LongReplyOrderTests {
    /// A server with a listing that exceeds all socket buffers.
    private func server(hasThread: Bool = false) throws -> GatedServer {
        var limits = TweakServerLimits()
        limits.lingerTime = .seconds(3_600)
        let server = try GatedServer(limits: limits, hasThread: hasThread)
        let text = String(repeating: "text ", count: 40)
        for number in 0..<5_000 { _ = Tweak("Many", "Of", "Text \(number)", text, registry: server.registry) }
        return server
    }

    @Test func aLongReplyKeepsItsModeThoughALaterRequestChangesIt() throws {
        let (server, client, other) = try server().withTwoClients()
        try server.send("Content/Text/Size = 72\nget *\njson", client, until: 1, other)
        server.store.finish(1)
        #expect(try client.status() == "ok rev 1")
        let list = try client.reply()
        #expect(list.count > 5_000 && list.last == "ok" && !list.contains { $0.hasPrefix("{") })
        #expect(try client.line() == #"{"ok":true}"#)
    }

    @Test func anActionThatEndsDuringALongReplyIsAnsweredAfterIt() throws {
        let (server, client, other) = try server().withTwoClients()
        let action = BlockedAction("Many/Of/Slow", in: server.registry)
        try server.send("Content/Text/Size = 72\nget *\nrun Many/Of/Slow", client, until: 1, other)
        // The listing begins, and stops when the socket is full.
        server.store.finish(1)
        try other.ask("ping")
        action.released.open()
        // When it can run again, its end was handled.
        try eventually(turning: server.stepped) { try other.status("run Many/Of/Slow") == "ok" }
        #expect(try client.status() == "ok rev 1")
        let list = try client.reply()
        #expect(list.count > 5_000 && list.last == "ok" && !list.contains("  done"))
        #expect(try client.reply() == ["  done", "ok"])
    }

    @Test func aServerThatStopsDuringALongReplySaysSoAfterIt() throws {
        let (server, client, other) = try server(hasThread: true).withTwoClients()
        try server.send("Content/Text/Size = 72\nget *", client, until: 1, other)
        server.store.finish(1)
        #expect(try client.status() == "ok rev 1")
        // The rest is read when the server is stopping.
        let stopped = server.server.stopInBackground()
        _ = try other.restOfLines()
        let lines = try client.restOfLines()
        #expect(lines.count > 5_000 && lines.last?.hasPrefix("error closing ") == true)
        for client in [client, other] { client.endInput() }
        stopped.waitBlocking()
    }
}
