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
///
/// It has no thread: a client that waits takes the server's turns, so that what a test sees is the same each time.
package final class TestServer {
    package let registry: TweakRegistry
    package let server: TweakServer
    package let directory: TemporaryDirectory
    private let clock = JumpingClock()
    /// Its turns; nil where it takes them itself.
    package let stepped: SteppedServer?

    /// Starts one, with the example tweaks unless told otherwise.
    /// - Parameter hasThread: Whether it serves by itself, for tests of programs, of threads, and of its end.
    package init(
        registry: TweakRegistry = ExampleTweaks().registry, limits: TweakServerLimits = TweakServerLimits(),
        hooks: TweakServerHooks = TweakServerHooks(), hasThread: Bool = false
    ) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        var hooks = hooks
        let clock = clock
        hooks.clock = { clock.now }
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket")), .tcp(port: 0)],
            limits: limits, hooks: hooks)
        stepped = try server.started(hasThread: hasThread)
    }

    deinit { server.stop(stepped) }

    /// Lets time pass for its deadlines.
    package func pass(_ duration: Duration) {
        clock.advance(by: duration, server)
        stepped?.settle()
    }

    /// Has it do all that it can do without another word. One with a thread does that by itself.
    package func settle() { stepped?.settle() }

    /// The path of its socket.
    package var path: String { directory.file("socket") }

    /// A new connection, which keeps the server alive.
    package func connect(_ transport: Transport = .unix) throws -> TestClient {
        switch transport {
        case .unix: try TestClient(unix: path, owner: self, server: stepped)
        case .tcp4: try TestClient(port: server.port ?? 0, owner: self, server: stepped)
        case .tcp6: try TestClient(port6: server.port ?? 0, owner: self, server: stepped)
        }
    }
}

extension TweakServer {
    /// Starts it, with a thread or without.
    package func started(hasThread: Bool) throws -> SteppedServer? {
        if !hasThread { return try startStepped() }
        try start()
        return nil
    }

    /// Stops what ``started(hasThread:)`` has started.
    package func stop(_ stepped: SteppedServer?) {
        if let stepped { stepped.stop() } else { stop() }
    }
}
