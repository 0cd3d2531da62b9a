// Sets up servers: with clients, with changed limits, with rights for each session, stopped on another thread.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A server that tests connect to.
protocol ServerFixture: AnyObject {
    func connect() throws -> TestClient
}

extension ServerFixture {
    /// The server and a client of it.
    func withClient() throws -> (server: Self, client: TestClient) { (self, try connect()) }

    /// The server and two clients of it.
    func withTwoClients() throws -> (server: Self, client: TestClient, other: TestClient) {
        (self, try connect(), try connect())
    }
}

extension TestServer: ServerFixture {
    func connect() throws -> TestClient { try connect(.unix) }

    /// Starts a server with changed limits.
    convenience init(
        registry: TweakRegistry = ExampleTweaks().registry, hooks: TweakServerHooks = TweakServerHooks(),
        hasThread: Bool = false, limiting change: (inout TweakServerLimits) -> Void
    ) throws {
        var limits = TweakServerLimits()
        change(&limits)
        try self.init(registry: registry, limits: limits, hooks: hooks, hasThread: hasThread)
    }
}

/// A server on which each session has the rights that the test gives it.
final class ScopedServer: TestServer {
    /// - Parameter wallClock: Milliseconds since 1970, at all times; nil: the system's.
    init(
        registry: TweakRegistry, presets: [String: [String]] = [:], clock: ManualClock = ManualClock(isRunning: true),
        wallClock: Int64? = nil
    ) throws {
        var hooks = TweakServerHooks()
        if let wallClock { hooks.wallClock = { wallClock } }
        let store = try MemoryPresets(presets)
        hooks.presets = store
        hooks.presetNames = { store.names() }
        // A session gives up all rights, and is granted what it requests.
        hooks.access.grants = [.admin]
        hooks.previews = true
        try super.init(registry: registry, hooks: hooks, port: .none, clock: clock)
    }

    /// A session with these rights.
    func connect(scopes: String) throws -> TestClient {
        let client = try connect()
        try #require(try client.status("drop read write run admin").hasPrefix("ok"))
        if !scopes.isEmpty { try #require(try client.status("request \(scopes)").hasPrefix("ok")) }
        return client
    }

    static func scopes(_ text: String) throws -> [TweakScope] {
        try text.split(separator: " ").map { try TweakScope(String($0)) }
    }
}

extension TweakServer {
    /// Stops the server on another thread; the gate opens when it has stopped.
    func stopInBackground() -> Gate {
        let stopped = Gate()
        Thread.detachNewThread {
            self.stop()
            stopped.open()
        }
        return stopped
    }
}
