// Defines the tweaks of the page tests: one of every kind.

import Tweaks
import TweaksTestSupport

/// Tweaks of a program, most of them in `Kinds/Basic`.
struct PageTweaks {
    /// Few enough for buttons side by side.
    enum Side: String, CaseIterable, TweakConvertible { case left, center, right }
    /// So many that they are in a menu.
    enum Day: String, CaseIterable, TweakConvertible { case mon, tue, wed, thu, fri, sat, sun }

    /// The error of an action.
    struct ActionError: Error, CustomStringConvertible { let description: String }

    static let group = "Kinds/Basic"

    let registry = TweakRegistry()
    /// A metric that the program publishes.
    let frames: Tweak<Double>
    /// The action `Wait` ends when it opens.
    let gate = Gate()

    init() {
        frames = Tweak("Kinds", "Status", "Frames", 0, unit: "fps", flags: .readOnly, registry: registry)
        addValues()
        addNumbers()
        addActions()
        _ = Tweak("Other", "Far", "Distance", 7, in: 0...1_000, help: "How far it is", registry: registry)
        _ = Tweak("Other", "Far", "Workers", 4, in: 1...64, flags: .needsRestart, registry: registry)
    }

    private func addValues() {
        _ = Tweak("Kinds", "Basic", "Bool", false, help: "On or off", registry: registry)
        _ = Tweak("Kinds", "Basic", "Text", "Tweaks", registry: registry)
        _ = Tweak("Kinds", "Basic", "Poem", "one\ntwo", registry: registry)
        _ = Tweak("Kinds", "Basic", "Short", "abc", maxLength: 5, validate: { _ in nil }, registry: registry)
        _ = Tweak("Kinds", "Basic", "Color", TweakColor(red8: 255, green8: 0, blue8: 0), registry: registry)
        _ = Tweak("Kinds", "Basic", "Side", Side.left, registry: registry)
        _ = Tweak("Kinds", "Basic", "Day", Day.mon, registry: registry)
        _ = Tweak("Kinds", "Basic", "Password", "", flags: .secret, registry: registry)
        _ = Tweak(
            "Kinds", "Basic", "Point", TweakPoint(x: 10, y: 20), in: .init(x: 0...100, y: 0...50), registry: registry)
        _ = Tweak("Kinds", "Basic", "List", [1, 2], in: 0...9, registry: registry)
        _ = Tweak<Double?>("Kinds", "Basic", "Maybe", nil, in: 0...1, registry: registry)
    }

    private func addNumbers() {
        _ = Tweak("Kinds", "Basic", "Whole", 50, in: 0...100, registry: registry)
        _ = Tweak("Kinds", "Basic", "Real", 60.0, in: 10...100, step: 0.5, unit: "pt", registry: registry)
        _ = Tweak("Kinds", "Basic", "Dust", 0.0, in: 0...1, step: 0.1, registry: registry)
        _ = Tweak("Kinds", "Basic", "Free", 1.0, registry: registry)
        _ = Tweak("Kinds", "Basic", "Count", 10, registry: registry)
        _ = Tweak(
            "Kinds", "Basic", "Fade", .milliseconds(250), in: .zero ... .seconds(5), step: .milliseconds(10),
            registry: registry)
    }

    private func addActions() {
        tweakAction("Kinds", "Basic", "Greet", registry: registry) { arguments in
            if arguments.first == "badly" { throw ActionError(description: "no <manners>") }
            return "hello \(arguments.joined(separator: "+"))"
        }
        let gate = gate
        tweakAction("Kinds", "Basic", "Wait", registry: registry) { _ in
            await gate.wait()
            return "waited"
        }
    }
}
