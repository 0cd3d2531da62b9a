// A server whose turns the test runs one by one, each as short as possible.

import Tweaks
import TweaksServer
import TweaksTestSupport

/// A server without a thread; its clients do not run its turns.
final class TurnByTurnServer {
    let registry: TweakRegistry
    let stepped: SteppedServer
    private let directory: TemporaryDirectory

    convenience init(registry: TweakRegistry = TweakRegistry(), faults: (any FaultInjector)? = nil) throws {
        var (limits, hooks) = (TweakServerLimits(), TweakServerHooks())
        (limits.turn, limits.watchedTurn) = (.zero, .zero)
        hooks.faults = faults
        try self.init(registry, limits, hooks)
    }

    init(_ registry: TweakRegistry, _ limits: TweakServerLimits, _ hooks: TweakServerHooks) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        stepped = try SteppedServer(
            at: try SteppedServer.Socket(socketPath: directory.file("socket"), faults: hooks.faults),
            registry: registry, limits: limits, hooks: hooks)
    }

    func connect() throws -> TestClient {
        let (client, count) = (try TestClient(unix: directory.file("socket")), stepped.sessionCount)
        while stepped.sessionCount == count { stepped.turn(timeout: 100) }
        return client
    }

    func turn(_ count: Int = 1) { for _ in 0..<count { stepped.turn(timeout: 0) } }
}
