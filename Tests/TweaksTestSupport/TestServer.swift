// Runs a server for one test, on a Unix socket and on TCP.

package import Tweaks
package import TweaksServer

/// How a client reaches a server.
package enum Transport: String, CaseIterable, Sendable {
    case unix, tcp4, tcp6

    /// The transports that this machine supports.
    package static let available: [Transport] = {
        let server = TweakServer(name: "probe", registry: TweakRegistry(), listeners: [.tcp(port: 0)])
        guard (try? server.start()) != nil, let port = server.port else { return [.unix] }
        defer { server.stop() }
        return (try? TestClient(port6: port)) == nil ? [.unix, .tcp4] : allCases
    }()
}

/// A running server with its own registry; it stops when it and its last client are deallocated.
///
/// It has no thread by default: a waiting client runs the server's turns, which makes tests deterministic.
open class TestServer {
    package let registry: TweakRegistry
    package let server: TweakServer
    package let directory: TemporaryDirectory
    /// The clock of its deadlines, which runs unless the test gives another one.
    package let clock: ManualClock
    /// Runs the server's turns; nil if the server has a thread.
    package let stepped: SteppedServer?

    /// What a server listens at besides its Unix socket.
    package enum Port: Sendable { case none, open, tokens }

    /// Starts a server, by default with the example tweaks.
    /// - Parameters:
    ///   - store: The storage of the registry.
    ///   - hasThread: Whether it has a thread, for tests of programs, threads and stopping.
    package init(
        registry: TweakRegistry = ExampleTweaks().registry, limits: TweakServerLimits = TweakServerLimits(),
        hooks: TweakServerHooks = TweakServerHooks(), port: Port = .open, store: GatedStore? = nil,
        clock: ManualClock = ManualClock(isRunning: true), hasThread: Bool = false
    ) throws {
        self.registry = registry
        self.clock = clock
        directory = try TemporaryDirectory()
        store?.attach(to: registry, overrides: [], revision: 0)
        var hooks = hooks
        hooks.clock = { clock.now }
        let tcp: [TweakListener] =
            switch port {
            case .none: []
            case .open: [.tcp(port: 0)]
            case .tokens: [.tcpWithTokens(port: 0)]
            }
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))] + tcp,
            limits: limits, hooks: hooks)
        stepped = try server.started(hasThread: hasThread)
    }

    deinit { server.stop(stepped) }

    /// Advances the clock of its deadlines, which is not the wall clock.
    package func pass(_ duration: Duration) {
        clock.advance(by: duration, movesWall: false)
        server.wake()
        stepped?.settle()
    }

    /// Processes all pending work. A server with a thread does that on its own.
    /// - Returns: Whether this took no more than a number of turns.
    @discardableResult
    package func settle(atMost turns: Int = .max) -> Bool { stepped?.settle(atMost: turns) ?? true }

    /// Returns when everything posted before was handled: the second request comes in a later round.
    package func settle(_ client: TestClient) throws {
        for _ in 1...2 { try client.ask("ping") }
    }

    /// The path of its socket.
    package var path: String { directory.file("socket") }

    /// Opens a connection, which keeps the server alive.
    package func connect(_ transport: Transport = .unix) throws -> TestClient {
        switch transport {
        case .unix: try TestClient(unix: path, owner: self, server: stepped)
        case .tcp4: try TestClient(port: server.port ?? 0, owner: self, server: stepped)
        case .tcp6: try TestClient(port6: server.port ?? 0, owner: self, server: stepped)
        }
    }
}

extension TweakServer {
    /// Starts the server, with a thread or without.
    package func started(hasThread: Bool) throws -> SteppedServer? {
        if !hasThread { return try startStepped() }
        try start()
        return nil
    }

    /// Stops a server that ``started(hasThread:)`` has started.
    package func stop(_ stepped: SteppedServer?) {
        if let stepped { stepped.stop() } else { stop() }
    }
}
