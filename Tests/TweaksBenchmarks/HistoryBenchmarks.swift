// Measures the cost of history, storage and audit for a commit.

import Foundation
import Tweaks
import TweaksDaemon
import TweaksServer

enum HistoryBenchmarks {
    private static let count = 50_000

    static func run() throws {
        try inMemory("a drag: one tweak, one session", merges: true)
        try inMemory("sessions in turn: each an entry", merges: false)
        try onDisk()
    }

    /// A registry with one tweak, and commits of two sessions to it.
    private struct Side {
        let registry = TweakRegistry()
        let node: TweakNode
        let merges: Bool
        private let origins = [TweakOrigin.user(1000), TweakOrigin.user(1001)]

        init(limit: Int, merges: Bool) throws {
            node = try registry.register("Bench", "History", "Number", 0.0, in: 0...1e9).erased.node
            registry.historyLimit = limit
            self.merges = merges
        }

        func commits() throws {
            for step in 0..<HistoryBenchmarks.count {
                let session = merges ? 0 : step & 1
                _ = try registry.commit(
                    node, .set(.number(Double(step))), origin: origins[session],
                    kind: .change(session: UInt64(session + 1)), delivery: .caller)
            }
        }
    }

    private static func inMemory(_ name: String, merges: Bool) throws {
        let (with, without) = (try Side(limit: 1_000, merges: merges), try Side(limit: 0, merges: merges))
        let times = try Measure.pair(operations: count, { try with.commits() }, { try without.commits() })
        Table.row(
            "commit, history of 1,000 / none; \(name)", ours: times.ours, theirs: times.theirs, unit: "ns",
            goal: "≤ 1.3")
    }

    /// Both sides are stored; one also has a history and an audit file.
    private static func onDisk() throws {
        let directory = try WorkDirectory("bench")
        defer { directory.remove() }
        let (with, without) = (try Side(limit: 1_000, merges: false), try Side(limit: 0, merges: false))
        let daemons = try [(with, "with"), (without, "without")].map { side, name in
            var configuration = TweakDaemon.Configuration()
            (configuration.storage, configuration.signals) = (.directory(directory.path(name)), [])
            configuration.audit = name == "with" ? TweakDaemon.Audit(directory.path("audit.log")) : nil
            (configuration.registry, configuration.environment) = (side.registry, ["TWEAKS_SOCKET": "off"])
            configuration.onEvent = { _ in }
            return try TweakDaemon.start(name, configuration)
        }
        let times = try Measure.pair(rounds: 9, operations: count, { try with.commits() }, { try without.commits() })
        for daemon in daemons { daemon.stop() }
        Table.row(
            "commit, stored, with history and audit on disk / without", ours: times.ours, theirs: times.theirs,
            unit: "ns", goal: "≤ 1.3")
    }
}
