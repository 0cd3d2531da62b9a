// A registry whose listing is longer than all buffers, made once for all tests that read it.

package import Tweaks

/// The example tweaks, and 50,000 more under `Many/Tweaks`; fewer in a short run. Tests share it: they change nothing there.
package enum LongListing {
    package static let count = quantity(50_000, few: 20_000)

    package static let registry: TweakRegistry = {
        let registry = ExampleTweaks().registry
        for number in 0..<count { _ = Tweak("Many", "Tweaks", "Number \(number)", number, registry: registry) }
        return registry
    }()
}
