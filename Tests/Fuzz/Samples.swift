// Creates a registry with one tweak of each kind for the fuzz targets.

import Tweaks

/// Tweaks of all kinds in the category Sample. The clock stands still, so that nothing expires.
struct Samples {
    /// Choices, some of which need quotes.
    static let choices = ["left", "two words", "", "#", "quo\"te", "é", "=", "toggle"]

    let registry: TweakRegistry

    init() {
        let start = Moment.now
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
        _ = Tweak("Sample", "Many", "curve", TweakCurve.ease, registry: registry)
        _ = Tweak("Sample", "Many", "curves", [TweakCurve](), maxLength: 3, registry: registry)
        _ = Tweak("Sample", "Many", "ints", [1, 2], in: 0...9, maxLength: 5, registry: registry)
        _ = Tweak("Sample", "Many", "texts", ["a", "b, \"c\" ]"], registry: registry)
        _ = Tweak("Sample", "Many", "colors", [TweakColor](), registry: registry)
        _ = Tweak("Sample", "Many", "choices", ["left"], choices: Self.choices, registry: registry)
        _ = Tweak<Duration?>("Sample", "Many", "maybe", nil, in: .zero ... .seconds(60), registry: registry)
        _ = Tweak<TweakPoint?>("Sample", "Many", "place", nil, registry: registry)
        declareLimits()
        _ = Tweak("Sample", "Odd", "secrets", [1, 2], in: 0...9, flags: .secret, registry: registry)
        _ = Tweak("Sample", "Odd", "two words # = *", "", registry: registry)
        _ = Tweak("Sample", "Odd", "secret", "", flags: .secret, registry: registry)
    }

    /// The names in the collection Limits.
    static let limitNames = [
        "tiny", "huge", "whole", "unsigned", "byte", "ratio", "span", "snapped", "long", "half", "spot", "steps",
    ]

    /// Limits at the ends of their types, steps of all sizes, scales and policies.
    private func declareLimits() {
        let largest = Double.greatestFiniteMagnitude
        _ = Tweak("Sample", "Limits", "tiny", 0.00032, step: 1e-8, policy: .snap, registry: registry)
        _ = Tweak("Sample", "Limits", "huge", 0.0, in: -largest...largest, step: 1e300, registry: registry)
        _ = Tweak("Sample", "Limits", "whole", 3, in: Int.min...Int.max, step: 7, policy: .snap, registry: registry)
        _ = Tweak("Sample", "Limits", "unsigned", UInt64(5), in: 0...UInt64.max, step: 1 << 60, registry: registry)
        _ = Tweak("Sample", "Limits", "byte", Int8(1), policy: .clamp, registry: registry)
        _ = Tweak("Sample", "Limits", "ratio", 1.0, in: 1e-9...1e9, scale: .logarithmic, unit: "px", registry: registry)
        _ = Tweak(
            "Sample", "Limits", "span", .seconds(1), in: .zero ... .nanoseconds(Int64.max), scale: .logarithmic,
            registry: registry)
        _ = Tweak("Sample", "Limits", "snapped", 0.5, in: ...1, step: 0.1, policy: .snap, registry: registry)
        _ = Tweak("Sample", "Limits", "long", .milliseconds(5), step: .milliseconds(10), registry: registry)
        _ = Tweak("Sample", "Limits", "half", Float(0.5), in: 0...1, policy: .clamp, registry: registry)
        _ = Tweak(
            "Sample", "Limits", "spot", TweakPoint(x: 0, y: 0), in: .init(x: (-1e308)...1e308, y: 0...), step: 1e-5,
            policy: .snap, registry: registry)
        _ = Tweak("Sample", "Limits", "steps", [0.5], in: 0...1e300, maxLength: 9, registry: registry)
    }

    /// An action with an argument of each kind.
    static func declareAction(
        _ registry: TweakRegistry, _ body: @escaping @Sendable (TweakArguments) -> String
    ) {
        tweakAction(
            "Player", "Audio", "Play",
            arguments: [
                .init("volume", .number, in: 0...1, default: 0.5), .init("times", .int, in: 1..., default: 1),
                .init("fade", .duration, in: .zero ... .seconds(5), default: .milliseconds(250)),
                .init("tint", .color, default: .black), .init("loud", .bool, default: false),
                .init("bus", choices: ["main", "side"], default: "main"),
            ], registry: registry
        ) { arguments in body(arguments) }
    }

    /// The tweaks that are settable and not secret, in the order of listings.
    var nodes: [TweakNode] {
        registry.listing().nodes.filter { $0.isSettable && !$0.definition.flags.contains(.secret) }
    }
}
