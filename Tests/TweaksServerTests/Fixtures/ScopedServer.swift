// A server on which each session has the rights that the test gives it.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A started server; it stops when it is released, after its last client.
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
        // A session gives up all rights, and is granted what it requests.
        hooks.access.grants = [.admin]
        server = try TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
            limits: TweakServerLimits(), hooks: hooks
        ).startStepped()
    }

    deinit { server.stop() }

    /// A session with these rights.
    func connect(_ scopes: String = "admin") throws -> TestClient {
        let client = try TestClient(unix: directory.file("socket"), owner: self, server: server)
        try #require(try client.status("drop read write run admin").hasPrefix("ok"))
        if !scopes.isEmpty { try #require(try client.status("request \(scopes)").hasPrefix("ok")) }
        return client
    }

    static func scopes(_ text: String) throws -> [TweakScope] {
        try text.split(separator: " ").map { try TweakScope(String($0)) }
    }
}
