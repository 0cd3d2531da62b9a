// Tests presets with a slow disk: only the session that asks waits, and required writes come first.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct PresetServingTests {
    private func server(
        required: Bool = false, gate: (reached: Gate, goOn: Gate)? = nil,
        _ presets: [String: [String]] = ["warm": ["Content/Text/Size = 72", "Content/Text/Alignment = right"]]
    ) throws -> GatedServer {
        var hooks = TweakServerHooks()
        hooks.presets = try MemoryPresets(presets, gate: gate)
        return try GatedServer(isRequired: required, hooks: hooks)
    }

    @Test(arguments: ["save cold", "load warm", "presets", "delete warm", "diff warm", "swap warm"])
    func otherSessionsDoNotWaitForTheDisk(_ line: String) throws {
        let gate = (reached: Gate(), goOn: Gate())
        let (server, client, other) = try server(gate: gate).withTwoClients()
        try client.send("\(line)\nping\n")
        gate.reached.waitBlocking()
        #expect(try other.status("get Content/Text/String") == "ok")
        gate.goOn.open()
        server.store.finish(9)
        #expect(try client.status().hasPrefix("ok"))
        #expect(try client.reply() == ["ok pong"])
    }

    @Test func theReplyWaitsForTheStorage() throws {
        let (server, client, other) = try server().withTwoClients()
        try server.send("load warm", client, until: 1, other)
        #expect(!client.hasInput)
        server.store.finish(1, failure: "No space left on device")
        #expect(
            try client.reply() == [
                "Content/Text/Size = 72         # was 60", "Content/Text/Alignment = right # was left",
                "ok rev 1 loaded warm unsaved: No space left on device",
            ])
    }

    @Test func aLoadAndASwapTakeEffectWhenTheyAreOnDisk() throws {
        let (server, client) = try server(required: true).withClient()
        try server.propose("load warm", client)
        #expect(server.registry.revision == 0)
        server.store.answerProposals("No space left on device")
        let refusal = "error io nothing was changed, because it cannot be saved: No space left on device"
        #expect(try client.reply() == [refusal])
        try client.send("swap warm\nswap warm\n")
        for status in ["ok rev 1 swapped to warm; swap warm goes back", "ok rev 2 back from warm"] {
            try server.answerProposals()
            #expect(try client.status() == status)
        }
        #expect(server.registry.snapshot()["Content/Text/Size"] == .number(60))
    }

    /// The commit records what it replaces, not what there was when the preset was read.
    @Test func aChangeDuringTheWriteOfASwapIsRestored() throws {
        let (server, client) = try server(required: true).withClient()
        try server.propose("swap warm", client)
        try server.registry.commit(origin: .code) { $0.set("Content/Text/Alignment", .choice("center")) }
        server.store.answerProposals()
        // Others have changed something, so the reply waits for the disk once more.
        server.store.finish(2)
        #expect(try client.status() == "ok rev 2 swapped to warm; swap warm goes back")
        try client.send("swap warm\n")
        try server.answerProposals()
        #expect(try client.status() == "ok rev 3 back from warm")
        #expect(server.registry.snapshot()["Content/Text/Size"] == .number(60))
        #expect(server.registry.snapshot()["Content/Text/Alignment"] == .choice("center"))
    }

    @Test func ownEventsFollowTheReplyInOneRevision() throws {
        let (server, client) = try server().withClient()
        try client.ask("watch Content")
        try client.send("load warm\nping\n")
        try server.waitForRevision(1, try server.connect())
        server.store.finish(1)
        #expect(try client.status() == "ok rev 1 loaded warm")
        let rest = try client.lines(3)
        #expect(rest.count { $0.hasPrefix("event 1 Content/Text/") } == 2 && rest.contains("ok pong"))
    }

    @Test func theOldestOf64SwapsIsForgotten() throws {
        let presets = (0...64).map { ("p\($0)", ["Content/Text/Size = \(20 + $0)"]) }
        let (server, client) = try server(Dictionary(uniqueKeysWithValues: presets)).withClient()
        server.store.finish(1_000)
        for (name, _) in presets { #expect(try client.status("swap \(name)").contains("swapped to")) }
        #expect(try client.status("swap p1").hasPrefix("error conflict"))
        #expect(try client.status("swap p0").contains("swapped to p0"))
    }

    /// Undo, redo and swap are ways to the same commit.
    @Test func swappingBackIsAnUndoOfTheSwap() throws {
        let (server, client) = try server().withClient()
        server.store.finish(1_000)
        let steps = [
            ("swap warm", "ok rev 1 swapped to warm; swap warm goes back"), ("swap warm", "ok rev 2 back from warm"),
            ("undo", "error conflict there is nothing to undo; history lists the last commits"),
            ("redo", "ok rev 3 redid 1 by"), ("swap warm", "ok rev 4 back from warm"), ("redo", "ok rev 5 redid 1 by"),
            ("undo", "ok rev 6 undid 1 by"), ("swap warm", "ok rev 7 swapped to warm; swap warm goes back"),
            ("Content/Text/Size = 72", "ok rev 7 unchanged"), ("Content/Text/Size = 73", "ok rev 8"),
            ("swap warm", "error conflict Content/Text/Size has changed since, in revision 8 by"),
            ("undo", "ok rev 9 undid 8 by"), ("swap warm", "ok rev 10 back from warm"),
        ]
        for (line, status) in steps { #expect(try client.status(line).hasPrefix(status), "\(line)") }
    }

    @Test func aSwapThatTheHistoryHasForgottenHasNoWayBack() throws {
        let (server, client) = try server().withClient()
        server.store.finish(1_000)
        try client.ask("swap warm")
        server.registry.historyLimit = 1
        try client.ask("Content/Text/Size = 80")
        let refusal = "error conflict the history has forgotten the swap to warm, in revision 1, among newer changes"
        #expect(try client.status("swap warm force").hasPrefix(refusal))
        #expect(try client.status("swap warm") == "ok rev 3 swapped to warm; swap warm goes back")
        #expect(try client.status("swap warm") == "ok rev 4 back from warm")
        server.registry.historyLimit = 0
        #expect(try client.status("swap warm").hasPrefix("error conflict the history has forgotten"))
        #expect(try client.status("swap warm").hasPrefix("error conflict swap goes back by the history"))
        #expect(server.registry.snapshot()["Content/Text/Size"] == .number(80))
    }

    @Test func aValidationThatBlocksDelaysNoOtherSession() throws {
        let (reached, released) = (Gate(), Gate())
        let server = try server(["slow": ["A/B/C = x"]])
        _ = Tweak(
            "A", "B", "C", "",
            validate: { text in
                if text == "x" {
                    reached.open()
                    released.waitBlocking()
                }
                return nil
            }, registry: server.registry)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("load slow\n")
        reached.waitBlocking()
        #expect(try other.ask("ping") == ["ok pong"])
        released.open()
        try server.waitForRevision(1, other)
        server.store.finish(1)
        #expect(try client.status() == "ok rev 1 loaded slow")
    }

    @Test func withoutAStateDirectoryThereAreNoPresets() throws {
        let client = try TestServer().connect()
        let refusal =
            "error io presets need a state directory, and this process has none; name one in TWEAKS_STATE_DIR, "
            + "or in the program"
        for line in ["save a", "load a", "presets", "delete a", "diff a", "swap a"] {
            #expect(try client.ask(line) == [refusal])
        }
        // The name is validated first.
        #expect(try client.status("load a/b").hasPrefix("error bad-value “a/b” is not a preset name; "))
    }

    @Test func anOpenBatchAllowsOnlyReadingOfPresets() throws {
        let client = try server().connect()
        try client.ask("begin")
        for line in ["save cold", "load warm", "delete warm", "swap warm"] {
            #expect(try client.ask(line) == ["error usage a batch is open; commit or abort it first"])
        }
        #expect(try client.ask("presets") == ["  warm  0 tweaks", "ok 1 preset"])
        #expect(try client.status("diff warm") == "ok 2 differences")
        #expect(try client.ask("commit") == ["ok rev 0 unchanged"])
    }
}
