// Measures a polite client beside many watchers that do not read: small sets, and commits of many tweaks.

import Foundation
import Synchronization
import Tweaks
import TweaksServer

enum FanOutBenchmarks {
    /// The number of tweaks of the large commits.
    static let tweakCount = 10_000

    static func run() throws {
        DescriptorLimit.raise()
        try sets(watchers: 1_000)
        for watchers in [100, 1_000] { try largeCommits(watchers: watchers) }
        try requests()
    }

    /// Sets of one tweak, which all watch and none reads.
    private static func sets(watchers: Int) throws {
        let server = try Peer.manyTweaks(tweakCount)
        let deaf = try Peer.deafWatchers(of: server.port, count: watchers)
        let setter = try Connection(port: server.port)
        var number = 0
        let times = try (0..<2_000).map { _ in
            number += 1
            return try Measure.nanoseconds { try setter.ask("set Bench/Many/Number7 \(number)\n") }
        }
        withExtendedLifetime(deaf) {}
        for (name, fraction, goal) in [("p50", 0.5, ""), ("p99", 0.99, "≤ 20 ms")] {
            Table.row(
                "set beside \(watchers) watchers that do not read, \(name)",
                value: Measure.percentile(times, fraction) / 1e6, unit: "ms", goal: goal)
        }
        report(server, watchers)
    }

    /// Gets while commits of all tweaks are distributed.
    private static func largeCommits(watchers: Int) throws {
        let server = try Peer.manyTweaks(tweakCount)
        let deaf = try Peer.deafWatchers(of: server.port, count: watchers)
        let (polite, committer) = (try Connection(port: server.port), try Connection(port: server.port))
        var times: [Double] = []
        for _ in 0..<5 {
            try committer.ask("run Bench/Count/Commit\n")
            let end = ContinuousClock.now + .seconds(1)
            while ContinuousClock.now < end { times += try polite.latencies(1, "get Bench/Many/Number7\n") }
        }
        withExtendedLifetime(deaf) {}
        for (name, fraction, goal) in [("p99", 0.99, "≤ 20 ms"), ("worst", 1, "")] {
            Table.row(
                "get beside commits of \(tweakCount) tweaks, \(watchers) watchers, \(name)",
                value: Measure.percentile(times, fraction) / 1e6, unit: "ms", goal: goal)
        }
        report(server, watchers)
    }

    private static func report(_ server: Peer, _ watchers: Int) {
        Table.row(
            "memory of the process with \(watchers) watchers", value: Double(server.residentBytes) / 1e6, unit: "MB",
            goal: "≤ 128 MB")
    }

    /// Gets of one client while another one sends commands that visit 100,000 tweaks.
    private static func requests() throws {
        let server = try Peer.manyTweaks(100_000)
        for request in ["stats", "ls", "modified", "get **/Number77777", "export **/Number7777?"] {
            let (polite, other) = (try Connection(port: server.port), try Connection(port: server.port))
            var times: [Double] = []
            for _ in 0..<40 {
                try other.send(Array("\(request)\n".utf8))
                times += try polite.latencies(4, "get Bench/Many/Number7\n")
                try other.receiveStatuses(1)
            }
            Table.row(
                "get beside \(request) of 100000 tweaks, worst", value: (times.max() ?? 0) / 1e6, unit: "ms",
                goal: "≤ 10 ms")
        }
    }
}

/// The process of the watchers that do not read, until it is killed.
enum DeafWatchers {
    static func run(port: UInt16, count: Int) throws -> Never {
        DescriptorLimit.raise()
        let watchers = try (0..<count).map { _ in
            let connection = try Connection(port: port, buffer: 4_096)
            try connection.ask("watch * since 1\n")
            return connection
        }
        Peer.serve("1", keeping: watchers)
    }
}

extension ServedTweaks {
    /// Serves many numbers with default limits, but for the rates, and an action that changes all of them.
    static func serveMany(_ count: Int) throws -> Never {
        DescriptorLimit.raise()
        let tweaks = (0..<count).map { Tweak("Bench", "Many", "Number\($0)", 0.0) }
        tweaks[0].value = 1
        let commits = Counter()
        tweakAction("Bench", "Count", "Commit") { _ in
            let value = TweakValue.number(Double(commits.next()))
            try TweakRegistry.shared.commit(origin: .code) { batch in
                for tweak in tweaks { batch.set("\(tweak.path)", value) }
            }
            return ""
        }
        var limits = TweakServerLimits()
        limits.commitsPerSecond = nil
        limits.sessionsPerPeer = limits.sessions
        let server = TweakServer(name: "bench", registry: .shared, listeners: [.tcp(port: 0)], limits: limits)
        try server.start()
        Peer.serve("\(server.port ?? 0)", keeping: server, tweaks)
    }

    /// Counts from two.
    private final class Counter: Sendable {
        private let count = Atomic(1)

        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }
}
