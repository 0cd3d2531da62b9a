// A registry whose listing exceeds all buffers, created once for all tests that read it.

package import Tweaks

/// The example tweaks, and 50,000 more under `Many/Tweaks`; 20,000 in a short run. Tests share it and must not change
/// it.
package enum LongListing {
    package static let count = quantity(50_000, few: 20_000)

    package static let registry: TweakRegistry = {
        let registry = ExampleTweaks().registry
        for number in 0..<count { _ = Tweak("Many", "Tweaks", "Number \(number)", number, registry: registry) }
        return registry
    }()
}
