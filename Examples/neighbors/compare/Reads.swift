// Compares reading a number: a tweak, a plain variable, UserDefaults, and a snapshot of swift-configuration.

import Configuration
import Foundation
import Synchronization
import Tweaks
import TweaksConfiguration

/// A variable that the optimizer cannot see through.
private final class Plain {
    var value = 0.5
    @inline(never) @_optimize(none) init() {}
}

extension Report {
    func reads() throws {
        let registry = TweakRegistry()
        let tweak = Tweak("Compare", "Read", "Number", 0.5, registry: registry)
        let plain = Plain()
        let defaults = UserDefaults.standard
        defaults.register(defaults: ["number": 0.5])
        let memory = ConfigReader(provider: InMemoryProvider(values: ["number": 0.5])).snapshot()
        let reader = ConfigReader(provider: TweakConfigProvider(registry))
        let few = max(scale.reads / 100, 1)
        try section(
            "reading a number", .nanoseconds,
            [
                Side(name: "Tweaks") { loop(scale.reads) { tweak.value } },
                Side(name: "a plain variable") { loop(scale.reads) { plain.value } },
                Side(name: "UserDefaults") { loop(few) { defaults.double(forKey: "number") } },
                Side(name: "swift-configuration, a snapshot") {
                    loop(few) { memory.double(forKey: "number", default: 0) }
                },
                Side(name: "a tweak by swift-configuration's reader") {
                    loop(few) { reader.double(forKey: "compare.read.number", default: 0) }
                },
            ])
    }

    /// Combines each read with the ones before; the fence costs nothing here, but keeps the read in the loop.
    @inline(__always)
    private func loop(_ count: Int, _ read: () -> Double) -> Double {
        seconds(count) {
            var sum: UInt64 = 0
            for _ in 0..<count {
                sum = (sum << 1 | sum >> 63) ^ read().bitPattern
                atomicMemoryFence(ordering: .acquiringAndReleasing)
            }
            sink.store(sum, ordering: .relaxed)
        }
    }
}

/// Receives the sums, so that the optimizer keeps them.
private let sink = Atomic<UInt64>(0)
