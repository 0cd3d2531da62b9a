// Tests registries whose changes must be on disk: they are written first, validated again, and applied after.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct RequiredDurabilityTests {
    @Test func aChangeTakesEffectWhenItIsOnDisk() throws {
        let (server, client, other) = try GatedServer(isRequired: true).withTwoClients()
        try server.propose("Content/Text/Size = 72\nget Content/Text/Size", client)
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 60 "))
        #expect(server.registry.revision == 0 && !client.hasInput)
        server.store.answerProposals()
        #expect(try client.reply() == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
        #expect(try client.reply()[0].hasPrefix("Content/Text/Size = 72 "))
    }

    @Test(arguments: ["Content/Text/Size = 72", "Content/Text/Size += 1", "set Content/Text/Alignment right"])
    func aFailedWriteChangesNothing(_ line: String) throws {
        let (server, client, other) = try GatedServer(isRequired: true).withTwoClients()
        try client.send(line + "\n")
        try server.answerProposals(1, "No space left on device")
        let refusal = "error io nothing was changed, because it cannot be saved: No space left on device"
        #expect(try client.reply() == [refusal])
        #expect(server.registry.revision == 0)
        #expect(try other.ask("modified").dropLast().isEmpty)
    }

    @Test func aTemporaryOverrideAndItsKeepingAreWrittenFirst() throws {
        let (server, client, other) = try GatedServer(isRequired: true).withTwoClients()
        try server.propose("set Content/Text/Size 72 for 10m", client)
        #expect(try other.ask("modified").dropLast().isEmpty)
        server.store.answerProposals()
        #expect(try client.reply() == ["Content/Text/Size = 72      # was 60, for 10m", "ok rev 1"])
        try client.send("keep Content/Text/Size\n")
        try server.answerProposals(1, "No space left on device")
        #expect(try client.status().hasPrefix("error io nothing was changed"))
        #expect(try other.ask("get Content/Text/Size")[0].contains(", temporary, "))
    }

    @Test func ownEventsFollowTheReply() throws {
        let (server, client) = try GatedServer(isRequired: true).withClient()
        try client.ask("watch Content")
        try server.propose("Content/Text/Size = 72\nping", client)
        #expect(!client.hasInput)
        server.store.answerProposals()
        #expect(try client.status() == "ok rev 1")
        let rest = try client.lines(2)
        #expect(rest.contains("ok pong") && rest.contains { $0.hasPrefix("event 1 Content/Text/Size = 72 ") })
    }

    @Test func anInvalidOrEmptyChangeIsNotWritten() throws {
        let (server, client) = try GatedServer(isRequired: true).withClient()
        #expect(try client.status("Content/Text/Size = 500").hasPrefix("error out-of-range "))
        #expect(try client.ask("reset Content/Text/Size") == ["ok rev 0 unchanged"])
        #expect(server.store.proposals == 0)
    }

    @Test func aRelativeChangeThatWasOvertakenIsWrittenAgain() throws {
        let (server, first, second) = try GatedServer(isRequired: true).withTwoClients()
        let other = try server.connect()
        for client in [first, second] { try client.send("Content/Text/Size += 1\n") }
        try server.answerProposals(2)
        // One is committed; the other starts from its result, and is written again.
        try server.waitForProposals(1)
        #expect(server.store.withdrawn == 1)
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 61 "))
        server.store.answerProposals()
        #expect(try Set([first.status(), second.status()]) == ["ok rev 1", "ok rev 2"])
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 62 "))
    }

    @Test func aChangeThatBecameInvalidIsWithdrawn() throws {
        let (server, client, other) = try GatedServer(isRequired: true).withTwoClients()
        try server.propose("Content/Text/Size += 30", client)
        try #require(server.registry["Content/Text/Size"]).set(.number(90))
        server.store.answerProposals()
        #expect(try client.status().hasPrefix("error out-of-range "))
        #expect(server.store.withdrawn == 1)
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 90 "))
    }

    @Test func aBatchThatBecameAConflictIsWithdrawn() throws {
        let (server, client, other) = try GatedServer(isRequired: true).withTwoClients()
        try client.send("begin 0\nContent/Text/Size = 72\nContent/Text/Alignment = right\ncommit\n")
        #expect(try client.lines(3) == ["ok rev 0", "ok queued", "ok queued"])
        try server.waitForProposals(1)
        try #require(server.registry["Content/Text/Size"]).set(.number(90))
        server.store.answerProposals()
        #expect(try client.status().hasPrefix("error conflict "))
        #expect(try other.ask("get Content/Text/Alignment")[0].hasPrefix("Content/Text/Alignment = left "))
        #expect(server.store.withdrawn == 2)
    }

    @Test func aChangeOfAClosedSessionIsAppliedOrWithdrawn() throws {
        let (server, other) = try GatedServer(isRequired: true).withClient()
        do {
            let client = try server.connect()
            try server.propose("Content/Text/Size = 72", client)
        }
        server.stepped?.settle()
        #expect(try other.stats("sessions") == "1")
        server.store.answerProposals()
        try other.ask("ping")
        let isSet = try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 ")
        #expect(isSet || server.store.withdrawn == 1)
    }
}
