// Shorthands to set up servers: with clients, with changed limits, and stopped on another thread.

import Foundation
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

/// An action that runs until the test releases it; it prints `done`.
struct BlockedAction {
    let began = Gate()
    let released = Gate()

    /// Registers the action.
    init(_ path: String = "A/B/Act", timeLimit: Duration = .seconds(3_600), in registry: TweakRegistry) {
        let (began, released, parts) = (began, released, path.split(separator: "/").map { String($0) })
        tweakAction(parts[0], parts[1], parts[2], timeLimit: timeLimit, registry: registry) { _ in
            began.open()
            await released.wait()
            return "done"
        }
    }
}
