// Tests the descriptions of handles.

import Testing
import Tweaks

struct DescriptionTests {
    private let registry = TweakRegistry()

    @Test func tweaksShowTheirPathAndValue() throws {
        let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, registry: registry)
        let name = Tweak("Content", "Text", "Font Name", "Avenir", registry: registry)
        let token = Tweak("Content", "Text", "Token", "", flags: .secret, registry: registry)
        #expect("\(size)" == "Content/Text/Size = 60" && "\(size.erased)" == "\(size)")
        try size.set(72.5)
        #expect("\(size)" == "Content/Text/Size = 72.5")
        #expect("\(name)" == "\"Content/Text/Font Name\" = \"Avenir\"")
        #expect("\(token)" == "Content/Text/Token = (unset)")
        try token.set("hunter2")
        #expect("\(token)" == "Content/Text/Token = (set)" && !"\(String(reflecting: token))".contains("hunter2"))
    }

    @Test func actionsShowTheirPathAndGroupsTheirParts() {
        let mute = tweakAction("Player", "Audio", "Mute", registry: registry) { _ in "" }
        #expect("\(mute)" == "Player/Audio/Mute = (action)")
        let pool = TweakGroup("Database", "Pool", Pool(), registry: registry)
        #expect("\(pool)" == "Database/Pool/Connections = 8\nDatabase/Pool/Key = (set)")
    }

    private struct Pool: TweakTemplate {
        var connections = 8
        var key = "hunter2"

        static let parts: [TweakPart<Pool>] = [
            TweakPart("connections", \.connections, in: 1...256, scale: .logarithmic),
            TweakPart("key", \.key, maxLength: 40, flags: .secret),
        ]
    }
}
