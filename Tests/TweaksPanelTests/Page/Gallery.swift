// Defines tweaks of every kind and state, as they look in pictures of the page.

import Foundation
import Tweaks
import TweaksFoundation
import TweaksTestSupport

/// A program with a tweak of each kind, in each state that the page shows.
enum Gallery {
    enum Side: String, CaseIterable, TweakConvertible { case left, center, right }
    enum Day: String, CaseIterable, TweakConvertible { case mon, tue, wed, thu, fri, sat, sun }

    static func make() -> TweakRegistry {
        let registry = TweakRegistry()
        addNumbers(to: registry)
        addKinds(to: registry)
        addStates(to: registry)
        return registry
    }

    private static func addNumbers(to registry: TweakRegistry) {
        _ = Tweak(
            "Label", "Text", "Size", 16.0, in: 4...72, step: 0.5, unit: "pt", help: "Of the label, in points",
            registry: registry)
        _ = Tweak(
            "Label", "Text", "Columns", 3, in: 1...12, help: "How many texts stand side by side", registry: registry)
        _ = Tweak("Label", "Text", "Offset", 0, in: -50...50, unit: "px", registry: registry)
        _ = Tweak("Label", "Text", "Seed", 42, registry: registry)
        _ = Tweak(
            "Label", "Motion", "Fade", .milliseconds(250), in: .zero ... .seconds(5), step: .milliseconds(10),
            registry: registry)
        _ = Tweak("Label", "Motion", "Curve", TweakCurve.easeInOut, registry: registry)
        _ = TweakGroup("Label", "Motion", "Drop", TweakSpring(), registry: registry)
        _ = Tweak("Label", "Motion", "Rate", 10.0, in: 0.001...10_000, scale: .logarithmic, registry: registry)
    }

    private static func addKinds(to registry: TweakRegistry) {
        _ = Tweak("Label", "Look", "Shown", true, help: "Whether there is a label at all", registry: registry)
        _ = Tweak("Label", "Look", "Words", "Hello, world", registry: registry)
        _ = Tweak("Label", "Look", "Poem", "one\ntwo", registry: registry)
        _ = Tweak("Label", "Look", "Color", TweakColor(red8: 67, green8: 83, blue8: 201), registry: registry)
        _ = Tweak(
            "Label", "Look", "Shade", TweakColor(red8: 255, green8: 99, blue8: 71, alpha8: 128), registry: registry)
        _ = Tweak("Label", "Look", "Side", Side.left, registry: registry)
        _ = Tweak("Label", "Look", "Day", Day.mon, registry: registry)
        _ = Tweak(
            "Label", "Look", "Place", TweakPoint(x: 10, y: 20), in: .init(x: -100...100, y: -50...50), unit: "px",
            registry: registry)
        _ = Tweak("Label", "Look", "Anchor", TweakPoint(x: 0.5, y: 1), registry: registry)
        _ = Tweak("Label", "Look", "Sizes", [12, 16, 24], in: 0...99, registry: registry)
        _ = Tweak("Label", "Look", "Fonts", ["Avenir Next", "Menlo"], registry: registry)
        _ = Tweak<Double?>("Label", "Look", "Limit", nil, in: 0...1, registry: registry)
        _ = Tweak("Label", "Look", "Since", Date(timeIntervalSince1970: 1_790_000_000), registry: registry)
    }

    private static func addStates(to registry: TweakRegistry) {
        _ = Tweak("Service", "Secrets", "Password", "", flags: .secret, registry: registry)
        _ = Tweak("Service", "Limits", "Workers", 4, in: 1...64, flags: .needsRestart, registry: registry)
        _ = Tweak(
            "Service", "Limits", "A name that is much longer than its column is wide", 7, in: 0...1_000,
            help: "And a help text that takes more than one line where it is shown, since it explains what that means",
            registry: registry)
        let flags = TweakFlags.readOnly
        _ = Tweak("Service", "Status", "Frames", 59.94, unit: "fps", flags: flags, registry: registry)
        _ = Tweak("Service", "Status", "Version", "1.0 (Debian)", flags: flags, registry: registry)
        _ = Tweak(
            "Service", "Status", "Mood", TweakColor(red8: 15, green8: 107, blue8: 62), flags: flags, registry: registry)
        tweakAction("Service", "Actions", "Flush", registry: registry) { _ in "flushed" }
        tweakAction(
            "Service", "Actions", "Play",
            arguments: [.init("sound", .string), .init("volume", .number, in: 0...1, default: 0.5)], registry: registry
        ) { arguments in "played \(arguments)" }
    }
}
