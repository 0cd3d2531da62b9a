// What a read costs beside a read of a plain property.

import Foundation
import Synchronization
import Tweaks

/// A plain property of a class, which the optimiser cannot look through.
final class Plain<Value>: @unchecked Sendable {
    // Unchecked: the benchmark never writes while it reads.
    var value: Value
    init(_ value: Value) { self.value = value }
}

enum ReadBenchmarks {
    private static let count = 5_000_000
    nonisolated(unsafe) private static var sink = 0.0  // Written by one thread at a time.

    static func run() {
        let registry = TweakRegistry()
        scalar("bool", Tweak("Bench", "Read", "Bool", true, registry: registry)) { $0 ? 1 : 0 }
        scalar("int", Tweak("Bench", "Read", "Int", 3, registry: registry)) { Double($0) }
        scalar("number", Tweak("Bench", "Read", "Number", 0.5, registry: registry)) { $0 }
        scalar("color", Tweak("Bench", "Read", "Color", TweakColor.black, registry: registry)) { Double($0.red) }
        scalar("duration", Tweak("Bench", "Read", "Duration", Duration.seconds(1), registry: registry)) {
            Double($0.components.seconds)
        }
        string(Tweak("Bench", "Read", "String", "a string that is longer than fifteen bytes", registry: registry))
        callSite()
        secondReader(Tweak("Bench", "Read", "Number", 0.5, registry: registry))
    }

    @inline(__always)
    private static func scalar<Value>(_ name: String, _ tweak: Tweak<Value>, _ use: (Value) -> Double) {
        let plain = Plain(tweak.value)
        let (ours, theirs) = Measure.pair(operations: count) {
            var sum = 0.0
            for _ in 0..<count { sum += use(tweak.value) }
            sink += sum
        } _: {
            var sum = 0.0
            for _ in 0..<count {
                sum += use(plain.value)
                opaque(plain)
            }
            sink += sum
        }
        Table.row("\(name) through Tweak.value / plain property", ours: ours, theirs: theirs, unit: "ns", goal: "≤ 1.2")
    }

    /// Nothing, but the optimiser does not know: the property may have changed.
    @inline(__always)
    private static func opaque(_ object: AnyObject) {
        withExtendedLifetime(object) { atomicFence() }
    }

    @inline(__always)
    private static func atomicFence() { atomicMemoryFence(ordering: .acquiring) }

    private static func string(_ tweak: Tweak<String>) {
        var total = 0
        let time = Measure.nanoseconds { for _ in 0..<count { total &+= tweak.value.utf8.count } } / Double(count)
        Measure.keep(total)
        Table.row("string through Tweak.value", value: time, unit: "ns", goal: "≤ 25 ns")
    }

    private static func callSite() {
        let plain = Plain(60.0)
        let (ours, theirs) = Measure.pair(operations: count) {
            var sum = 0.0
            for _ in 0..<count { sum += tweakValue("Bench", "Site", "Size", 60.0, in: 10...100) }
            sink += sum
        } _: {
            var sum = 0.0
            for _ in 0..<count {
                sum += plain.value
                opaque(plain)
            }
            sink += sum
        }
        Table.row("tweakValue(…) at a call site / plain property", ours: ours, theirs: theirs, unit: "ns", goal: "≤ 10")
    }

    private static func secondReader(_ tweak: Tweak<Double>) {
        let stop = Atomic(false)
        let loop = {
            var sum = 0.0
            for _ in 0..<count { sum += tweak.value }
            sink += sum
        }
        let alone = (0..<7).map { _ in Measure.nanoseconds(loop) / Double(count) }
        let other = Thread {
            var sum = 0.0
            while !stop.load(ordering: .relaxed) { sum += tweak.value }
            Measure.keep(sum)
        }
        other.start()
        let together = (0..<7).map { _ in Measure.nanoseconds(loop) / Double(count) }
        stop.store(true, ordering: .relaxed)
        Table.row(
            "number with a second reader / alone", ours: Measure.median(together), theirs: Measure.median(alone),
            unit: "ns", goal: "flat")
    }
}
