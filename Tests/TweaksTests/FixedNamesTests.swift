// Tests that the public names of the design document compile and work as it describes.

import Testing
import Tweaks
import TweaksTestSupport

enum Alignment: String, CaseIterable, TweakConvertible { case left, center, right }

private let registry = TweakRegistry()

private enum TextTweaks {
    static let size = Tweak(
        "Content", "Text", "Size", 60.0, in: 10...100, step: 0.5, unit: "pt", help: "Label size", registry: registry)
    static let text = Tweak("Content", "Text", "String", "Tweaks", registry: registry)
    static let color = Tweak("Content", "Text", "Color", TweakColor.black, registry: registry)
    static let align = Tweak("Content", "Text", "Alignment", Alignment.left, registry: registry)
    static let fade = Tweak(
        "Content", "Text", "Fade", .milliseconds(250), in: .zero ... .seconds(5), registry: registry)
}

private struct Look {
    @Tweak("Content", "Text", "Size", in: 10...100, step: 0.5, unit: "pt", help: "Label size", registry: registry)
    var size = 60.0
}

@MainActor
private final class Label {
    var text = ""
    var alpha = 0.0
}

@Suite(.serialized)
struct FixedNamesTests {
    @Test func aTweakIsReadSetResetAndDescribed() throws {
        #expect(TextTweaks.size.value == 60)
        TextTweaks.size.value = 72
        #expect(TextTweaks.size.value == 72)
        TextTweaks.size.value = 500
        #expect(TextTweaks.size.value == 100 && refusal { try TextTweaks.size.set(500) }?.code == .outOfRange)
        let outcome = try TextTweaks.size.set(72)
        #expect(outcome.old == .number(100) && outcome.new == .number(72) && TextTweaks.size.isModified)
        TextTweaks.size.reset()
        #expect(!TextTweaks.size.isModified && TextTweaks.size.defaultValue == 60)
        #expect(TextTweaks.size.range == TweakRange(lowerBound: 10, upperBound: 100) && TextTweaks.size.step == 0.5)
        #expect(TextTweaks.align.choices.map(\.value) == [.left, .center, .right])
        #expect(TextTweaks.size.path.description == "Content/Text/Size")
        #expect(TextTweaks.fade.value == .milliseconds(250) && TextTweaks.color.value == .black)
    }

    @Test func aPropertyReadsAndSetsTheTweak() {
        let look = Look()
        #expect(look.size == 60)
        look.size = 70
        #expect(look.$size.value == 70 && TextTweaks.size.value == 70)
        look.$size.reset()
    }

    @Test func theFunctionsDeclareAtTheirCallSite() async throws {
        #expect(tweakValue("Content", "Text", "Size", 60.0, in: 10...100, registry: registry) == 60)
        #expect(tweakValue("Content", "Text", "Count", 3, registry: registry) == 3)
        #expect(tweakValue("Content", "Text", "List", "one", choices: ["one", "two"], registry: registry) == "one")
        let label = tweakValue(
            "Content", "Text", "Labeled", "key1", choices: ["key1": "label1", "key2": "label2"], registry: registry)
        #expect(label == "key1")
        let pause = tweakValue("Content", "Text", "Pause", .seconds(1), in: .zero ... .seconds(5), registry: registry)
        #expect(pause == .seconds(1))
        let handle: Tweak<Double> = tweakInline("Content", "Text", "Alpha", 0.5, in: 0...1, registry: registry)
        #expect(handle.value == 0.5)
        let action = tweakAction("Player", "Audio", "Mute", registry: registry) { "muted \($0.count)" }
        #expect(try await action.run(["now"]) == "muted 1")
    }

    @MainActor @Test func aBindingSetsThePropertyOfAnObject() throws {
        let label = Label()
        tweakBind(label, \.text, "Content", "Text", "String", "Tweaks", registry: registry)
        #expect(label.text == "Tweaks")
        TextTweaks.text.value = "Hello"
        #expect(label.text == "Hello")
        TextTweaks.text.reset()
        let alpha = tweakInline("Content", "Text", "Alpha", 0.5, in: 0...1, registry: registry)
        alpha.bind(to: label, \.alpha, when: .onChange)
        #expect(label.alpha == 0)
        alpha.value = 0.7
        #expect(label.alpha == 0.7)
        alpha.reset()
    }

    @Test func changesAreObservedAndTheRegistryIsReadAndCommitted() async throws {
        let registry = TweakRegistry()
        let handle = Tweak("Content", "Text", "Alpha", 0.5, in: 0...1, registry: registry)
        let color = Tweak("Content", "Text", "Color", TweakColor.black, registry: registry)
        let seen = Recorder<TweakChange<Double>>()
        let token = handle.observe { seen.note($0) }
        try handle.set(0.25)
        token.cancel()
        #expect(seen.all.map { [$0.old, $0.new] } == [[0.5, 0.25]])
        #expect(seen.all.map(\.origin) == [.code] && seen.all.map(\.revision) == [1])
        var values = handle.values.makeAsyncIterator()
        #expect(await values.next() == 0.25)
        var changes = registry.changes.makeAsyncIterator()
        try registry.commit(origin: .code) { batch in
            batch.set("Content/Text/Alpha", .number(0.75))
            batch.reset("Content/Text/Color")
        }
        #expect(await values.next() == 0.75)
        #expect(await changes.next()?.changes.map(\.description) == ["Content/Text/Alpha = 0.75 (was 0.25)"])
        #expect(registry.categories.map(\.name) == ["Content"])
        #expect(registry.categories[0].collections[0].tweaks.map(\.description).count == 2)
        #expect(registry["Content/Text/Alpha"]?.value == .number(0.75) && registry["nope"] == nil)
        #expect(registry.snapshot()[color] == .black && TweakColor("#FF8800") == TweakColor(0xFF8800))
        #expect(TweakColor(red: 1, green: 0.53, blue: 0) == TweakColor(red8: 255, green8: 135, blue8: 0))
        let all: [TweakValue] = [
            .bool(true), .int(1), .number(1), .string(""), .color(.black), .choice("a"), .duration(.zero),
        ]
        #expect(Set(all.map(\.kind)).count == 7)
    }
}
