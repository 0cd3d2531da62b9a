// Reads a tweak of each kind, each in a function whose machine code .ci/frozen.sh checks.

import TweaksDaemon

enum Alignment: String, CaseIterable, TweakConvertible { case left, center, right }

enum Probe {
    static let number = Tweak("Probe", "Read", "Number", 60.0, in: 10...100, step: 0.5, unit: "pt", help: "Label size")
    static let whole = Tweak("Probe", "Read", "Whole", 42, in: 0...100)
    static let flag = Tweak("Probe", "Read", "Flag", true)
    static let text = Tweak("Probe", "Read", "Text", "a text that is longer than fifteen bytes", help: "Some text")
    static let checked = Tweak(
        "Probe", "Read", "Checked", "Tweaks", validate: { $0.isEmpty ? "it must not be empty" : nil })
    static let color = Tweak("Probe", "Read", "Color", TweakColor.black)
    static let align = Tweak("Probe", "Read", "Alignment", Alignment.center)
    static let time = Tweak("Probe", "Read", "Time", Duration.milliseconds(250))
    static let secret = Tweak("Probe", "Read", "Secret", 7, flags: .secret)
    static let figure = Tweak("Probe", "Read", "Figure", 0.0, flags: .readOnly)
    static let look = Look()

    // These are not constants for the compiler, because a call creates the range or the registry.
    static let fade = Tweak("Probe", "Read", "Fade", .milliseconds(250), in: .zero ... .seconds(5))
    static let listed = Tweak("Probe", "Read", "Listed", "one", choices: ["one", "two"])
    static let retry = TweakGroup("Probe", "Retry", TweakRetryPolicy())
    static let registry = TweakRegistry()
    static let elsewhere = Tweak("Probe", "Read", "Elsewhere", 0.5, registry: registry)
}

struct Look {
    @Tweak("Probe", "Read", "Wrapped", in: 0...1) var alpha = 0.5
    @Tweak("Probe", "Read", "Wrapped text", maxLength: 60) var title = "another text, longer than fifteen bytes"
    @Tweak("Probe", "Read", "Wrapped align") var align = Alignment.center
}

// MARK: - Constants with the trait

@inline(never) func readsNumber() -> Double { Probe.number.value }
@inline(never) func readsWhole() -> Int { Probe.whole.value }
@inline(never) func readsFlag() -> Bool { Probe.flag.value }
@inline(never) func readsText() -> String { Probe.text.value }
@inline(never) func readsChecked() -> String { Probe.checked.value }
@inline(never) func readsColor() -> TweakColor { Probe.color.value }
@inline(never) func readsAlign() -> Alignment { Probe.align.value }
@inline(never) func readsTime() -> Duration { Probe.time.value }
@inline(never) func readsSecret() -> Int { Probe.secret.value }
@inline(never) func readsFigure() -> Double { Probe.figure.value }
@inline(never) func readsInline() -> Double { tweakValue("Probe", "Inline", "Number", 60.0, in: 0...100) }
@inline(never) func readsInlineWhole() -> Int { tweakValue("Probe", "Inline", "Whole", 42) }
@inline(never) func readsInlineTime() -> Duration {
    tweakValue("Probe", "Inline", "Time", .milliseconds(250), in: .zero ... .seconds(5))
}
@inline(never) func readsInlineChoice() -> String {
    tweakValue("Probe", "Inline", "Choice", "one", choices: ["one", "two"])
}
@inline(never) func readsWrapped() -> Double { Probe.look.alpha }
@inline(never) func readsWrappedText() -> String { Probe.look.title }
@inline(never) func readsWrappedAlign() -> Alignment { Probe.look.align }
@inline(never) func assignsNumber() { Probe.number.value = 72 }

// MARK: - Not constants

@inline(never) func seesWrapped(_ look: Look) -> Double { look.alpha }
@inline(never) func seesFade() -> Duration { Probe.fade.value }
@inline(never) func seesListed() -> String { Probe.listed.value }
@inline(never) func seesElsewhere() -> Double { Probe.elsewhere.value }
@inline(never) func seesHandle() -> Double { tweakInline("Probe", "Inline", "Handle", 0.5, in: 0...1).value }
