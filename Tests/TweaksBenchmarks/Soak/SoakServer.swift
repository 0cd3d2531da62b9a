// Runs the daemon of the soak: its tweaks, a config file that keeps changing, and restarts.

import Foundation
import Synchronization
import Tweaks
import TweaksDaemon
import TweaksServer

/// A daemon with all features enabled, which restarts with the same registry.
final class SoakServer {
    let socketPath: String
    /// Zero until the first start; then it stays the same.
    private(set) var port = 0
    private let registry = TweakRegistry()
    private let directory: WorkDirectory
    private var daemon: TweakDaemon?
    private var generator: SeededGenerator
    private var configs = 0
    private var restartTimes: [Double] = []
    private let events = EventCounts()

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        directory = try WorkDirectory("soak")
        socketPath = directory.path("soak.sock")
        declare()
        try saveConfig()
        try start()
    }

    deinit { directory.remove() }

    private func declare() {
        // A short history is full when the warm-up ends; a long one would legitimately grow for half an hour.
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

    // MARK: Running

    /// Changes the config file twice a second, and restarts the daemon from time to time.
    func run(seconds: Double) throws {
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

    /// Stops the daemon with all sessions, and starts another one on the same endpoints.
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
        configuration.config = .init(directory.path("soak.conf"))
        configuration.storage = .directory(directory.path("state"))
        (configuration.registry, configuration.limits) = (registry, limits)
        configuration.environment = ["TWEAKS_SOCKET": socketPath]
        configuration.onEvent = { [events] in events.count($0) }
        let daemon = try TweakDaemon.start("soak", configuration)
        self.daemon = daemon
        port = daemon.port ?? 0
    }

    /// Timeouts that a soak can reach.
    private var limits: TweakServerLimits {
        var limits = TweakServerLimits()
        limits.sessionsPerPeer = limits.sessions
        // All clients have the same address.
        limits.commitsPerSecond = nil
        limits.timeToFirstLine = .seconds(3)
        limits.idleTime = .seconds(5)
        limits.lingerTime = .seconds(1)
        limits.unsentBytes = 65_536
        return limits
    }

    /// Saves another config file; some have an invalid value or an unknown tweak.
    private func saveConfig() throws {
        configs += 1
        var lines = (0..<10).map { "Soak/File/F\($0) = \(Int.random(in: 0...1_000, using: &generator))" }
        if configs.isMultiple(of: 7) { lines.append("Soak/File/F0 = nonsense") }
        if configs.isMultiple(of: 11) { lines.append("Soak/Gone/Tweak = 1") }
        let path = directory.url.appendingPathComponent("soak.conf")
        try Data(lines.joined(separator: "\n").utf8).write(to: path, options: .atomic)
    }

    /// A summary with the counts of the daemon's events.
    var account: String {
        let longest = String(format: "%.1f", restartTimes.max() ?? 0)
        return "\(configs) config files, \(restartTimes.count) restarts that took \(longest) s at most, "
            + "rev \(registry.revision); events: \(events.text)"
    }
}

/// Counts events under the names of their cases.
private final class EventCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func count(_ event: TweakDaemonEvent) {
        let name = Mirror(reflecting: event).children.first?.label ?? "\(event)"
        counts.withLock { $0[name, default: 0] += 1 }
    }

    var text: String {
        counts.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
