// What every test of the daemon needs: a place, a registry, and a log.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

/// The events of a daemon.
final class Log: Sendable {
    private let list = Mutex<[(name: String, event: TweakDaemonEvent)]>([])

    var events: [TweakDaemonEvent] { list.withLock { $0.map(\.event) } }

    /// What is logged of it, without sessions, changes and the end.
    var lines: [String] {
        list.withLock { $0 }.flatMap { name, event -> [String] in
            switch event {
            case .session, .changed, .stopping: []
            default: event.lines.map { "\(name): \($0)" }
            }
        }
    }

    func add(_ name: String) -> TweakDaemon.EventHandler {
        { event in self.list.withLock { $0.append((name, event)) } }
    }
}

/// A runtime directory, a registry and a log that a test has for itself.
struct Home {
    let directory: TemporaryDirectory
    let log = Log()
    let registry = ExampleTweaks().registry

    init() throws { directory = try TemporaryDirectory() }

    /// Starts a daemon whose runtime directory is this one.
    func start(
        _ name: String = "example", tcp: TweakDaemon.TCP = .off, panel: TweakDaemon.Panel = .off,
        tokens: String? = nil, access: TweakAccess = TweakAccess(), config: TweakDaemon.ConfigFile? = nil,
        storage: TweakDaemon.Storage = .off, durability: TweakDaemon.Durability = .bestEffort,
        signals: TweakDaemon.Signals = [], registry: TweakRegistry? = nil, isOnTerminal: Bool = false,
        _ environment: [String: String] = [:]
    ) throws(ServerError) -> TweakDaemon {
        let base = ["XDG_RUNTIME_DIR": directory.path, "HOME": "/nonexistent", "LANG": "C"]
        let configuration = TweakDaemon.Configuration.test(
            registry ?? self.registry, base.merging(environment) { $1 }
        ) {
            ($0.tcp, $0.panel, $0.tokens, $0.access) = (tcp, panel, tokens, access)
            ($0.config, $0.storage, $0.durability, $0.signals) = (config, storage, durability, signals)
            ($0.isOnTerminal, $0.onEvent) = (isOnTerminal, log.add(name))
        }
        return try TweakDaemon.start(name, configuration)
    }

    /// Why a daemon does not start.
    func refusal(
        _ name: String = "example", tcp: TweakDaemon.TCP = .off, panel: TweakDaemon.Panel = .off,
        _ environment: [String: String] = [:]
    ) -> String? {
        do throws(ServerError) {
            try start(name, tcp: tcp, panel: panel, environment).stop()
            return nil
        } catch {
            return error.description
        }
    }

    /// Checks that it answers wherever it says it can be reached.
    func pings(_ daemon: TweakDaemon) throws {
        if let path = daemon.socketPath { #expect(try TestClient(unix: path).ask("ping") == ["ok pong"]) }
        if let port = daemon.port { #expect(try TestClient(port: port).ask("ping") == ["ok pong"]) }
    }

    func start(_ environment: [String: String]) throws(ServerError) -> TweakDaemon {
        try start("example", environment)
    }

    func refusal(_ environment: [String: String]) -> String? { refusal("example", environment) }
}
