// Declares the tweaks of the label; a template for your own program.

import TweaksDaemon

/// The tweaks of the label; the program reads them as `Look.size.value`.
///
/// Lengths are in px: one px is as wide as a character cell and half as high, so it is about square.
enum Look {
    static let text = Tweak("Label", "Text", "String", "Tweaks", help: "What the label says")
    static let size = Tweak(
        "Label", "Text", "Size", 16.0, in: 4...120, step: 0.5, unit: "px",
        help: "Height of the letters; multiples of 8 are the crispest")
    static let shadow = Tweak(
        "Label", "Text", "Shadow", TweakPoint(x: 2, y: 2), in: .init(x: -24...24, y: -24...24), step: 1, unit: "px",
        help: "Where the shadow of the letters falls; at 0,0 there is none")

    static let foreground = Tweak(
        "Label", "Color", "Foreground", TweakColor(0xFFC46B), help: "Color of the letters")
    static let background = Tweak(
        "Label", "Color", "Background", TweakColor(0x1B1436), help: "Color behind the letters")
    static let alpha = Tweak(
        "Label", "Color", "Alpha", 1.0, in: 0...1, help: "How much of the background the letters cover")
    static let fade = Tweak(
        "Label", "Color", "Fade", .milliseconds(400), in: .zero ... .seconds(5),
        help: "How long a change of color takes")
    static let fadeCurve = Tweak(
        "Label", "Color", "Fade curve", TweakCurve.easeInOut, help: "How a change of color proceeds, as in CSS")

    static let speed = Tweak(
        "Label", "Motion", "Speed", 28.0, in: 0...200, unit: "px/s", help: "How fast it goes from side to side")
    static let gravity = Tweak(
        "Label", "Motion", "Gravity", 40.0, in: 0...400, unit: "px/s²",
        help: "How hard it falls; at 0 it floats up and down")
    static let easing = Tweak(
        "Label", "Motion", "Easing", Easing.inOut, help: "How it moves on the way from one side to the other")
    static let trail = Tweak(
        "Label", "Motion", "Trail", 8, in: 0...24, unit: "ghosts", help: "How many fading ghosts follow it")
    static let paused = Tweak("Label", "Motion", "Paused", false, help: "Holds it where it is")

    static let framesPerSecond = Tweak(
        "Label", "Status", "Frames per second", 0.0, unit: "fps", help: "Measured each second; 0 without a terminal",
        flags: .readOnly)

    static let all: [any TweakHandle] = [
        text, size, shadow, foreground, background, alpha, fade, fadeCurve, speed, gravity, easing, trail, paused,
        framesPerSecond,
    ]
}

// Statics are lazy: with this list the daemon registers all of them when it starts.
#if objectFormat(MachO)
    @section("__DATA,__tweaks")
#else
    @section("tweaks")
#endif
@used private let tweaks: TweakList = { Look.all.register() }
