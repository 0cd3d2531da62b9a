// Tests that each refused change is an event with its session and its error.

import Testing
import Tweaks
import TweaksServer
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct RefusedEventTests {
    private let events = SessionEvents()

    private var refusals: [(session: TweakSession, error: TweakError)] {
        events.all.compactMap { if case .refused(let error) = $0.kind { ($0.session, error) } else { nil } }
    }

    private func server(_ registry: TweakRegistry = ExampleTweaks().registry) throws -> TestServer {
        var hooks = TweakServerHooks()
        hooks.onSessionEvent = { [events] in events.note($0) }
        hooks.presets = try MemoryPresets(["bad": ["Content/Text/Size = 500"]])
        return try TestServer(registry: registry, hooks: hooks)
    }

    /// (lines, codes of the refusals)
    @Test(
        arguments: [
            ("Content/Text/Size = 500", ["out-of-range"]), ("set Content/Text/Size x", ["bad-value"]),
            ("Content/Text/Size += 500", ["out-of-range"]), ("set Content/Text/Size 500 for 1m", ["out-of-range"]),
            ("Player/Status/Frames = 3", ["read-only"]), ("set Nothing/At/All 3", ["unknown-tweak"]),
            ("keep Content/Text/Size", ["conflict"]), ("reset Nothing", ["unknown-tweak"]), ("undo", ["conflict"]),
            ("redo force", ["conflict"]), ("commit", ["usage"]), ("load nothing", ["bad-value"]),
            ("load bad", ["out-of-range"]), ("swap bad", ["out-of-range"]),
            ("begin\nContent/Text/Size = 500\ncommit", ["out-of-range", "out-of-range"]),
            ("json\nContent/Text/Size = 500", ["out-of-range"]),
            // These change no values.
            ("get Nothing", []), ("check Content/Text/Size 500", []), ("run Nothing/At/All", []), ("unwatch x", []),
            ("Content/Text/Size = 72", []), ("save ../x", []), ("nonsense", []),
        ] as [(String, [String])])
    func onlyRefusedChangesAreEvents(_ lines: String, _ codes: [String]) throws {
        _ = try server().connect().exchange("ping\n\(lines)\n")
        #expect(refusals.map(\.error.code.rawValue) == codes)
    }

    @Test func anEventHasTheSession() throws {
        let server = try server()
        try server.connect().ask("Content/Text/Size = 500")
        try server.connect(.tcp4).ask("Content/Text/Size = 500")
        let sessions = refusals.map(\.session)
        try #require(sessions.count == 2)
        #expect(sessions.map(\.id) == [1, 2] && sessions.map(\.transport) == [.unix, .tcp])
        let (user, process) = (ThisProcess.user, sessions[0].processID ?? 0)
        #expect(sessions[0].peer == "uid \(user) pid \(process)" && sessions[0].userID == user)
        #expect(sessions[0].identity == .user(user))
        #expect(sessions[1].peer.hasPrefix("127.0.0.1:") && sessions[1].peer == sessions[1].identity.description)
    }

    @Test func valuesForSecretsAreNotInTheEvent() throws {
        let registry = ExampleTweaks().registry
        _ = Tweak("Player", "Audio", "Pin", 1_234, in: 0...9_999, flags: .secret, registry: registry)
        let client = try server(registry).connect()
        for value in ["77777", "hunter2", "\"hunter2\" for 77777"] { try client.ask("set Player/Audio/Pin \(value)") }
        #expect(refusals.count == 3)
        #expect(!refusals.contains { "\($0.error)".contains("77777") || "\($0.error)".contains("hunter2") })
    }
}
