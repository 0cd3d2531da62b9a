// Compiles all API for starting a daemon with one import.

import Testing
import TweaksDaemon

private enum Look {
    static let registry = TweakRegistry()
    static let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, registry: registry)
    static let retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5), registry: registry)
    static let all: [any TweakHandle] = [size, retry]
}

struct SingleImportTests {
    @Test(.enabled(if: !isFrozen)) func oneImportIsEnoughForTweaksAndSettings() throws {
        var limits = TweakServerLimits()
        limits.sessions = 8
        var panel = TweakPanel.on(port: 0)
        panel.names = ["bounce.example"]
        var access = TweakAccess(users: [1001: ["read"]])
        access.onRequest = { request in request.allow() }
        // The name is refused; the test is that this compiles.
        #expect(throws: ServerError.self) {
            try TweakDaemon.start(
                "no name", tcp: .open(port: 0), panel: .init(panel), metrics: .on(port: 0), access: access,
                config: .init("/dev/null"), registry: Look.registry, limits: limits,
                onEvent: { event in
                    if case .session(let session) = event { print(session.session.identity) }
                },
                tweaks: Look.all, Look.size, Look.retry, Look.size.erased)
        }
        #expect(Look.registry.tweaks(matching: "*").count == 6 && Look.size.value == 60)
    }

    @Test(.enabled(if: !isFrozen)) func oneImportIsEnoughForAConfiguration() {
        var configuration = TweakDaemon.Configuration()
        configuration.signals = [.reload, .stop]
        configuration.storage = .off
        configuration.registry = Look.registry
        configuration.onEvent = { _ in }
        #expect(throws: ServerError.self) { try TweakDaemon.start("no name", configuration) }
        #expect(throws: ServerError.self) { try TweakDaemon.start("no name", configuration, tweaks: Look.all) }
        // Two fields are for tests. Each other field has a label of `start`.
        #expect(Mirror(reflecting: configuration).children.count == 15 + 2)
    }
}

#if Frozen
    private let isFrozen = true
#else
    private let isFrozen = false
#endif
