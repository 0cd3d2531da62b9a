// Presets and a slow disk: whoever asks waits, nobody else does, and what is required on disk is there first.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct PresetServingTests {
    private static let look = ["Content/Text/Size = 72", "Content/Text/Alignment = right"]

    private func server(
        required: Bool = false, gate: (reached: Gate, goOn: Gate)? = nil
    ) throws -> GatedServer {
        var hooks = TweakServerHooks()
        hooks.presets = try MemoryPresets(["warm": Self.look], gate: gate)
        return try GatedServer(isRequired: required, hooks: hooks)
    }

    @Test(arguments: ["save cold", "load warm", "presets", "delete warm", "diff warm", "swap warm"])
    func nobodyElseWaits(_ line: String) throws {
        let gate = (reached: Gate(), goOn: Gate())
        let server = try server(gate: gate)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("\(line)\nping\n")
        gate.reached.waitBlocking()
        // The disk is still at it.
        #expect(try other.ask("get Content/Text/String").last == "ok")
        gate.goOn.open()
        server.store.finish(9)
        #expect(try client.reply().last?.hasPrefix("ok") == true)
        #expect(try client.reply() == ["ok pong"])
    }

    @Test func theReplyWaitsForTheDisk() throws {
        let server = try server()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("load warm\n")
        try server.waitForRevision(1, other)
        #expect(!client.hasInput)
        server.store.finish(1, failure: "No space left on device")
        #expect(
            try client.reply() == [
                "Content/Text/Size = 72         # was 60", "Content/Text/Alignment = right # was left",
                "ok rev 1 loaded warm unsaved: No space left on device",
            ])
    }

    @Test func requiredOnDisk() throws {
        let server = try server(required: true)
        let client = try server.connect()
        try client.send("load warm\n")
        try server.waitForProposals(1)
        #expect(server.registry.revision == 0)
        server.store.answerProposals("No space left on device")
        #expect(
            try client.reply() == [
                "error io nothing was changed, because it cannot be saved: No space left on device"
            ])
        try client.send("swap warm\nswap warm\n")
        try server.waitForProposals(1)
        server.store.answerProposals()
        #expect(try client.reply().last == "ok rev 1 swapped to warm; swap warm goes back")
        try server.waitForProposals(1)
        server.store.answerProposals()
        #expect(try client.reply().last == "ok rev 2 back from warm")
        #expect(server.registry.snapshot()["Content/Text/Size"] == .number(60))
    }

    /// What others set while a swap is being written is not lost on the way back: the swap is refused.
    @Test func overtakenWhileItIsWritten() throws {
        let server = try server(required: true)
        let client = try server.connect()
        try client.send("swap warm\n")
        try server.waitForProposals(1)
        try server.registry.commit(origin: .code) { $0.set("Content/Text/Alignment", .choice("center")) }
        server.store.answerProposals()
        #expect(
            try client.reply().last?.hasPrefix("error conflict Content/Text/Alignment changed in revision 1") == true)
        #expect(server.registry.snapshot()["Content/Text/Size"] == .number(60))
    }

    /// Own events come behind the reply, and all of one revision.
    @Test func eventsFollowTheReply() throws {
        let server = try server()
        let client = try server.connect()
        try client.ask("watch Content")
        try client.send("load warm\nping\n")
        try server.waitForRevision(1, try server.connect())
        server.store.finish(1)
        #expect(try client.reply().last == "ok rev 1 loaded warm")
        let rest = try client.lines(3)
        #expect(rest.filter { $0.hasPrefix("event 1 Content/Text/") }.count == 2)
        #expect(rest.contains("ok pong"))
    }

    /// Names may be made up without end; the oldest way back is forgotten.
    @Test func onlySoManyAreLookedAtAtOnce() throws {
        var hooks = TweakServerHooks()
        let looks = (0...64).map { ("p\($0)", ["Content/Text/Size = \(20 + $0)"]) }
        hooks.presets = try MemoryPresets(Dictionary(uniqueKeysWithValues: looks))
        let server = try GatedServer(hooks: hooks)
        server.store.finish(1_000)
        let client = try server.connect()
        for (name, _) in looks { #expect(try client.ask("swap \(name)").last?.contains("swapped to") == true) }
        #expect(try client.ask("swap p1").last?.hasPrefix("error conflict") == true)
        #expect(try client.ask("swap p0").last?.contains("swapped to p0") == true)
    }

    /// A program's own check does not run on the I/O thread.
    @Test func checksRunElsewhere() throws {
        let (reached, goOn) = (Gate(), Gate())
        var hooks = TweakServerHooks()
        hooks.presets = try MemoryPresets(["slow": ["A/B/C = x"]])
        let server = try GatedServer(hooks: hooks)
        _ = Tweak(
            "A", "B", "C", "",
            validate: { text in
                if text == "x" {
                    reached.open()
                    goOn.waitBlocking()
                }
                return nil
            }, registry: server.registry)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("load slow\n")
        reached.waitBlocking()
        #expect(try other.ask("ping") == ["ok pong"])
        goOn.open()
        try server.waitForRevision(1, other)
        server.store.finish(1)
        #expect(try client.reply().last == "ok rev 1 loaded slow")
    }

    @Test func noPresets() throws {
        let client = try TestServer().connect()
        let none =
            "error io presets need a state directory, and this process has none; name one in TWEAKS_STATE_DIR, "
            + "or in the program"
        for line in ["save a", "load a", "presets", "delete a", "diff a", "swap a"] {
            #expect(try client.ask(line) == [none])
        }
        // The name comes first.
        #expect(try client.ask("load a/b").last?.hasPrefix("error bad-value “a/b” is no name for a preset") == true)
    }

    @Test func inABatch() throws {
        let client = try server().connect()
        try client.ask("begin")
        for line in ["save cold", "load warm", "delete warm", "swap warm"] {
            #expect(try client.ask(line) == ["error usage a batch is open; commit or abort it first"])
        }
        // Looking is allowed, as it is with all commands.
        #expect(try client.ask("presets") == ["  warm  0 tweaks", "ok 1 preset"])
        #expect(try client.ask("diff warm").last == "ok 2 differences")
        #expect(try client.ask("commit") == ["ok rev 0 unchanged"])
    }
}
