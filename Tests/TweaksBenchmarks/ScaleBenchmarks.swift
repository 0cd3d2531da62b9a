// Measures 100,000 tweaks: registration, memory, and look-ups compared with 100 tweaks.

import Tweaks
import TweaksServer

enum ScaleBenchmarks {
    static func run() throws {
        let before = ProcessMetrics.residentBytes(of: "self")
        let large = TweakRegistry()
        let time = Measure.nanoseconds { fill(large, 100_000) }
        let bytes = Double(ProcessMetrics.residentBytes(of: "self") - before) / 100_000
        Table.row("register 100,000 tweaks", value: time / 1e6, unit: "ms", goal: "≤ 1000 ms")
        Table.row("memory of one tweak", value: bytes, unit: "bytes", goal: "≤ 1024 bytes")
        let small = TweakRegistry()
        fill(small, 100)
        try compare(small, large)
        try others(while: large)
    }

    /// Measures a session while another one reads all 100,000 repeatedly.
    private static func others(while registry: TweakRegistry) throws {
        let server = TweakServer(name: "scale", registry: registry, listeners: [.tcp(port: 0)])
        try server.start()
        defer { server.stop() }
        try Contention.report(
            "ping while another session reads 100,000", port: UInt16(server.port ?? 0), pings: 2_000
        ) { greedy in try greedy.ask("get *\n") }
    }

    private static func fill(_ registry: TweakRegistry, _ count: Int) {
        for number in 0..<count {
            _ = Tweak(
                "Category \(number / 5_000)", "Collection \(number / 100 % 50)", "Tweak \(number % 100)",
                Double(number), in: 0...1e6, step: 0.5, unit: "pt", help: "One of many", registry: registry)
        }
    }

    private static func compare(_ small: TweakRegistry, _ large: TweakRegistry) throws {
        let paths = (0..<100).map { "Category 0/Collection 0/Tweak \($0)" }
        let get = Measure.pair(operations: 10_000) {
            for step in 0..<10_000 { Measure.keep(large[paths[step % 100]]?.value) }
        } _: {
            for step in 0..<10_000 { Measure.keep(small[paths[step % 100]]?.value) }
        }
        Table.row("get by path, 100,000 tweaks / 100", ours: get.ours, theirs: get.theirs, unit: "ns", goal: "≈ 1")
        var round = 0.0
        let set = try Measure.pair(operations: 10_000) {
            round += 1
            for step in 0..<10_000 { try large[paths[step % 100]]?.set(.number(round)) }
        } _: {
            for step in 0..<10_000 { try small[paths[step % 100]]?.set(.number(round)) }
        }
        Table.row("set by path, 100,000 tweaks / 100", ours: set.ours, theirs: set.theirs, unit: "ns", goal: "≈ 1")
    }
}
