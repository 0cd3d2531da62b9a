// Starts daemons in a temporary directory and records their events.

import Foundation
import Testing
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

/// Directories, a config file, a registry and events of one test. It stops its daemons when it is released.
final class DaemonFixture {
    private struct Connection {
        weak var client: TestClient?
        let daemon: TweakDaemon
    }

    let directory: TemporaryDirectory
    let registry: TweakRegistry
    let events = Recorder<TweakDaemonEvent>()
    /// The same with the names of their daemons.
    private let named = Recorder<(name: String, event: TweakDaemonEvent)>()
    private let storage: TweakDaemon.Storage
    private var daemons: [TweakDaemon] = []
    private var connections: [Connection] = []

    /// - Parameter isSaving: Whether daemons save overrides in ``state`` by default.
    init(registry: TweakRegistry = ExampleTweaks().registry, isSaving: Bool = true) throws {
        directory = try TemporaryDirectory()
        self.registry = registry
        storage = isSaving ? .directory(directory.file("state")) : .off
    }

    deinit { for daemon in daemons { stop(daemon) } }

    /// The path of the config file.
    var config: String { directory.file("example.conf") }
    var configFile: TweakDaemon.ConfigFile { .init(config) }
    /// The directory of the overrides.
    var state: String { directory.file("state") }
    /// The overrides file.
    var overrides: String { "\(state)/overrides.json" }
    /// The socket of a daemon without a name of its own.
    var socket: String { directory.file("tweaks/example.sock") }
    /// The log lines after the names of their daemons, without sessions, changes and the stop.
    var logLines: [String] {
        named.all.flatMap { name, event -> [String] in
            switch event {
            case .session, .changed, .stopping: []
            default: event.lines.map { "\(name): \($0)" }
            }
        }
    }
    /// The current value of `Content/Text/Size`.
    var size: TweakValue? { registry["Content/Text/Size"]?.value }

    /// Starts a daemon here. A second run needs another registry, as another process would have.
    @discardableResult
    func start(
        named name: String = "example", tcp: TweakDaemon.TCP = .off, panel: TweakDaemon.Panel = .off,
        metrics: TweakDaemon.Metrics = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(), previews: Bool = false,
        config: TweakDaemon.ConfigFile? = nil,
        storage: TweakDaemon.Storage? = nil, durability: TweakDaemon.Durability = .bestEffort,
        signals: TweakDaemon.Signals = [], audit: TweakDaemon.Audit? = nil, limits: TweakServerLimits? = nil,
        registry: TweakRegistry? = nil, isOnTerminal: Bool = false, sources: [TweakDaemon.Source] = [],
        _ environment: [String: String] = [:],
        onEvent: TweakDaemon.EventHandler? = nil
    ) throws(ServerError) -> TweakDaemon {
        let base = ["XDG_RUNTIME_DIR": directory.path, "HOME": "/nonexistent", "LANG": "C"]
        let configuration = TweakDaemon.Configuration.test(
            registry ?? self.registry, base.merging(environment) { $1 }
        ) { [storage = storage ?? self.storage, events, named] in
            ($0.tcp, $0.panel, $0.tokens, $0.access) = (tcp, panel, tokens, access)
            $0.metrics = metrics
            ($0.config, $0.storage, $0.durability, $0.signals) = (config, storage, durability, signals)
            ($0.audit, $0.limits, $0.isOnTerminal) = (audit ?? $0.audit, limits ?? $0.limits, isOnTerminal)
            ($0.sources, $0.previews) = (sources, previews)
            $0.onEvent = { event in
                onEvent?(event)
                named.note((name, event))
                // Last: a test that has waited for the event reads the log.
                events.note(event)
            }
        }
        let daemon = try TweakDaemon.start(name, configuration)
        daemons.append(daemon)
        return daemon
    }

    /// Starts a daemon with a config file.
    @discardableResult
    func start(configText: String) throws -> TweakDaemon {
        try save(configText)
        return try start(config: configFile)
    }

