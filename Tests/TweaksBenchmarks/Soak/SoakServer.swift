// The daemon of the soak: its tweaks, its config file that changes all the time, and its restarts.

import Foundation
import Synchronization
import Tweaks
import TweaksDaemon
import TweaksServer

/// A daemon with everything switched on, which is stopped and started again on one registry.
final class SoakServer {
    let socketPath: String
    /// Zero until the first start; then the same for all.
    private(set) var port = 0
    private let registry = TweakRegistry()
    private let directory: URL
    private var daemon: TweakDaemon?
    private var generator: SeededGenerator
    private var configs = 0
    private var restartTimes: [Double] = []
    private let events = EventTally()

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("tweaks-soak-\(getpid())")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        socketPath = directory.appendingPathComponent("soak.sock").path
        declare()
        try saveConfig()
        try start()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func declare() {
        // A short one is full when the warm-up ends; a long one would go on growing for half an hour, as it may.
        registry.historyLimit = 50
        for number in 0..<100 {
            _ = Tweak("Soak", "Numbers", "N\(number)", 0.0, in: -1e9...1e9, registry: registry)
            _ = Tweak("Soak", "Texts", "T\(number)", "nothing", registry: registry)
        }
        for number in 0..<10 { _ = Tweak("Soak", "File", "F\(number)", 0, registry: registry) }
        _ = Tweak("Soak", "File", "Key", "", flags: .secret, registry: registry)
        tweakAction("Soak", "Actions", "Slow", registry: registry) { _ in
            try await Task.sleep(for: .milliseconds(50))
            return "done"
        }
        tweakAction("Soak", "Actions", "Long", registry: registry) { _ in String(repeating: "line\n", count: 1_000) }
    }

    // MARK: Its life

    /// Changes the config file twice a second, and starts the daemon anew now and then.
    func live(seconds: Double) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        var restartAt = ContinuousClock.now + .seconds(8)
        while ContinuousClock.now < end {
            usleep(500_000)
            try saveConfig()
            if ContinuousClock.now < restartAt { continue }
            try restart()
            restartAt = .now + .seconds(Int.random(in: 8...20, using: &generator))
        }
    }

    /// Stops the daemon, sessions and all, and starts another one at the same places.
    func restart() throws {
        let time = try Measure.nanoseconds {
            stop()
            try start()
        }
        restartTimes.append(time / 1e9)
    }

    func stop() {
        daemon?.stop()
        daemon = nil
    }

    private func start() throws {
        var configuration = TweakDaemon.Configuration()
        (configuration.tcp, configuration.signals) = (.open(port: port), [])
        configuration.config = .init(directory.appendingPathComponent("soak.conf").path)
        configuration.storage = .directory(directory.appendingPathComponent("state").path)
        (configuration.registry, configuration.limits) = (registry, limits)
        configuration.environment = ["TWEAKS_SOCKET": socketPath]
        configuration.onEvent = { [events] in events.note($0) }
        let daemon = try TweakDaemon.start("soak", configuration)
        self.daemon = daemon
        port = daemon.port ?? 0
    }

    /// Patience that a soak can exhaust.
    private var limits: TweakServerLimits {
        var limits = TweakServerLimits()
        limits.sessionsPerPeer = limits.sessions
        // All of its clients are one address.
        limits.commitsPerSecond = nil
        limits.timeToFirstLine = .seconds(3)
        limits.idleTime = .seconds(5)
        limits.lingerTime = .seconds(1)
        limits.unsentBytes = 65_536
        return limits
    }

    /// Another config file; now and then one that is wrong, or only half there.
    private func saveConfig() throws {
        configs += 1
        var lines = (0..<10).map { "Soak/File/F\($0) = \(Int.random(in: 0...1_000, using: &generator))" }
        if configs.isMultiple(of: 7) { lines.append("Soak/File/F0 = nonsense") }
        if configs.isMultiple(of: 11) { lines.append("Soak/Gone/Tweak = 1") }
        let path = directory.appendingPathComponent("soak.conf")
        try Data(lines.joined(separator: "\n").utf8).write(to: path, options: .atomic)
    }

    /// How much happened, from the daemon's own events.
    var account: String {
        let longest = String(format: "%.1f", restartTimes.max() ?? 0)
        return "\(configs) config files, \(restartTimes.count) restarts that took \(longest) s at most, "
            + "rev \(registry.revision); events: \(events.text)"
    }
}

/// Counts events under the names of their cases.
private final class EventTally: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func note(_ event: TweakDaemonEvent) {
        let name = Mirror(reflecting: event).children.first?.label ?? "\(event)"
        counts.withLock { $0[name, default: 0] += 1 }
    }

    var text: String {
        counts.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
