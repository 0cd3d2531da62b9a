// Tests replies that wait for the storage: they are in order and true, and other sessions do not wait.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct DurableReplyTests {
    /// Unless a commit takes long.
    @Test(arguments: [true, false]) func theCommitsOfARoundAreWrittenTogether(_ isLong: Bool) throws {
        var limits = TweakServerLimits()
        limits.turn = isLong ? .zero : .seconds(60)
        let server = try GatedServer(limits: limits)
        let clients = try (0..<5).map { _ in try server.connectWithoutTurns() }
        server.stepped?.settle()
        #expect(server.store.rounds == 0)
        for (number, client) in clients.enumerated() { try client.send("Content/Text/Size = \(20 + number)\n") }
        server.stepped?.turn(timeout: 0)
        #expect(server.registry.revision == 5 && !server.store.isInRound)
        #expect(server.store.rounds == (isLong ? 5 : 1))
    }

    @Test func sixteenSetsInOnePacketAreAnsweredInOrder() throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        let values = (0..<16).map { 20 + $0 }
        try client.send(values.map { "Content/Text/Size = \($0)\n" }.joined())
        try server.waitForRevision(16, other)
        #expect(!client.hasInput)
        // A write that began with the first eleven.
        server.store.finish(11)
        for (number, value) in values.prefix(11).enumerated() {
            let change = "Content/Text/Size = \(value)      # was \(number == 0 ? 60 : value - 1)"
            #expect(try client.reply() == [change, "ok rev \(number + 1)"])
        }
        try other.ask("ping")
        #expect(!client.hasInput)
        server.store.finish(16, failure: "No space left on device")
        for number in 12...16 { #expect(try client.status() == "ok rev \(number) unsaved: No space left on device") }
    }

    @Test func atMost1024RepliesOfASessionWaitAtOnce() throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        let count: UInt64 = 1_500
        _ = client.sendMeanwhile((1...count).map { "Content/Text/Size = \(20 + $0 % 2)\n" }.joined())
        try server.waitForRevision(1_024, other)
        try other.ask("ping")
        #expect(server.registry.revision == 1_024)
        server.store.finish(1_024)
        try server.waitForRevision(count, other)
        server.store.finish(count)
        for number in 1...count { #expect(try client.status() == "ok rev \(number)") }
    }

    @Test func aReplyAndLaterOnesOfTheSessionWaitAndOtherSessionsDoNot() throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        let lines = "Content/Text/Size = 72\nget Content/Text/Size\nnonsense\nContent/Text/Size = 72\nping"
        try server.send(lines, client, until: 1, other)
        // The change is in effect, but not confirmed.
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 "))
        #expect(!client.hasInput)
        server.store.finish(1)
        #expect(try client.reply() == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
        #expect(try client.reply() == ["Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60", "ok"])
        #expect(try client.reply()[0].hasPrefix("error unknown-command "))
        #expect(try client.reply() == ["ok rev 1 unchanged"])
        #expect(try client.reply() == ["ok pong"])
    }

    /// The storage reports once; replies behind one that is sent in parts must not be forgotten.
    @Test(arguments: [true, false]) func aReplyBehindALongReplyIsSent(_ endsInput: Bool) throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        try client.send("Content/Text/Size = 72\nhistory\nContent/Text/Size = 73\n")
        if endsInput { client.endInput() }
        try server.waitForRevision(2, other)
        server.store.finish(2)
        #expect(try client.status() == "ok rev 1")
        #expect(try client.status() == "ok")
        #expect(try client.reply() == ["Content/Text/Size = 73      # was 72", "ok rev 2"])
        if endsInput { #expect(try client.rest().isEmpty) }
    }

    @Test func withoutLingerTimeAClosedInputStillWaitsForTheStorage() throws {
        var limits = TweakServerLimits()
        limits.lingerTime = .zero
        let (server, client, other) = try GatedServer(limits: limits).withTwoClients()
        try client.send("Content/Text/Size = 72\n")
        client.endInput()
        try server.waitForRevision(1, other)
        #expect(try other.ask("ping") == ["ok pong"])
        server.store.finish(1)
        #expect(try client.status() == "ok rev 1")
    }

    @Test func anUnchangedValueWaitsForItsEarlierWrite() throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        try server.send("Content/Text/Size = 72", client, until: 1, other)
        try other.send("Content/Text/Size = 72\nping\n")
        try server.connect().ask("ping")
        #expect(!other.hasInput)
        server.store.finish(1)
        #expect(try other.reply() == ["ok rev 1 unchanged"])
        #expect(try other.reply() == ["ok pong"])
        #expect(try client.status() == "ok rev 1")
    }

    @Test func batchesAndResetsWaitToo() throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        let requests = "begin\nContent/Text/Size = 72\nContent/Text/Alignment = right\ncommit\nreset Content"
        try server.send(requests, client, until: 2, other)
        #expect(try client.lines(3) == ["ok rev 0", "ok queued", "ok queued"])
        try other.ask("ping")
        #expect(!client.hasInput)
        server.store.finish(1)
        #expect(try client.status() == "ok rev 1")
        server.store.finish(2, failure: "Input/output error")
        let lines = try client.reply()
        #expect(lines.count == 3 && lines.last == "ok rev 2 unsaved: Input/output error")
    }

    @Test func ownEventsFollowTheReplyAndEventsOfOthersDoNotWait() throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        for watcher in [client, other] { try watcher.ask("watch Content") }
        let events = ["event 1 Content/Text/Size = 72 ", "event 2 Content/Text/Size = 73 "]
        try client.send("Content/Text/Size = 72\nContent/Text/Size = 73\n")
        for event in events { #expect(try other.line().hasPrefix(event)) }
        #expect(!client.hasInput)
        server.store.finish(2)
        for number in 1...2 { #expect(try client.status() == "ok rev \(number)") }
        for event in events { #expect(try client.line().hasPrefix(event)) }
    }

    @Test func eachReplyIsInTheModeOfItsRequest() throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        #expect(try client.json("json") == #"{"ok":true}"#)
        try server.send("Content/Text/Size = 72\njson off\nContent/Text/Size = 73", client, until: 2, other)
        server.store.finish(2, failure: "No space left on device")
        let line = try client.line()
        #expect(line.hasPrefix(#"{"ok":true,"rev":1,"#) && line.contains(#""unsaved":"No space left on device""#))
        #expect(try client.reply() == ["ok"])
        #expect(try client.status() == "ok rev 2 unsaved: No space left on device")
    }

    // MARK: The end

    @Test(arguments: ["quit\n", ""]) func aSessionThatEndsItsInputIsStillAnswered(_ last: String) throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        try client.send("Content/Text/Size = 72\n\(last)")
        client.endInput()
        try server.waitForRevision(1, other)
        try other.ask("ping")
        #expect(!client.hasInput)
        server.store.finish(1)
        let lines = try client.restOfLines()
        #expect(lines == ["Content/Text/Size = 72      # was 60", "ok rev 1"] + (last.isEmpty ? [] : ["ok"]))
        try client.waitUntilClosed()
    }

    @Test func theReplyToAClosedSessionIsDropped() throws {
        let (server, other) = try GatedServer().withClient()
        do {
            let client = try server.connect()
            try server.send("Content/Text/Size = 72", client, until: 1, other)
        }
        server.stepped?.settle()
        #expect(try other.stats("sessions") == "1")
        // The next session may have the same descriptor.
        let next = try server.connect()
        try next.ask("ping")
        server.store.finish(1)
        #expect(try next.ask("ping") == ["ok pong"])
    }

    @Test func aStoppingServerWaitsForTheStorage() throws {
        var limits = TweakServerLimits()
        limits.lingerTime = .seconds(3_600)
        let (server, client, other) = try GatedServer(limits: limits, hasThread: true).withTwoClients()
        try server.send("Content/Text/Size = 72", client, until: 1, other)
        let stopped = server.server.stopInBackground()
        #expect(try other.restOfLines().first?.hasPrefix("error closing ") == true)
        #expect(!client.hasInput)
        server.store.finish(1)
        let lines = try client.restOfLines()
        #expect(lines.count == 3 && lines[1] == "ok rev 1" && lines[2].hasPrefix("error closing "))
        client.endInput()
        other.endInput()
        stopped.waitBlocking()
    }

    // MARK: Reloads

    /// The layer of the file is not stored, but its revision is promised like any other; own events follow the reply.
    @Test func aReloadWaitsForTheStorage() throws {
        let (isSet, mayAnswer) = (Gate(), Gate())
        let reloaded = Mutex<TweakRegistry?>(nil)
        var hooks = TweakServerHooks()
        hooks.reload = { _, then in
            let size = reloaded.withLock { $0?["Content/Text/Size"] }
            Thread.detachNewThread {
                var reply = Reply.revision((try? size?.set(.number(64)))?.revision ?? 0)
                reply.durableRevision = 1
                isSet.open()
                mayAnswer.waitBlocking()
                then(reply)
            }
        }
        let (server, client, other) = try GatedServer(hooks: hooks).withTwoClients()
        reloaded.withLock { $0 = server.registry }
        for watcher in [client, other] { try watcher.ask("watch Content") }
        try client.send("reload\nping\n")
        isSet.waitBlocking()
        #expect(try other.line().hasPrefix("event 1 Content/Text/Size = 64 "))
        try other.ask("ping")
        #expect(!client.hasInput)
        mayAnswer.open()
        try other.ask("ping")
        #expect(!client.hasInput)
        server.store.finish(1)
        #expect(try client.reply() == ["ok rev 1"])
        let rest = try client.lines(2)
        #expect(rest.contains("ok pong") && rest.contains { $0.hasPrefix("event 1 Content/Text/Size = 64 ") })
    }
}