    /// Why a daemon does not start; nil when it does.
    func startError(
        named name: String = "example", tcp: TweakDaemon.TCP = .off, panel: TweakDaemon.Panel = .off,
        _ environment: [String: String] = [:]
    ) -> String? {
        do throws(ServerError) {
            stop(try start(named: name, tcp: tcp, panel: panel, environment))
            return nil
        } catch {
            return error.description
        }
    }

    /// Connects to a daemon's Unix socket.
    func connect(_ daemon: TweakDaemon) throws -> TestClient {
        let client = try TestClient(unix: try #require(daemon.socketPath), owner: daemon)
        connections.append(Connection(client: client, daemon: daemon))
        return client
    }

    /// A daemon and a connection to its Unix socket.
    func withClient(_ daemon: TweakDaemon) throws -> (daemon: TweakDaemon, client: TestClient) {
        (daemon, try connect(daemon))
    }

    /// Connects to a daemon's TCP port.
    func connectTCP(_ daemon: TweakDaemon) throws -> TestClient {
        try TestClient(port: try #require(daemon.port), owner: daemon)
    }

    /// Expects an answer at each address of a daemon.
    func expectPong(_ daemon: TweakDaemon) throws {
        if daemon.socketPath != nil { #expect(try connect(daemon).ask("ping") == ["ok pong"]) }
        if daemon.port != nil { #expect(try connectTCP(daemon).ask("ping") == ["ok pong"]) }
    }

    /// Stops a daemon after ending the input of its clients here; it would wait for them.
    func stop(_ daemon: TweakDaemon) {
        for connection in connections where connection.daemon === daemon { connection.client?.endInput() }
        connections.removeAll { $0.daemon === daemon }
        daemons.removeAll { $0 === daemon }
        daemon.stop()
    }

    /// Replaces a file, the config file by default, as editors do: by renaming a new one.
    func save(_ text: String, at path: String? = nil) throws {
        let path = path ?? config
        let new = path + ".new"
        try Data(text.utf8).write(to: URL(fileURLWithPath: new))
        guard rename(new, path) == 0 else { throw ClientError.system("rename", errno) }
    }

    /// Writes the config file in place, as scripts do.
    func write(_ text: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: config))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    /// One value in the reply to `stats`.
    func statistic(_ name: String, _ client: TestClient) throws -> String? {
        let lines = try client.ask("stats")
        return lines.first { $0.hasPrefix("  \(name): ") }.map { String($0.dropFirst(name.count + 4)) }
    }

    /// The paths in the overrides file, in its order.
    func storedPaths() throws -> [String] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: overrides))
        let file = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let list = try #require(file["overrides"] as? [[String: Any]])
        return list.compactMap { $0["path"] as? String }
    }
}

extension Recorder<TweakDaemonEvent> {
    /// Waits for the first event from an index on that `body` accepts.
    /// - Returns: The result of `body`, and the index after the event.
    @discardableResult
    func next<Result>(
        from start: Int = 0, _ what: String = "event", at location: SourceLocation = #_sourceLocation,
        _ body: (TweakDaemonEvent) -> Result?
    ) throws -> (value: Result, end: Int) {
        let found = first(from: start, body)
        return try #require(found, "no \(what); so far: \(all)", sourceLocation: location)
    }
}

extension TweakDaemonEvent {
    var reloaded: TweakReload? { if case .reloaded(let reload) = self { reload } else { nil } }
    var reloadFailed: TweakReloadError? { if case .reloadFailed(let error) = self { error } else { nil } }
    var reloadWaiting: String? { if case .reloadWaiting(let text) = self { text } else { nil } }
    var saving: String? { if case .saving(let text) = self { text } else { nil } }
    var unsaved: String? { if case .unsaved(let text) = self { text } else { nil } }
    var warning: String? { if case .warning(let text) = self { text } else { nil } }
    /// Why a session ended.
    var ending: TweakSession.Reason? { if case .session(let event) = self { event.session.state.reason } else { nil } }
    var changed: TweakCommit? { if case .changed(let commit) = self { commit } else { nil } }
}
