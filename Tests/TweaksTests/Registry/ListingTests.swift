// Tests that a listing that grows with registrations is the one that sorting all tweaks gives.

import Testing
import Tweaks
import TweaksTestSupport

struct ListingTests {
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
