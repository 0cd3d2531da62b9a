// 100,000 tweaks: registering, memory, and look-ups as fast as with 100.

import Foundation
import Synchronization
import Tweaks
import TweaksServer

enum ScaleBenchmarks {
    static func run() throws {
        let before = residentBytes()
        let large = TweakRegistry()
        let time = Measure.nanoseconds { fill(large, 100_000) }
        let bytes = Double(residentBytes() - before) / 100_000
        Table.row("register 100,000 tweaks", value: time / 1e6, unit: "ms", goal: "≤ 1000 ms")
        Table.row("memory of one tweak", value: bytes, unit: "bytes", goal: "≤ 1024 bytes")
        let small = TweakRegistry()
        fill(small, 100)
        try compare(small, large)
        try others(while: large)
    }

    /// How a polite session fares while another one reads all 100,000 again and again.
    private static func others(while registry: TweakRegistry) throws {
        let server = TweakServer(name: "scale", registry: registry, listeners: [.tcp(port: 0)])
        try server.start()
        defer { server.stop() }
        let port = UInt16(server.port ?? 0)
        let polite = try Connection(port: port)
        let alone = try pings(polite, 2_000)
        let stop = Atomic(false)
        let reader = Thread {
            guard let greedy = try? Connection(port: port) else { return }
            while !stop.load(ordering: .relaxed) {
                try? greedy.send(Array("get *\n".utf8))
                try? greedy.receive(1, linesBeginningWith: "o")
            }
        }
        reader.start()
        let together = try pings(polite, 2_000)
        stop.store(true, ordering: .relaxed)
        Table.row(
            "ping while another session reads 100,000, p99 / alone", ours: Measure.percentile(together, 0.99) / 1_000,
            theirs: Measure.percentile(alone, 0.99) / 1_000, unit: "µs", goal: "no stall: below 10 ms")
    }

    private static func pings(_ connection: Connection, _ count: Int) throws -> [Double] {
        try (0..<count).map { _ in
            try Measure.nanoseconds {
                try connection.send(Array("ping\n".utf8))
                try connection.receive(1, linesBeginningWith: "o")
            }
        }
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

    /// The memory of this process, from the kernel's own account.
    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4_096
    }
}
