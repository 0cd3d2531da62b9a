// Tests presets of sessions that do not see every tweak.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct PartialPresetTests {
    private static let look = [
        "Secret/Vault/Code = 1", "Label/Text/Size = 70", "Nobody/Ever/Had = 2", "Theme/Main/Depth = 3",
    ]
    private let server: ScopedServer
    private let admin: TestClient
    private let client: TestClient

    init() throws {
        let registry = TweakRegistry()
        _ = Tweak("Secret", "Vault", "Code", 0, registry: registry)
        _ = Tweak("Label", "Text", "Size", 60, registry: registry)
        _ = Tweak("Label", "Text", "Side", 5, registry: registry)
        _ = Tweak("Theme", "Main", "Depth", 1, registry: registry)
        _ = Tweak("Theme", "Main", "Light", 1, registry: registry)
        server = try ScopedServer(registry: registry, presets: ["look": Self.look])
        (admin, client) = (try server.connect(scopes: "admin"), try server.connect(scopes: "write:Label read:Theme"))
    }

    @Test func aVisibleTweakThatMayNotBeChangedIsAProblemOfItsLine() throws {
        let refused = try client.ask("load look")
        // The second of the visible lines.
        #expect(refused.first?.hasPrefix("  line 2: denied Theme/Main/Depth: this session may") == true)
        #expect(refused.last?.hasPrefix("error denied look: 1 line does not fit; nothing has changed") == true)
        #expect(server.registry.revision == 0)
        let partly = try client.ask("load look partly")
        #expect(partly.first == "Label/Text/Size = 70        # was 60")
        #expect(partly[1].hasPrefix("  left out, line 2: denied Theme/Main/Depth"))
        #expect(partly.last == "ok rev 1 loaded look, without 1 line")
    }

    private func setOverrides() throws {
        for line in ["Secret/Vault/Code = 5", "Label/Text/Side = 6", "Theme/Main/Light = 2"] { try admin.ask(line) }
    }

    @Test func loadOnlyResetsWhatTheSessionMayReset() throws {
        try setOverrides()
        try admin.ask("save own Label/Text/Size")
        #expect(
            try client.ask("load --only own") == [
                "Label/Text/Side = 5         # was 6",
                "  Theme/Main/Light keeps its override 2; this session may not reset it", "ok rev 4 loaded own",
            ])
        _ = try client.json("json")
        #expect(try client.json("load --only own").contains(#""lacking":["Theme/Main/Light"]"#))
    }

    @Test func aPresetIsSavedFromVisibleTweaksAndReplacedOnlyByFullWriters() throws {
        try setOverrides()
        #expect(try client.ask("save mine") == ["ok saved mine, 2 tweaks"])
        #expect(try admin.ask("diff mine") == ["  Secret/Vault/Code 5 now, not in the preset", "ok 1 difference"])
        let refusal =
            "error denied preset look exists, and replacing it takes write access to all tweaks; save under another "
            + "name"
        #expect(try client.ask("save look") == [refusal])
        // The names of presets are visible to all sessions, their contents are not.
        #expect(try client.ask("presets") == ["  look", "  mine", "ok 2 presets"])
        #expect(
            try client.ask("diff look") == [
                "  Label/Text/Size 60 → 70", "  Label/Text/Side 6 now, not in the preset", "  Theme/Main/Depth 1 → 3",
                "  Theme/Main/Light 2 now, not in the preset", "ok 4 differences",
            ])
    }
}
