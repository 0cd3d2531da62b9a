// A server on which each session has the rights that a test gives it.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A started server; it stops when it is let go of, after its last client.
final class ScopedServer {
    let registry: TweakRegistry
    private let server: TweakServer
    private let directory: TemporaryDirectory
    private let next = Scopes()

    /// What the next session may do.
    private final class Scopes: Sendable {
        let current = Mutex<[TweakScope]>([])
    }

    init(registry: TweakRegistry, presets: [String: [String]] = [:]) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        var hooks = TweakServerHooks()
        let store = try MemoryPresets(presets)
        hooks.presets = store
        for command in ["load", "delete", "diff", "swap"] { hooks.completions[command] = { store.names() } }
        hooks.scopes = { [next] _, _ in next.current.withLock { $0 } }
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
            limits: TweakServerLimits(), hooks: hooks)
        try server.start()
    }

    deinit { server.stop() }

    /// A session with these rights.
    func connect(_ scopes: [TweakScope]) throws -> TestClient {
        next.current.withLock { $0 = scopes }
        let client = try TestClient(unix: directory.file("socket"), owner: self)
        // Its rights are looked at when it is accepted.
        try #require(client.ask("ping") == ["ok pong"])
        return client
    }

    func connect(_ scopes: String) throws -> TestClient { try connect(Self.scopes(scopes)) }

    static func scopes(_ text: String) throws -> [TweakScope] {
        try text.split(separator: " ").map { try TweakScope(String($0)) }
    }
}
