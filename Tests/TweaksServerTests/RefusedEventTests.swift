// Each change that is refused is an event: who, over what, and why.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct RefusedEventTests {
    /// What the program is told.
    private final class Told: Sendable {
        let list = Mutex<[TweakSessionEvent]>([])

        var errors: [TweakError] {
            list.withLock { events in
                events.compactMap { if case .refused(let error) = $0.kind { error } else { nil } }
            }
        }
    }

    private func server(_ told: Told) throws -> TestServer {
        var hooks = TweakServerHooks()
        hooks.onSessionEvent = { event in told.list.withLock { $0.append(event) } }
        hooks.presets = try MemoryPresets(["bad": ["Content/Text/Size = 500"]])
        return try TestServer(hooks: hooks)
    }

    /// (lines, codes of what is refused)
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
            // Nothing was to be changed by these.
            ("get Nothing", []), ("check Content/Text/Size 500", []), ("run Nothing/At/All", []), ("unwatch x", []),
            ("Content/Text/Size = 72", []), ("save ../x", []), ("nonsense", []),
        ] as [(String, [String])])
    func codes(_ lines: String, _ codes: [String]) throws {
        let told = Told()
        let server = try server(told)
        let client = try server.connect()
        try client.ask("ping")
        try client.send(lines + "\n")
        client.endInput()
        _ = try client.rest()
        #expect(told.errors.map(\.code.rawValue) == codes)
    }

    @Test func whoItWas() throws {
        let told = Told()
        let server = try server(told)
        try server.connect().ask("Content/Text/Size = 500")
        try server.connect(.tcp4).ask("Content/Text/Size = 500")
        let sessions = told.list.withLock { list in
            list.filter { if case .refused = $0.kind { true } else { false } }.map(\.session)
        }
        try #require(sessions.count == 2)
        #expect(sessions.map(\.id) == [1, 2] && sessions.map(\.transport) == [.unix, .tcp])
        let (user, process) = (ThisProcess.user, sessions[0].processID ?? 0)
        #expect(sessions[0].peer == "uid \(user) pid \(process)" && sessions[0].userID == user)
        #expect(sessions[0].identity == .user(user))
        #expect(sessions[1].peer.hasPrefix("127.0.0.1:") && sessions[1].peer == sessions[1].identity.description)
    }

    /// What somebody wanted to set a secret to is nobody's business.
    @Test func secretsAreNotTold() throws {
        let told = Told()
        let registry = ExampleTweaks().registry
        _ = Tweak("Player", "Audio", "Pin", 1_234, in: 0...9_999, flags: .secret, registry: registry)
        var hooks = TweakServerHooks()
        hooks.onSessionEvent = { event in told.list.withLock { $0.append(event) } }
        let client = try TestServer(registry: registry, hooks: hooks).connect()
        for value in ["77777", "hunter2", "\"hunter2\" for 77777"] { try client.ask("set Player/Audio/Pin \(value)") }
        #expect(told.errors.count == 3)
        #expect(!told.errors.contains { "\($0)".contains("77777") || "\($0)".contains("hunter2") })
    }
}
