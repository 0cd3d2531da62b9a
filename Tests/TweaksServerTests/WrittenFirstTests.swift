// Where nothing may be in effect unsaved: written first, applied after, judged again in between.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct WrittenFirstTests {
    @Test func nothingHappensBeforeItIsOnDisk() throws {
        let server = try GatedServer(isRequired: true)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\nget Content/Text/Size\n")
        try server.waitForProposals(1)
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 60 "))
        #expect(server.registry.revision == 0 && !client.hasInput)
        server.store.answerProposals()
        #expect(try client.reply() == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
        #expect(try client.reply()[0].hasPrefix("Content/Text/Size = 72 "))
    }

    @Test(arguments: ["Content/Text/Size = 72", "Content/Text/Size += 1", "set Content/Text/Alignment right"])
    func aRefusalChangesNothing(_ line: String) throws {
        let server = try GatedServer(isRequired: true)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send(line + "\n")
        try server.waitForProposals(1)
        server.store.answerProposals("No space left on device")
        let reply = try client.reply()
        #expect(reply == ["error io nothing was changed, because it cannot be saved: No space left on device"])
        #expect(server.registry.revision == 0)
        #expect(try other.ask("modified").dropLast().isEmpty)
    }

    @Test func theEventComesAfterTheReply() throws {
        let server = try GatedServer(isRequired: true)
        let client = try server.connect()
        try client.ask("watch Content")
        try client.send("Content/Text/Size = 72\nping\n")
        try server.waitForProposals(1)
        #expect(!client.hasInput)
        server.store.answerProposals()
        #expect(try client.reply().last == "ok rev 1")
        let rest = try client.lines(2)
        #expect(rest.contains("ok pong") && rest.contains { $0.hasPrefix("event 1 Content/Text/Size = 72 ") })
    }

    /// Refused before the disk is asked.
    @Test func whatIsWrongIsSaidAtOnce() throws {
        let server = try GatedServer(isRequired: true)
        let client = try server.connect()
        #expect(try client.ask("Content/Text/Size = 500")[0].hasPrefix("error out-of-range "))
        #expect(try client.ask("reset Content/Text/Size") == ["ok rev 0 unchanged"])
        #expect(server.store.proposals == 0)
    }

    @Test func othersMayBeFaster() throws {
        let server = try GatedServer(isRequired: true)
        let (first, second) = (try server.connect(), try server.connect())
        let other = try server.connect()
        try first.send("Content/Text/Size += 1\n")
        try second.send("Content/Text/Size += 1\n")
        try server.waitForProposals(2)
        server.store.answerProposals()
        // One of them is committed; the other counts from there, and is written again.
        try server.waitForProposals(1)
        #expect(server.store.withdrawn == 1)
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 61 "))
        server.store.answerProposals()
        let replies = try [first.reply(), second.reply()].map { $0.last }
        #expect(Set(replies) == ["ok rev 1", "ok rev 2"])
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 62 "))
    }

    /// It fitted when it was written, and does not any more.
    @Test func judgedAgain() throws {
        let server = try GatedServer(isRequired: true)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size += 30\n")
        try server.waitForProposals(1)
        try #require(server.registry["Content/Text/Size"]).set(.number(90))
        server.store.answerProposals()
        #expect(try client.reply()[0].hasPrefix("error out-of-range "))
        #expect(server.store.withdrawn == 1)
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 90 "))
    }

    @Test func aBatchWithConditions() throws {
        let server = try GatedServer(isRequired: true)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("begin 0\nContent/Text/Size = 72\nContent/Text/Alignment = right\ncommit\n")
        #expect(try client.lines(3) == ["ok rev 0", "ok queued", "ok queued"])
        try server.waitForProposals(1)
        try #require(server.registry["Content/Text/Size"]).set(.number(90))
        server.store.answerProposals()
        #expect(try client.reply()[0].hasPrefix("error conflict "))
        #expect(try other.ask("get Content/Text/Alignment")[0].hasPrefix("Content/Text/Alignment = left "))
        #expect(server.store.withdrawn == 2)
    }

    /// It is on disk; so it must not be said that nothing was changed, nor be lost.
    @Test func whoHasLeftHasStillSetIt() throws {
        let server = try GatedServer(isRequired: true)
        let other = try server.connect()
        do {
            let client = try server.connect()
            try client.send("Content/Text/Size = 72\n")
            try server.waitForProposals(1)
        }
        server.stepped?.settle()
        #expect(try other.ask("stats").contains("  sessions: 1"))
        server.store.answerProposals()
        try other.ask("ping")
        let isSet = try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 ")
        // Either it is in effect, or it is taken back from the disk.
        #expect(isSet || server.store.withdrawn == 1)
    }
}
