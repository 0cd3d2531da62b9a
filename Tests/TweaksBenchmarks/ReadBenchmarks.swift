// Compares reading a tweak with reading a plain property.

import Foundation
import Synchronization
import Tweaks

/// A class with a plain property that the optimizer cannot see through.
final class PlainProperty<Value>: @unchecked Sendable {
    // Unchecked: the benchmark never writes while it reads.
    var value: Value
    init(_ value: Value) {
        self.value = value
        Measure.keep(self)
    }
}

enum ReadBenchmarks {
    private static let count = 5_000_000

    static func run() {
        let registry = TweakRegistry()
        scalars(registry)
        string(Tweak("Bench", "Read", "String", "a string that is longer than fifteen bytes", registry: registry))
        callSite()
        secondReader(Tweak("Bench", "Read", "Number", 0.5, registry: registry))
    }

    // Each loop is written out: a generic one would measure generic code.
    private static func scalars(_ registry: TweakRegistry) {
        let bool = (Tweak("Bench", "Read", "Bool", true, registry: registry), PlainProperty(true))
        compare("bool") {
            loop { bool.0.value ? 3 : 5 }
        } _: {
            loop { bool.1.value ? 3 : 5 }
        }
        let int = (Tweak("Bench", "Read", "Int", 3, registry: registry), PlainProperty(3))
        compare("int") {
            loop { int.0.value }
        } _: {
            loop { int.1.value }
        }
        let number = (Tweak("Bench", "Read", "Number", 0.5, registry: registry), PlainProperty(0.5))
        compare("number") {
            loop { bits(number.0.value) }
        } _: {
            loop { bits(number.1.value) }
        }
        let black = TweakColor.black
        let color = (Tweak("Bench", "Read", "Color", black, registry: registry), PlainProperty(black))
        compare("color") {
            loop { sum(color.0.value) }
        } _: {
            loop { sum(color.1.value) }
        }
        let time = (Tweak("Bench", "Read", "Time", Duration.zero, registry: registry), PlainProperty(Duration.zero))
        compare("duration") {
            loop { Int(time.0.value.components.seconds) }
        } _: {
            loop { Int(time.1.value.components.seconds) }
        }
        let wrapped = (Wrapped(registry), PlainProperty(0.5))
        compare("number through the wrapper") {
            loop { bits(wrapped.0.number) }
        } _: {
            loop { bits(wrapped.1.value) }
        }
    }

    private struct Wrapped {
        @Tweak var number: Double
        init(_ registry: TweakRegistry) {
            _number = Tweak(wrappedValue: 0.5, "Bench", "Read", "Wrapped", in: 0...1, registry: registry)
        }
    }

    /// Combines each read with the previous ones, like a program that uses them. The fence costs nothing here, but
    /// keeps the reads inside the loop.
    @inline(__always)
    private static func loop(_ read: () -> Int) {
        var sum = 0
        for _ in 0..<count {
            sum = (sum << 1 | sum >> 63) ^ read()
            atomicMemoryFence(ordering: .acquiringAndReleasing)
        }
        sink.store(sum, ordering: .relaxed)
    }

    /// Receives the sums, so that the optimizer keeps them.
    private static let sink = Atomic(0)

    /// The bits of a double: adding doubles would take longer than reading them.
    @inline(__always)
    private static func bits(_ value: Double) -> Int { Int(truncatingIfNeeded: value.bitPattern) }

    /// All four channels.
    @inline(__always)
    private static func sum(_ color: TweakColor) -> Int { Int(truncatingIfNeeded: color.tweakWord) }

    private static func compare(_ name: String, _ ours: () -> Void, _ theirs: () -> Void) {
        let times = Measure.pair(operations: count, ours, theirs)
        Table.row("\(name) / plain property", ours: times.ours, theirs: times.theirs, unit: "ns", goal: "≤ 1.2")
    }

    private static func string(_ tweak: Tweak<String>) {
        let time = Measure.nanoseconds { loop { tweak.value.utf8.count } } / Double(count)
        Table.row("string", value: time, unit: "ns", goal: "≤ 25 ns")
    }

    private static func callSite() {
        let plain = PlainProperty(60.0)
        let times = Measure.pair(operations: count) {
            loop { bits(tweakValue("Bench", "Site", "Size", 60.0, in: 10...100)) }
        } _: {
            loop { bits(plain.value) }
        }
        Table.row(
            "tweakValue(…) at a call site / plain property", ours: times.ours, theirs: times.theirs, unit: "ns",
            goal: "≤ 10")
    }

    private static func secondReader(_ tweak: Tweak<Double>) {
        let stop = Atomic(false)
        let alone = (0..<7).map { _ in Measure.nanoseconds { loop { bits(tweak.value) } } / Double(count) }
        let other = Thread {
            while !stop.load(ordering: .relaxed) { loop { bits(tweak.value) } }
        }
        other.start()
        let together = (0..<7).map { _ in Measure.nanoseconds { loop { bits(tweak.value) } } / Double(count) }
        stop.store(true, ordering: .relaxed)
        Table.row(
            "number with a second reader / alone", ours: Measure.median(together), theirs: Measure.median(alone),
            unit: "ns", goal: "flat")
    }
}
