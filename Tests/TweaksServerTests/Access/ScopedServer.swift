// A server on which each session has the rights that a test gives it.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A started server; it stops when it is let go of, after its last client.
final class ScopedServer {
    let registry: TweakRegistry
    private let server: SteppedServer
    private let directory: TemporaryDirectory

    /// - Parameters:
    ///   - clock: Nil: the system's.
    ///   - wallClock: Milliseconds since 1970, at all times; nil: the system's.
    init(
        registry: TweakRegistry, presets: [String: [String]] = [:], clock: ManualClock? = nil, wallClock: Int64? = nil
    ) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        var hooks = TweakServerHooks()
        if let clock { hooks.clock = { clock.now } }
        if let wallClock { hooks.wallClock = { wallClock } }
        let store = try MemoryPresets(presets)
        hooks.presets = store
        hooks.presetNames = { store.names() }
        // A session gives up everything, and is given what it asks for.
        hooks.access.grants = [.admin]
        let server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
            limits: TweakServerLimits(), hooks: hooks)
        self.server = try server.startStepped()
    }

    deinit { server.stop() }

    /// A session with these rights.
    func connect(_ scopes: String) throws -> TestClient {
        let client = try TestClient(unix: directory.file("socket"), owner: self, server: server)
        try #require(client.ask("drop read write run admin").last?.hasPrefix("ok") == true)
        if !scopes.isEmpty { try #require(client.ask("request \(scopes)").last?.hasPrefix("ok") == true) }
        return client
    }

    static func scopes(_ text: String) throws -> [TweakScope] {
        try text.split(separator: " ").map { try TweakScope(String($0)) }
    }
}
