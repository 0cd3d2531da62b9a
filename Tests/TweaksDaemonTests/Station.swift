// A daemon with files in a test: its directories, its config file, and its events to wait for.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

/// Events as they come.
final class Events: Sendable {
    // The condition guards the list: waiting for an event needs both.
    private let condition = NSCondition()
    nonisolated(unsafe) private var list: [TweakDaemonEvent] = []

    var all: [TweakDaemonEvent] { condition.withLock { list } }

    func add(_ event: TweakDaemonEvent) {
        condition.withLock {
            list.append(event)
            condition.broadcast()
        }
    }

    /// Waits for an event from a position on.
    /// - Returns: What `body` made of it, and the position behind it.
    @discardableResult
    func next<Result>(
        from start: Int = 0, _ what: String = "event", at location: SourceLocation = #_sourceLocation,
        _ body: (TweakDaemonEvent) -> Result?
    ) throws -> (value: Result, end: Int) {
        let deadline = Date(timeIntervalSinceNow: Double(TestClient.patience) / 1_000)
        let found: (Result, Int)? = condition.withLock {
            var next = start
            while true {
                while next < list.count {
                    if let result = body(list[next]) { return (result, next + 1) }
                    next += 1
                }
                guard condition.wait(until: deadline) else { return nil }
            }
        }
        return try #require(found, "no \(what); so far: \(all)", sourceLocation: location)
    }

    /// How many there are that `body` wants.
    func count(_ body: (TweakDaemonEvent) -> Bool) -> Int { all.count { body($0) } }
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

/// Who is connected, as long as they are.
private final class Connections {
    struct Entry {
        weak var client: TestClient?
        let daemon: ObjectIdentifier
    }

    var list: [Entry] = []
}

/// Directories, a config file, a registry and events that a test has for itself.
struct Station {
    let directory: TemporaryDirectory
    let registry: TweakRegistry
    let events = Events()
    private let connections = Connections()

    init(registry: TweakRegistry = ExampleTweaks().registry) throws {
        directory = try TemporaryDirectory()
        self.registry = registry
    }

    /// The path of the config file.
    var config: String { directory.file("example.conf") }
    /// The directory of the overrides.
    var state: String { directory.file("state") }
    /// The overrides file.
    var overrides: String { "\(state)/overrides.json" }

    /// Starts a daemon here. Another run has a registry of its own, as another process would.
    func start(
        _ config: TweakDaemon.ConfigFile? = nil, storage: TweakDaemon.Storage? = nil,
        durability: TweakDaemon.Durability = .bestEffort, registry: TweakRegistry? = nil,
        _ environment: [String: String] = [:], onEvent: TweakDaemon.EventHandler? = nil
    ) throws(ServerError) -> TweakDaemon {
        let base = ["XDG_RUNTIME_DIR": directory.path, "HOME": "/nonexistent", "LANG": "C"]
        let events = events
        let configuration = TweakDaemon.Configuration.test(
            registry ?? self.registry, base.merging(environment) { $1 }
        ) {
            ($0.config, $0.storage, $0.durability) = (config, storage ?? .directory(state), durability)
            $0.onEvent = { event in
                onEvent?(event)
                events.add(event)
            }
        }
        return try TweakDaemon.start("example", configuration)
    }

    /// A connection to a daemon.
    func connect(_ daemon: TweakDaemon) throws -> TestClient {
        let client = try TestClient(unix: try #require(daemon.socketPath), owner: daemon)
        connections.list.append(Connections.Entry(client: client, daemon: ObjectIdentifier(daemon)))
        return client
    }

    /// Stops a daemon, once the clients that are connected here have said that they are done: it would wait for them.
    func stop(_ daemon: TweakDaemon) {
        for entry in connections.list where entry.daemon == ObjectIdentifier(daemon) { entry.client?.endInput() }
        connections.list.removeAll { $0.daemon == ObjectIdentifier(daemon) }
        daemon.stop()
    }

    /// Puts a file in place as an editor does: as a whole.
    func save(_ text: String, at path: String? = nil) throws {
        let path = path ?? config
        let new = path + ".new"
        try Data(text.utf8).write(to: URL(fileURLWithPath: new))
        guard rename(new, path) == 0 else { throw ClientError.system("rename", errno) }
    }

    /// What one of the figures of `stats` says.
    func figure(_ name: String, _ client: TestClient) throws -> String? {
        let lines = try client.ask("stats")
        return lines.first { $0.hasPrefix("  \(name): ") }.map { String($0.dropFirst(name.count + 4)) }
    }

    /// The paths in the overrides file, sorted as they are there.
    func storedPaths() throws -> [String] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: overrides))
        let file = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let list = try #require(file["overrides"] as? [[String: Any]])
        return list.compactMap { $0["path"] as? String }
    }
}
