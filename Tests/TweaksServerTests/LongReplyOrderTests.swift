// Long replies that began behind a wait for the disk: whole, in their own form, and in their order.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite("Long replies behind the disk", .blocking) struct LongReplyOrderTests {
    private static let text = String(repeating: "text ", count: 40)

    /// A server with a list that no socket takes whole.
    private func makeServer(hasThread: Bool = false) throws -> GatedServer {
        let server = try GatedServer(hasThread: hasThread)
        for number in 0..<5_000 {
            _ = Tweak("Many", "Of", "Text \(number)", Self.text, registry: server.registry)
        }
        return server
    }

    @Test("a request behind a list that changes the form of replies leaves the list in its own")
    func form() throws {
        let server = try makeServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\nget *\njson\n")
        try server.waitForRevision(1, other)
        server.store.finish(1)
        #expect(try client.reply().last == "ok rev 1")
        let list = try client.reply()
        #expect(list.count > 5_000 && list.last == "ok" && !list.contains { $0.hasPrefix("{") })
        #expect(try client.line() == #"{"ok":true}"#)
    }

    @Test("an action that ends while a list is being sent is answered behind it")
    func order() throws {
        let server = try makeServer()
        let gate = Gate()
        tweakAction("Many", "Of", "Slow", registry: server.registry) { _ in
            await gate.wait()
            return "slow"
        }
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\nget *\nrun Many/Of/Slow\n")
        try server.waitForRevision(1, other)
        // The list begins, and stops where the socket is full.
        server.store.finish(1)
        try other.ask("ping")
        gate.open()
        // It has ended, and was heard of, when it can be run again.
        try eventually(turning: server.stepped) { try other.ask("run Many/Of/Slow").last == "ok" }
        #expect(try client.reply().last == "ok rev 1")
        let list = try client.reply()
        #expect(list.count > 5_000 && list.last == "ok" && !list.contains("  slow"))
        #expect(try client.reply() == ["  slow", "ok"])
    }

    @Test("a server that stops while a list is being sent says so behind it")
    func stopping() throws {
        let server = try makeServer(hasThread: true)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\nget *\n")
        try server.waitForRevision(1, other)
        server.store.finish(1)
        #expect(try client.reply().last == "ok rev 1")
        // The rest is read when the server has been told to stop.
        let hasBegun = Gate()
        let stop = Gate()
        Thread.detachNewThread { [server = server.server] in
            hasBegun.open()
            server.stop()
            stop.open()
        }
        hasBegun.waitBlocking()
        _ = try other.restOfLines()
        let lines = try client.restOfLines()
        #expect(lines.count > 5_000 && lines.last?.hasPrefix("error closing ") == true)
        stop.waitBlocking()
    }
}
