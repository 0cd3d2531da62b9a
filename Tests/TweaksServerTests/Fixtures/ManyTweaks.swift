// Makes a registry of 10,000 tweaks, the same in each run: a few known ones among many others.

import Tweaks
import TweaksTestSupport

/// The tweaks that `find` and `complete` are tested with.
enum ManyTweaks {
    static let count = 10_000

    /// For all tests that only read.
    static let registry = make()

    /// For a test that changes values.
    static func make() -> TweakRegistry {
        let registry = TweakRegistry()
        addKnown(to: registry)
        // None has a z, k, w, x or j: words with these letters match known tweaks only.
        let words = [
            "alpha", "beta", "gamma", "delta", "ocean", "river", "mountain", "cloud", "stone", "amber", "copper",
            "silver", "candle", "garden", "harbor", "island",
        ]
        var random = SeededGenerator(seed: 4)
        while registry.count < count {
            let parts = (0..<3).map { _ in "\(words.randomElement(using: &random) ?? "")" }
            _ = Tweak(
                "\(parts[0]) \(Int.random(in: 1...9, using: &random))", parts[1],
                "\(parts[2]) \(words.randomElement(using: &random) ?? "") \(registry.count)", registry.count,
                help: "The \(words.randomElement(using: &random) ?? "") of the \(parts[0])", registry: registry)
        }
        return registry
    }

    private static func addKnown(to registry: TweakRegistry) {
        for name in ["Resized", "Oversize", "fontSize", "Size Limit", "Sliding Zone", "Size"] {
            _ = Tweak("Label", "Font", name, 1.0, registry: registry)
        }
        _ = Tweak("Label", "Font", "Shrink", 1.0, help: "Downsized, maybe", registry: registry)
        _ = Tweak("Label", "Font", "Tall", 1.0, help: "The size of it", registry: registry)
        _ = Tweak("Label", "Sizes", "Height", 1.0, unit: "px", registry: registry)
        _ = Tweak("Sizes", "All", "Width", 1.0, registry: registry)
        _ = Tweak(
            "Label", "Font", "Style", "plain", choices: ["plain": "Plain", "zigzag": "Like Zorro"],
            registry: registry)
        _ = Tweak("Label", "Font", "Is Bold", false, registry: registry)
        _ = Tweak("Größe", "Überschrift", "Höhe", 1.0, registry: registry)
        _ = Tweak("Label", "Ｗｉｄｅ", "Ångström", 1.0, help: "Knick in der Optik", registry: registry)
        _ = Tweak("HTTP2Server", "keepAlive", "maxWait", 1.0, registry: registry)
        _ = Tweak("Label", "Status", "Walked", 0.0, flags: .readOnly, registry: registry)
        tweakAction("Label", "Font", "Wink", registry: registry) { _ in "" }
    }
}
