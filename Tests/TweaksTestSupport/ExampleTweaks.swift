// Declares the tweaks that transcripts use, including those of Protocol.md.

package import Tweaks

/// One tweak of each kind, as in a program with a label and a player.
package struct ExampleTweaks: Sendable {
    /// The alignment of the text.
    package enum Alignment: String, CaseIterable, TweakConvertible {
        case left, center, right
    }

    package let registry: TweakRegistry
    package let size: Tweak<Double>
    package let frames: Tweak<Double>

    /// Registers the tweaks.
    package init(in registry: TweakRegistry = TweakRegistry()) {
        self.registry = registry
        size = Tweak(
            "Content", "Text", "Size", 60.0, in: 10...100, step: 0.5, unit: "pt", help: "Label size",
            registry: registry)
        _ = Tweak("Content", "Text", "String", "Tweaks", registry: registry)
        _ = Tweak("Content", "Text", "Color", TweakColor.black, registry: registry)
        _ = Tweak("Content", "Text", "Alignment", Alignment.left, registry: registry)
        _ = Tweak("Content", "Text", "Fade", .milliseconds(250), in: .zero ... .seconds(5), registry: registry)
        _ = Tweak("Content", "Text", "Font Name", "Avenir Next", registry: registry)
        tweakAction("Player", "Audio", "Mute", registry: registry) { _ in "muted" }
        _ = Tweak("Player", "Audio", "Token", "", flags: .secret, registry: registry)
        frames = Tweak("Player", "Status", "Frames", 0.0, flags: .readOnly, registry: registry)
    }
}
