// Replies that wait for the disk: in order, each with the truth, and nobody else waits.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct DurableReplyTests {
    @Test func theReplyWaitsAndNobodyElseDoes() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\n")
        try server.waitForRevision(1, other)
        // In effect, visible to others, and not answered.
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 "))
        #expect(!client.hasInput)
        server.store.finish(1)
        #expect(try client.reply() == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
    }

    /// The disk hears of all that a round has committed when that is over; or earlier, where one has taken long.
    @Test(arguments: [true, false]) func oneRoundIsOneWrite(_ isLong: Bool) throws {
        var limits = TweakServerLimits()
        limits.turn = isLong ? .zero : .seconds(60)
        let server = try GatedServer(limits: limits)
        let clients = try (0..<5).map { _ in try server.connectIdly() }
        server.stepped?.settle()
        #expect(server.store.rounds == 0)
        for (number, client) in clients.enumerated() { try client.send("Content/Text/Size = \(20 + number)\n") }
        server.stepped?.turn(patience: 0)
        #expect(server.registry.revision == 5 && !server.store.isInRound)
        #expect(server.store.rounds == (isLong ? 5 : 1))
    }

    @Test func sixteenInOnePacketAreAnsweredInOrder() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        let values = (0..<16).map { 20 + $0 }
        try client.send(values.map { "Content/Text/Size = \($0)\n" }.joined())
        try server.waitForRevision(16, other)
        #expect(!client.hasInput)
        // A write that was begun with the first eleven of them.
        server.store.finish(11)
        for (number, value) in values.prefix(11).enumerated() {
            let before = number == 0 ? 60 : value - 1
            #expect(
                try client.reply() == ["Content/Text/Size = \(value)      # was \(before)", "ok rev \(number + 1)"])
        }
        try other.ask("ping")
        #expect(!client.hasInput)
        server.store.finish(16, failure: "No space left on device")
        for number in 12...16 {
            #expect(try client.reply().last == "ok rev \(number) unsaved: No space left on device")
        }
    }

    /// More than may wait at once: the rest of the lines wait in turn.
    @Test func moreThanMayWaitAtOnce() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        let count: UInt64 = 1_500
        _ = client.sendMeanwhile((1...count).map { "Content/Text/Size = \(20 + $0 % 2)\n" }.joined())
        try server.waitForRevision(1_024, other)
        try other.ask("ping")
        #expect(server.registry.revision == 1_024)
        server.store.finish(1_024)
        try server.waitForRevision(count, other)
        server.store.finish(count)
        for number in 1...count { #expect(try client.reply().last == "ok rev \(number)") }
    }

    @Test func whatComesBehindWaitsForItsTurn() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\nget Content/Text/Size\nnonsense\nContent/Text/Size = 72\nping\n")
        try server.waitForRevision(1, other)
        #expect(!client.hasInput)
        server.store.finish(1)
        #expect(try client.reply().last == "ok rev 1")
        #expect(try client.reply() == ["Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60", "ok"])
        #expect(try client.reply()[0].hasPrefix("error unknown-command "))
        #expect(try client.reply() == ["ok rev 1 unchanged"])
        #expect(try client.reply() == ["ok pong"])
    }

    /// The disk says once that it has all; what stands behind a reply that is written
    /// in parts has to be looked at when those are.
    @Test(arguments: [true, false]) func behindALongReply(_ endsInput: Bool) throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\nhistory\nContent/Text/Size = 73\n")
        if endsInput { client.endInput() }
        try server.waitForRevision(2, other)
        server.store.finish(2)
        #expect(try client.reply().last == "ok rev 1")
        #expect(try client.reply().last == "ok")
        #expect(try client.reply() == ["Content/Text/Size = 73      # was 72", "ok rev 2"])
        if endsInput { #expect(try client.rest().isEmpty) }
    }

    /// Where nothing is waited for at the end, the disk is, and others go on.
    @Test func withoutLingering() throws {
        var limits = TweakServerLimits()
        limits.lingerTime = .zero
        let server = try GatedServer(limits: limits)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\n")
        client.endInput()
        try server.waitForRevision(1, other)
        #expect(try other.ask("ping") == ["ok pong"])
        server.store.finish(1)
        #expect(try client.reply().last == "ok rev 1")
    }

    /// `unchanged` promises the disk, too.
    @Test func unchangedWaitsAsWell() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\n")
        try server.waitForRevision(1, other)
        try other.send("Content/Text/Size = 72\nping\n")
        try server.connect().ask("ping")
        #expect(!other.hasInput)
        server.store.finish(1)
        #expect(try other.reply() == ["ok rev 1 unchanged"])
        #expect(try other.reply() == ["ok pong"])
        #expect(try client.reply().last == "ok rev 1")
    }

    @Test func batchesAndResets() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("begin\nContent/Text/Size = 72\nContent/Text/Alignment = right\ncommit\nreset Content\n")
        try server.waitForRevision(2, other)
        #expect(try client.reply() == ["ok rev 0"])
        #expect(try client.lines(2) == ["ok queued", "ok queued"])
        try other.ask("ping")
        #expect(!client.hasInput)
        server.store.finish(1)
        #expect(try client.reply().last == "ok rev 1")
        server.store.finish(2, failure: "Input/output error")
        let lines = try client.reply()
        #expect(lines.count == 3 && lines.last == "ok rev 2 unsaved: Input/output error")
    }

    @Test func ownEventsComeAfterTheReply() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.ask("watch Content")
        try other.ask("watch Content")
        try client.send("Content/Text/Size = 72\nContent/Text/Size = 73\n")
        // Others are not kept waiting.
        #expect(try other.line().hasPrefix("event 1 Content/Text/Size = 72 "))
        #expect(try other.line().hasPrefix("event 2 Content/Text/Size = 73 "))
        #expect(!client.hasInput)
        server.store.finish(2)
        #expect(try client.reply().last == "ok rev 1")
        #expect(try client.reply().last == "ok rev 2")
        #expect(try client.line().hasPrefix("event 1 Content/Text/Size = 72 "))
        #expect(try client.line().hasPrefix("event 2 Content/Text/Size = 73 "))
    }

    @Test func programs() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("json\n")
        #expect(try client.line() == #"{"ok":true}"#)
        // Each reply in the dialect of its request.
        try client.send("Content/Text/Size = 72\njson off\nContent/Text/Size = 73\n")
        try server.waitForRevision(2, other)
        server.store.finish(2, failure: "No space left on device")
        let line = try client.line()
        #expect(line.hasPrefix(#"{"ok":true,"rev":1,"#))
        #expect(line.contains(#""unsaved":"No space left on device""#))
        #expect(try client.reply() == ["ok"])
        #expect(try client.reply().last == "ok rev 2 unsaved: No space left on device")
    }

    // MARK: The end

    @Test(arguments: ["quit\n", ""]) func whoLeavesAtOnceIsStillAnswered(_ last: String) throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\n\(last)")
        client.endInput()
        try server.waitForRevision(1, other)
        try other.ask("ping")
        #expect(!client.hasInput)
        server.store.finish(1)
        let lines = try client.restOfLines()
        #expect(lines == ["Content/Text/Size = 72      # was 60", "ok rev 1"] + (last.isEmpty ? [] : ["ok"]))
        try client.waitUntilGone()
    }

    @Test func whoIsGoneHarmsNobody() throws {
        let server = try GatedServer()
        let other = try server.connect()
        do {
            let client = try server.connect()
            try client.send("Content/Text/Size = 72\n")
            try server.waitForRevision(1, other)
        }
        server.stepped?.settle()
        #expect(try other.ask("stats").contains("  sessions: 1"))
        // Its number may be another's by now.
        let next = try server.connect()
        try next.ask("ping")
        server.store.finish(1)
        #expect(try next.ask("ping") == ["ok pong"])
    }

    /// stop() gives the disk its time.
    @Test func aStoppingServerAnswersFirst() throws {
        let server = try GatedServer(hasThread: true)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\n")
        try server.waitForRevision(1, other)
        let (running, stopped) = (server.server, Gate())
        Thread.detachNewThread {
            running.stop()
            stopped.open()
        }
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

    /// A config file that is read when a test says so; it sets a tweak, and waits once more before it answers.
    private final class SlowReload: Sendable {
        let isTaken = Gate()
        let mayAnswer = Gate()
        private let registry = Mutex<TweakRegistry?>(nil)

        func follow(_ registry: TweakRegistry) { self.registry.withLock { $0 = registry } }

        func run(_ then: @escaping @Sendable (Reply) -> Void) {
            Thread.detachNewThread { [self] in
                let size = registry.withLock { $0?["Content/Text/Size"] }
                var reply = Reply.revision((try? size?.set(.number(64)))?.revision ?? 0)
                reply.awaits = 1
                isTaken.open()
                mayAnswer.waitBlocking()
                then(reply)
            }
        }
    }

    /// The layer of the file is not on disk, but `rev N` is promised like any other; and events come after the reply.
    @Test func aReloadWaitsForTheDiskToo() throws {
        let slow = SlowReload()
        var hooks = TweakServerHooks()
        hooks.reload = { slow.run($1) }
        let server = try GatedServer(hooks: hooks)
        slow.follow(server.registry)
        let (client, other) = (try server.connect(), try server.connect())
        try client.ask("watch Content")
        try other.ask("watch Content")
        try client.send("reload\nping\n")
        slow.isTaken.waitBlocking()
        #expect(try other.line().hasPrefix("event 1 Content/Text/Size = 64 "))
        try other.ask("ping")
        #expect(!client.hasInput)
        slow.mayAnswer.open()
        try other.ask("ping")
        #expect(!client.hasInput)
        server.store.finish(1)
        #expect(try client.reply() == ["ok rev 1"])
        let rest = try client.lines(2)
        #expect(rest.contains("ok pong") && rest.contains { $0.hasPrefix("event 1 Content/Text/Size = 64 ") })
    }
}
