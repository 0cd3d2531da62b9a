// Measures temporary overrides: the cost of pending ones, wake-ups, and how exactly they expire.

import Foundation
import Synchronization
import Tweaks

enum TemporaryBenchmarks {
    private static let pending = 1_000
    private static let count = 100_000

    static func run() throws {
        let (with, without) = (try Side(pending: pending), try Side(pending: 0))
        let times = try Measure.pair(operations: count, { try with.commits() }, { try without.commits() })
        Table.row(
            "commit, 1,000 temporary overrides pending / none", ours: times.ours, theirs: times.theirs, unit: "ns",
            goal: "≤ 1.05")
        Table.row("switches of threads in 2 s with 1,000 pending", value: idle(), unit: "", goal: "0")
        try withExtendedLifetime((with, without)) { try exactness() }
    }

    /// A registry with tweaks that are set for an hour, and one that is set permanently.
    private struct Side {
        let registry = TweakRegistry()
        let plain: Tweak<Int>

        init(pending: Int) throws {
            plain = try registry.register("Bench", "Temporary", "PlainProperty", 0)
            for number in 0..<pending {
                let tweak = try registry.register("Bench", "Temporary", "Number \(number)", 0)
                try tweak.set(1, for: .seconds(3_600 + number))
            }
        }

        func commits() throws {
            for value in 0..<TemporaryBenchmarks.count { try plain.set(value) }
        }
    }

    /// The voluntary context switches in two idle seconds.
    private static func idle() -> Double {
        // Lets pending work of the runtime end first.
        Thread.sleep(forTimeInterval: 0.5)
        let before = switches()
        Thread.sleep(forTimeInterval: 2)
        // The sleep itself is one.
        return Double(switches() - before - 1)
    }

    private static func switches() -> Int {
        var usage = rusage()
        // RUSAGE_SELF, which is 0 everywhere, and another type in each C library.
        getrusage(0, &usage)
        return usage.ru_nvcsw
    }

    /// Measures 200 expirations within half a second.
    private static func exactness() throws {
        let registry = TweakRegistry()
        let late = Mutex<[Double]>([])
        let ended = DispatchSemaphore(value: 0)
        var observations: [TweakObservation] = []
        for number in 0..<200 {
            let tweak = try registry.register("Bench", "Exact", "Number \(number)", 0)
            let lifetime = Duration.milliseconds(100 + 2 * number)
            let end = ContinuousClock.now + lifetime
            observations.append(
                tweak.observe { change in
                    guard change.new == 0 else { return }
                    late.withLock { $0.append((.now - end) / .milliseconds(1)) }
                    ended.signal()
                })
            try tweak.set(1, for: lifetime)
        }
        for _ in observations { ended.wait() }
        let times = late.withLock(\.self)
        Table.row("an end, too late by, p50", value: Measure.median(times), unit: "ms", goal: "–")
        Table.row("an end, too late by, the latest", value: times.max() ?? 0, unit: "ms", goal: "≤ 100 ms")
    }
}
