// Tests that a listing that grows with registrations is the one that sorting all tweaks gives.

import Testing
import Tweaks
import TweaksTestSupport

struct ListingTests {
    /// Bytes decide where the numbers are equal, so that the order is the same in each run.
    @Test func numbersInNamesAreSortedByTheirValue() {
        let names = [
            "-1", "02", "2", "10", "010x", "99999999999999999998", "99999999999999999999", "A", "Screen", "Screen 2",
            "Screen 10", "Screen 10 b", "Screen 10 b2", "Screen 10 b10", "a", "é1", "é2", "é10",
        ]
        let registry = TweakRegistry()
        for name in names.reversed() {
            _ = Tweak(name, "B", "C", 0, registry: registry)
            _ = Tweak("All", name, "C", 0, registry: registry)
        }
        #expect(registry.categories.map(\.name).filter { $0 != "All" } == names)
        #expect(registry.categories.first { $0.name == "All" }?.collections.map(\.name) == names)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func aListingThatGrewIsTheSameAsANewOne(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let registry = TweakRegistry()
        var number = 0
        for _ in 0..<30 {
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let (category, collection) = (
                    Int.random(in: 0..<4, using: &random), Int.random(in: 0..<3, using: &random)
                )
                number += 1
                _ = Tweak("C\(category)", "c\(collection)", "T\(number)", 0, registry: registry)
            }
            if Bool.random(using: &random), let tweak = registry.tweaks(matching: "*").randomElement(using: &random) {
                registry.remove(tweak.path)
            }
            // A snapshot sorts its tweaks itself.
            let sorted = registry.snapshot().values(matching: "*").map(\.path)
            #expect(registry.tweaks(matching: "*").map(\.path) == sorted)
            #expect(registry.categories.flatMap(\.tweaks).map(\.path) == sorted)
        }
    }
}
