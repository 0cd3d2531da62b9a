// Measures the cost of a change.

import Tweaks

enum SetBenchmarks {
    static func run() throws {
        try oneObserver()
        try batch()
    }

    private static func oneObserver() throws {
        let registry = TweakRegistry()
        let tweak = Tweak("Bench", "Set", "Number", 0.0, in: 0...1e9, registry: registry)
        let observation = tweak.observe { Measure.keep($0.new) }
        let count = 200_000
        let times = try (0..<9).map { round in
            try Measure.nanoseconds {
                for step in 0..<count { try tweak.set(Double(step + round % 2)) }
            } / Double(count)
        }
        observation.cancel()
        Table.row("set a number with one observer", value: Measure.median(times), unit: "ns", goal: "≤ 1000 ns")
    }

    private static func batch() throws {
        let registry = TweakRegistry()
        let tweaks = (0..<1_000).map { Tweak("Bench", "Batch", "Number \($0)", 0.0, registry: registry) }
        let times = try (1...30).map { round in
            try Measure.nanoseconds {
                try registry.commit(origin: .code) { batch in
                    for tweak in tweaks { batch.set(tweak, Double(round)) }
                }
            } / 1_000
        }
        Table.row("commit of 1,000 tweaks", value: Measure.median(times), unit: "µs", goal: "≤ 1000 µs")
    }
}
