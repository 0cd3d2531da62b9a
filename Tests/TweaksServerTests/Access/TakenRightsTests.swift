// Rights that are given up while something is under way: what is sent later is judged later.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct TakenRightsTests {
    private let registry = TweakRegistry()
    private let shown: Tweak<Double>
    private let hidden: Tweak<Double>

    init() {
        _ = Tweak("Label", "Text", "Size", 60, registry: registry)
        _ = Tweak("Theme", "Main", "Depth", 1, registry: registry)
        hidden = Tweak("Label", "Status", "Load", 0.0, flags: .readOnly, registry: registry)
        shown = Tweak("Theme", "Status", "Load", 0.0, flags: .readOnly, registry: registry)
    }

    @Test func aWatchFallsSilent() throws {
        let server = try ScopedServer(registry: registry)
        let (client, other) = (try server.connect("admin"), try server.connect("admin"))
        #expect(try client.ask("watch *").last == "ok rev 0 watching 4")
        try other.ask("Label/Text/Size = 61")
        #expect(try client.line().hasPrefix("event 1 Label/Text/Size = 61"))
        try client.ask("drop read:Label")
        for line in ["Label/Text/Size = 62", "Theme/Main/Depth = 2"] { try other.ask(line) }
        #expect(try client.line().hasPrefix("event 3 Theme/Main/Depth = 2"))
        #expect(try client.ask("unwatch Theme").last?.hasPrefix("error unknown-tweak “Theme” is not watched") == true)
        #expect(try client.ask("watch Theme").last == "ok rev 3 watching 2")
    }

    @Test func figuresToo() throws {
        let server = try ScopedServer(registry: registry)
        let client = try server.connect("admin")
        try client.ask("watch *")
        try client.ask("drop read:Label")
        hidden.value = 5
        shown.value = 6
        #expect(try client.line().contains("Theme/Status/Load = 6"))
    }

    /// What is registered later is seen by those alone who may.
    @Test func whatComesLater() throws {
        let server = try ScopedServer(registry: registry)
        let (client, other) = (try server.connect("read:Label"), try server.connect("admin"))
        #expect(try client.ask("watch * modified").last == "ok rev 0 watching 2")
        _ = Tweak("Theme", "Main", "Late", 1, registry: registry)
        _ = Tweak("Label", "Text", "Late", 1, registry: registry)
        for line in ["Theme/Main/Late = 2", "Label/Text/Late = 2"] { try other.ask(line) }
        #expect(try client.line().hasPrefix("event 2 Label/Text/Late = 2"))
        #expect(try client.ask("ls") == ["  Label  3 tweaks, 1 modified", "ok"])
    }

    /// Events that waited for a reply are judged when they are sent.
    @Test func whatWasKept() throws {
        let server = try GatedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.ask("watch *")
        try client.send("Content/Text/Size = 62\n")
        try server.waitForRevision(1, other)
        try other.send("Player/Audio/Token = secret\nContent/Text/Size = 63\n")
        try server.waitForRevision(3, try server.connect())
        try client.send("drop read:Player\nping\n")
        // What comes behind it was kept before that was run.
        try server.waitForRevision(3, try server.connect())
        server.store.finish(3)
        let told = try client.reply() + client.reply() + client.reply() + client.ask("ping")
        #expect(told.contains { $0.hasPrefix("event 3 Content/Text/Size = 63") })
        #expect(!told.contains { $0.contains("Player") }, "\(told)")
    }

    @Test(arguments: [
        ("write:Label", "error denied Label/Text/Size: this session may"),
        ("read:Label", "error unknown-tweak there is no tweak “Label/Text/Size”"),
        ("write", "error denied this needs write"),
    ])
    func aBatchIsJudgedAgain(_ scope: String, _ answer: String) throws {
        let server = try ScopedServer(registry: registry)
        let client = try server.connect("read write run")
        for line in ["begin", "Theme/Main/Depth = 2", "Label/Text/Size = 62", "drop \(scope)"] {
            #expect(try client.ask(line).last?.hasPrefix("ok") == true)
        }
        #expect(try client.ask("commit").last?.hasPrefix(answer) == true)
        #expect(registry.revision == 0)
    }

    /// Among several those are left out that may not be changed; there must be some left.
    @Test func whatMayNotBeChangedIsLeftOut() throws {
        let server = try ScopedServer(registry: registry)
        let (client, other) = (try server.connect("read write:Label"), try server.connect("admin"))
        for line in ["Label/Text/Size = 61", "Theme/Main/Depth = 2"] { try other.ask(line) }
        #expect(try client.ask("reset Theme").last?.hasPrefix("error denied Theme/Main/Depth: this session") == true)
        #expect(try client.ask("reset *") == ["Label/Text/Size = 60        # was 61", "ok rev 3"])
        #expect(try client.ask("undo").first == "Label/Text/Size = 61        # was 60")
        // The last step is one that is seen and not to be changed.
        try other.ask("Theme/Main/Depth = 3")
        #expect(try client.ask("undo").last?.hasPrefix("error denied Theme/Main/Depth: this session") == true)
    }
}
