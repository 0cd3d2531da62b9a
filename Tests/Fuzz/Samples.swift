// Creates a registry with one tweak of each kind for the fuzz targets.

import Tweaks

/// Tweaks of all kinds in the category Sample. The clock stands still, so that nothing expires.
struct Samples {
    /// Choices, some of which need quotes.
    static let choices = ["left", "two words", "", "#", "quo\"te", "é", "=", "toggle"]

    let registry: TweakRegistry

    init() {
        let start = ContinuousClock.now
        registry = TweakRegistry(now: { start }, sleep: { _ in try await Task.sleep(for: .seconds(1_000_000)) })
        for collection in ["Free", "Bound"] {
            let isBound = collection == "Bound"
            _ = Tweak("Sample", collection, "bool", false, registry: registry)
            _ = Tweak("Sample", collection, "string", "text", registry: registry)
            _ = Tweak("Sample", collection, "color", TweakColor.black, registry: registry)
            _ = Tweak("Sample", collection, "choice", "left", choices: Self.choices, registry: registry)
            if isBound {
                _ = Tweak("Sample", collection, "int", 5, in: -10...100, step: 5, registry: registry)
                _ = Tweak("Sample", collection, "number", 0.5, in: 0...1, step: 0.1, registry: registry)
                _ = Tweak("Sample", collection, "time", .seconds(1), in: .zero ... .seconds(60), registry: registry)
            } else {
                _ = Tweak("Sample", collection, "int", 0, registry: registry)
                _ = Tweak("Sample", collection, "number", 0.0, registry: registry)
                _ = Tweak("Sample", collection, "time", Duration.zero, registry: registry)
            }
        }
        _ = Tweak(
            "Sample", "Many", "point", TweakPoint(x: 1, y: 2), in: .init(x: 0...9, y: ...5), step: 0.5,
            registry: registry)
        _ = Tweak("Sample", "Many", "ints", [1, 2], in: 0...9, maxLength: 5, registry: registry)
        _ = Tweak("Sample", "Many", "texts", ["a", "b, \"c\" ]"], registry: registry)
        _ = Tweak("Sample", "Many", "colors", [TweakColor](), registry: registry)
        _ = Tweak("Sample", "Many", "choices", ["left"], choices: Self.choices, registry: registry)
        _ = Tweak<Duration?>("Sample", "Many", "maybe", nil, in: .zero ... .seconds(60), registry: registry)
        _ = Tweak<TweakPoint?>("Sample", "Many", "place", nil, registry: registry)
        _ = Tweak("Sample", "Odd", "secrets", [1, 2], in: 0...9, flags: .secret, registry: registry)
        _ = Tweak("Sample", "Odd", "two words # = *", "", registry: registry)
        _ = Tweak("Sample", "Odd", "secret", "", flags: .secret, registry: registry)
    }

    /// The tweaks that are settable and not secret, in the order of listings.
    var nodes: [TweakNode] {
        registry.listing().nodes.filter { $0.isSettable && !$0.definition.flags.contains(.secret) }
    }
}
