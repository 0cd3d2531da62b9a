// The names that programs outside this repository are compiled against, used as the design document lists them.

import Testing
import Tweaks

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
    @Test func valueSetResetAndFacts() throws {
        #expect(TextTweaks.size.value == 60)
        TextTweaks.size.value = 72
        #expect(TextTweaks.size.value == 72)
        TextTweaks.size.value = 500
        #expect(TextTweaks.size.value == 100)
        let error = #expect(throws: TweakError.self) { try TextTweaks.size.set(500) }
        #expect(error?.code == .outOfRange)
        let outcome = try TextTweaks.size.set(72)
        #expect(outcome.old == .number(100) && outcome.new == .number(72))
        #expect(TextTweaks.size.isModified)
        TextTweaks.size.reset()
        #expect(!TextTweaks.size.isModified)
        #expect(TextTweaks.size.defaultValue == 60)
        #expect(TextTweaks.size.range == TweakRange(lowerBound: 10, upperBound: 100))
        #expect(TextTweaks.size.step == 0.5)
        #expect(TextTweaks.align.choices.map(\.value) == [.left, .center, .right])
        #expect(TextTweaks.size.path.description == "Content/Text/Size")
        #expect(TextTweaks.fade.value == .milliseconds(250))
        #expect(TextTweaks.color.value == .black)
    }

    @Test func wrappedProperty() {
        let look = Look()
        #expect(look.size == 60)
        look.size = 70
        #expect(look.$size.value == 70)
        #expect(TextTweaks.size.value == 70)
        look.$size.reset()
    }

    @Test func macrosAsFunctions() async throws {
        #expect(tweakValue("Content", "Text", "Size", 60.0, in: 10...100, registry: registry) == 60)
        #expect(tweakValue("Content", "Text", "Count", 3, registry: registry) == 3)
        #expect(tweakValue("Content", "Text", "List", "one", choices: ["one", "two"], registry: registry) == "one")
        #expect(
            tweakValue(
                "Content", "Text", "Labelled", "key1", choices: ["key1": "label1", "key2": "label2"], registry: registry
            )
                == "key1")
        #expect(
            tweakValue("Content", "Text", "Pause", .seconds(1), in: .zero ... .seconds(5), registry: registry)
                == .seconds(1))
        let handle: Tweak<Double> = tweakInline("Content", "Text", "Alpha", 0.5, in: 0...1, registry: registry)
        #expect(handle.value == 0.5)
        let action = tweakAction("Player", "Audio", "Mute", registry: registry) { arguments in
            "muted \(arguments.count)"
        }
        #expect(try await action.run(["now"]) == "muted 1")
    }

    @MainActor @Test func binding() throws {
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

    @Test func observingAndRegistry() async throws {
        let registry = TweakRegistry()
        let handle = Tweak("Content", "Text", "Alpha", 0.5, in: 0...1, registry: registry)
        let color = Tweak("Content", "Text", "Color", TweakColor.black, registry: registry)
        try await confirmation { seen in
            let token = handle.observe { change in
                #expect(change.old == 0.5 && change.new == 0.25 && change.origin == .code && change.revision == 1)
                seen()
            }
            try handle.set(0.25)
            token.cancel()
        }
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
        #expect(registry["Content/Text/Alpha"]?.value == .number(0.75))
        #expect(registry["nope"] == nil)
        #expect(registry.snapshot()[color] == .black)
        #expect(TweakColor("#FF8800") == TweakColor(0xFF8800))
        #expect(TweakColor(red: 1, green: 0.53, blue: 0) == TweakColor(red8: 255, green8: 135, blue8: 0))
        let all: [TweakValue] = [
            .bool(true), .int(1), .number(1), .string(""), .color(.black), .choice("a"), .duration(.zero),
        ]
        #expect(all.map(\.kind).count == 7)
    }
}
