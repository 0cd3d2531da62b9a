// Measures config reloads and stored overrides: from saving a file to its observer, long files, and starts.

import Foundation
import Synchronization
import Tweaks
import TweaksStorage

enum ReloadBenchmarks {
    private static let count = 10_000

    static func run() throws {
        let directory = try WorkDirectory("reload")
        defer { directory.remove() }
        try savedToObserved(directory.path("a.conf"))
        try long(directory.path("long.conf"))
        try start(directory.path("state"))
    }

    // MARK: Watching

    /// Saves a file by rename, as editors do.
    private static func save(_ text: String, _ path: String) throws {
        try text.write(toFile: path + ".new", atomically: false, encoding: .utf8)
        rename(path + ".new", path)
    }

    private static func savedToObserved(_ path: String) throws {
        let registry = TweakRegistry()
        let tweak = try registry.register("A", "B", "C", 0)
        let seen = DispatchSemaphore(value: 0)
        let observation = tweak.observe { _ in seen.signal() }
        let reloader = ConfigReloader(path: path, policy: LayerPolicy(), registry: registry) { _ in }
        let watcher = FileWatcher(path: path, onProblem: { print($0) }, onChange: { _ in reloader.reloadIfChanged() })
        watcher.start()
        defer { watcher.stop() }
        try save("A/B/C = -1\n", path)
        seen.wait()
        let times = try (1...300).map { round in
            try Measure.nanoseconds {
                try save("A/B/C = \(round)\n", path)
                seen.wait()
            }
        }
        for (name, fraction, goal) in [("p50", 0.5, ""), ("p99", 0.99, "< 50 ms")] {
            Table.row(
                "file saved → observer called, \(name) (20 ms of it settling)",
                value: Measure.percentile(times, fraction) / 1e6, unit: "ms", goal: goal)
        }
        observation.cancel()
    }

    // MARK: Long files

    private static func long(_ path: String) throws {
        let registry = TweakRegistry()
        let tweaks = try (0..<count).map { try registry.register("A", "Group \($0 / 100)", "N\($0)", 0.0) }
        let files = [1, 2].map { value in
            (0..<count).map { "\"A/Group \($0 / 100)/N\($0)\" = \($0 + value)\n" }.joined()
        }
        let reloader = ConfigReloader(path: path, policy: LayerPolicy(), registry: registry) { _ in }
        let times = try (0..<20).map { round in
            try save(files[round % 2], path)
            return try Measure.nanoseconds { try reloader.reload() }
        }
        Table.row(
            "reload of 10,000 lines, all of them changed", value: Measure.median(times) / 1e6, unit: "ms",
            goal: "< 100 ms")
        try reads(of: tweaks[0], while: reloader, files, path)
    }

    private static func reads(
        of tweak: Tweak<Double>, while reloader: ConfigReloader, _ files: [String], _ path: String
    ) throws {
        func read() {
            for _ in 0..<1_000_000 { Measure.keep(tweak.value) }
        }
        let alone = Measure.median((0..<15).map { _ in Measure.nanoseconds(read) })
        let stop = Atomic(false)
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            var round = 0
            while !stop.load(ordering: .relaxed) {
                round += 1
                try? save(files[round % 2], path)
                _ = try? reloader.reload()
            }
            ended.signal()
        }
        thread.start()
        let together = Measure.median((0..<15).map { _ in Measure.nanoseconds(read) })
        stop.store(true, ordering: .relaxed)
        ended.wait()
        Table.row(
            "a read while 10,000 lines are reloaded / alone", ours: together / 1e6, theirs: alone / 1e6, unit: "ns",
            goal: "≈ 1")
    }

    // MARK: Starting

    private static func start(_ directory: String) throws {
        do {
            let registry = TweakRegistry()
            let store = OverrideStore(directory: directory, program: "bench") { _ in }
            store.open(registry)
            try fill(registry) { try $0.set(.number(1)) }
            store.close()
        }
        let times = try (0..<10).map { _ in
            let registry = TweakRegistry()
            try fill(registry) { _ in }
            let store = OverrideStore(directory: directory, program: "bench") { _ in }
            let time = Measure.nanoseconds { store.open(registry) }
            guard registry["A/Group 99/N9999"]?.value == .number(1) else { fatalError("nothing was stored") }
            store.close()
            return time
        }
        Table.row(
            "start with 10,000 stored overrides", value: Measure.median(times) / 1e6, unit: "ms", goal: "< 200 ms")
    }

    private static func fill(_ registry: TweakRegistry, _ body: (AnyTweak) throws -> Void) throws {
        for number in 0..<count {
            try body(registry.register("A", "Group \(number / 100)", "N\(number)", 0.0).erased)
        }
    }
}
