// A server that a test has for itself, on a Unix socket and on TCP.

package import Tweaks
package import TweaksServer

/// How a client reaches a server.
package enum Transport: String, CaseIterable, Sendable {
    case unix, tcp4, tcp6

    /// Those that this machine has.
    package static let available: [Transport] = {
        let server = TweakServer(name: "probe", registry: TweakRegistry(), listeners: [.tcp(port: 0)])
        guard (try? server.start()) != nil, let port = server.port else { return [.unix] }
        defer { server.stop() }
        return (try? TestClient(port6: port)) == nil ? [.unix, .tcp4] : allCases
    }()
}

/// A started server with a registry of its own; it stops when it is let go of, after its last client.
package final class TestServer {
    package let registry: TweakRegistry
    package let server: TweakServer
    package let directory: TemporaryDirectory
    private let clock = JumpingClock()

    /// Starts one, with the example tweaks unless told otherwise.
    package init(
        registry: TweakRegistry = ExampleTweaks().registry, limits: TweakServerLimits = TweakServerLimits(),
        hooks: TweakServerHooks = TweakServerHooks()
    ) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        var hooks = hooks
        let clock = clock
        hooks.clock = { clock.now }
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket")), .tcp(port: 0)],
            limits: limits, hooks: hooks)
        try server.start()
    }

    deinit { server.stop() }

    /// Lets time pass for its deadlines.
    package func pass(_ duration: Duration) { clock.advance(by: duration, server) }

    /// The path of its socket.
    package var path: String { directory.file("socket") }

    /// A new connection, which keeps the server alive.
    package func connect(_ transport: Transport = .unix) throws -> TestClient {
        switch transport {
        case .unix: try TestClient(unix: path, owner: self)
        case .tcp4: try TestClient(port: server.port ?? 0, owner: self)
        case .tcp6: try TestClient(port6: server.port ?? 0, owner: self)
        }
    }
}
