// Tests scopes that are dropped while something is in progress: later events and replies respect them.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct DroppedScopesTests {
    private let registry = TweakRegistry()
    private let shown: Tweak<Double>
    private let hidden: Tweak<Double>
    private let server: ScopedServer

    init() throws {
        _ = Tweak("Label", "Text", "Size", 60, registry: registry)
        _ = Tweak("Theme", "Main", "Depth", 1, registry: registry)
        hidden = Tweak("Label", "Status", "Load", 0.0, flags: .readOnly, registry: registry)
        shown = Tweak("Theme", "Status", "Load", 0.0, flags: .readOnly, registry: registry)
        server = try ScopedServer(registry: registry)
    }

    @Test func aWatchOmitsTweaksThatBecameInvisible() throws {
        let (client, other) = (try server.connect(scopes: "admin"), try server.connect(scopes: "admin"))
        #expect(try client.status("watch *") == "ok rev 0 watching 4")
        try other.ask("Label/Text/Size = 61")
        #expect(try client.line().hasPrefix("event 1 Label/Text/Size = 61"))
        try client.ask("drop read:Label")
        for line in ["Label/Text/Size = 62", "Theme/Main/Depth = 2"] { try other.ask(line) }
        #expect(try client.line().hasPrefix("event 3 Theme/Main/Depth = 2"))
        #expect(try client.status("unwatch Theme").hasPrefix("error unknown-tweak “Theme” is not watched"))
        #expect(try client.status("watch Theme") == "ok rev 3 watching 2")
    }

    @Test func aWatchOmitsFiguresThatBecameInvisible() throws {
        let client = try server.connect(scopes: "admin")
        try client.ask("watch *")
        try client.ask("drop read:Label")
        hidden.value = 5
        shown.value = 6
        #expect(try client.line().contains("Theme/Status/Load = 6"))
    }

    @Test func tweaksRegisteredLaterAreVisibleByScope() throws {
        let (client, other) = (try server.connect(scopes: "read:Label"), try server.connect(scopes: "admin"))
        #expect(try client.status("watch * modified") == "ok rev 0 watching 2")
        _ = Tweak("Theme", "Main", "Late", 1, registry: registry)
        _ = Tweak("Label", "Text", "Late", 1, registry: registry)
        for line in ["Theme/Main/Late = 2", "Label/Text/Late = 2"] { try other.ask(line) }
        #expect(try client.line().hasPrefix("event 2 Label/Text/Late = 2"))
        #expect(try client.ask("ls") == ["  Label  3 tweaks, 1 modified", "ok"])
    }

    @Test func eventsThatWaitedForAReplyRespectTheScopesWhenSent() throws {
        let (server, client, other) = try GatedServer().withTwoClients()
        try client.ask("watch *")
        try server.send("Content/Text/Size = 62", client, until: 1, other)
        try other.send("Player/Audio/Token = secret\nContent/Text/Size = 63\n")
        try server.waitForRevision(3, try server.connect())
        try client.send("drop read:Player\nping\n")
        // The events were queued before the drop ran.
        try server.waitForRevision(3, try server.connect())
        server.store.finish(3)
        let lines = try client.reply() + client.reply() + client.reply() + client.ask("ping")
        #expect(lines.contains { $0.hasPrefix("event 3 Content/Text/Size = 63") })
        #expect(!lines.contains { $0.contains("Token") }, "\(lines)")
    }

    @Test(arguments: [
        ("write:Label", "error denied Label/Text/Size: this session may"),
        ("read:Label", "error unknown-tweak there is no tweak “Label/Text/Size”"),
        ("write", "error denied this needs write"),
    ])
    func aBatchIsValidatedAgainAtCommit(_ scope: String, _ refusal: String) throws {
        let client = try server.connect(scopes: "read write run")
        for line in ["begin", "Theme/Main/Depth = 2", "Label/Text/Size = 62", "drop \(scope)"] {
            #expect(try client.status(line).hasPrefix("ok"))
        }
        #expect(try client.status("commit").hasPrefix(refusal))
        #expect(registry.revision == 0)
    }

    @Test func theScopesOfADenialCanBePasted() throws {
        _ = try registry.register("Label", "Text", "Font Name", "Arial")
        let client = try server.connect(scopes: "read \"write:Theme/New Look\"")
        #expect(
            try client.status("set 'Label/Text/Font Name' x")
                == "error denied \"Label/Text/Font Name\": this session may read \"write:Theme/New Look\"; "
                + "request \"write:Label/Text/Font Name\", or sign in with a token")
        #expect(try client.status("request \"write:Label/Text/Font Name\"").hasPrefix("ok granted"))
        #expect(try client.status("set 'Label/Text/Font Name' x").hasPrefix("ok"))
    }

    @Test func aPatternSkipsTweaksThatMayNotBeChangedUnlessAllAre() throws {
        let (client, other) = (try server.connect(scopes: "read write:Label"), try server.connect(scopes: "admin"))
        for line in ["Label/Text/Size = 61", "Theme/Main/Depth = 2"] { try other.ask(line) }
        #expect(try client.status("reset Theme").hasPrefix("error denied Theme/Main/Depth: this session"))
        #expect(try client.ask("reset *") == ["Label/Text/Size = 60        # was 61", "ok rev 3"])
        #expect(try client.ask("undo").first == "Label/Text/Size = 61        # was 60")
        // The last commit now changed a visible tweak that the session may not change.
        try other.ask("Theme/Main/Depth = 3")
        #expect(try client.status("undo").hasPrefix("error denied Theme/Main/Depth: this session"))
    }
}
