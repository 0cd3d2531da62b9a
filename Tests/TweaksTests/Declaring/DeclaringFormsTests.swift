// Compiles every form of declaration with all of its arguments and checks that their definitions agree.

import Testing

@testable import Tweaks
import TweaksTestSupport

private let registry = TweakRegistry()

private struct Wrapped {
    @Tweak("A", "Text", "Wrapped", maxLength: 9, validate: refuse, help: "h", registry: registry)
    var text = "text"
    @Tweak("A", "Range", "Wrapped", in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap, registry: registry)
    var range = 10
    @Tweak("A", "Time", "Wrapped", in: .zero ... .seconds(5), step: .milliseconds(50), registry: registry)
    var time: Duration = .milliseconds(250)
    @Tweak("A", "Step", "Wrapped", step: 0.5, unit: "pt", policy: .snap, registry: registry)
    var step = 60.3
    @Tweak("A", "List", "Wrapped", choices: ["a", "b"], registry: registry)
    var list = "a"
    @Tweak("A", "Labels", "Wrapped", choices: ["a": "A", "b": "B"], registry: registry)
    var labels = "a"
}

private func refuse(_ text: String) -> String? { text.isEmpty ? "write something" : nil }

@MainActor private final class Target {
    var text = ""
    var whole = 0
    var time = Duration.zero
    var number = 0.0
}

private final class SharedTarget: Sendable {
    var text: String {
        get { "" }
        set {}
    }
}

@MainActor @Suite(.serialized)
struct DeclaringFormsTests {
    private let name = "Dynamic"

    @discardableResult
    private func expectSame(_ collection: String, _ summary: String, count: Int) -> [AnyTweak] {
        let tweaks = registry.categories.flatMap(\.collections).first { $0.name == collection }?.tweaks ?? []
        #expect(tweaks.map(\.node.definition.summary) == Array(repeating: summary, count: count), "\(tweaks)")
        for other in tweaks.dropFirst() {
            #expect(other.node.definition.agrees(with: tweaks[0].node.definition), "\(other)")
        }
        return tweaks
    }

    @Test func everyFormDeclaresTexts() throws {
        _ = Tweak("A", "Text", "Direct", "text", maxLength: 9, validate: refuse, help: "h", registry: registry)
        _ = tweakValue("A", "Text", "Value", "text", maxLength: 9, validate: refuse, help: "h", registry: registry)
        _ = tweakInline("A", "Text", "Inline", "text", maxLength: 9, validate: refuse, help: "h", registry: registry)
        _ = tweakValue("A", "Text", name, "text", maxLength: 9, validate: refuse, help: "h", registry: registry)
        _ = tweakInline(
            "A", "Text", "\(name) too", "text", maxLength: 9, validate: refuse, help: "h", registry: registry)
        tweakBind(
            Target(), \.text, "A", "Text", "Bound", "text", maxLength: 9, validate: refuse, help: "h",
            registry: registry)
        tweakBind(
            SharedTarget(), \.text, "A", "Text", "Shared", "text", maxLength: 9, validate: refuse, help: "h",
            registry: registry)
        _ = try registry.register("A", "Text", "Registered", "text", maxLength: 9, validate: refuse, help: "h")
        #expect(Wrapped().text == "text")
        for tweak in expectSame("Text", "string up to 9 characters", count: 9) {
            #expect(refusal { try tweak.set(.string("")) }?.message.hasSuffix("write something") == true)
            #expect(refusal { try tweak.set(.string("far too long")) }?.code == .outOfRange)
        }
    }

    @Test func everyFormDeclaresRanges() throws {
        _ = Tweak(
            "A", "Range", "Direct", 10, in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap,
            registry: registry)
        _ = tweakValue(
            "A", "Range", "Value", 10, in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap,
            registry: registry)
        _ = tweakInline(
            "A", "Range", name, 10, in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap, registry: registry)
        tweakBind(
            Target(), \.whole, "A", "Range", "Bound", 10, in: 1...1_000, step: 3, scale: .logarithmic,
            policy: .snap, registry: registry)
        _ = try registry.register(
            "A", "Range", "Registered", 10, in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap)
        #expect(Wrapped().range == 10)
        expectSame("Range", "int 1...1000 logarithmic step 3", count: 6)
    }

    @Test func everyFormDeclaresDurationsByImplicitMembers() throws {
        _ = Tweak(
            "A", "Time", "Direct", .milliseconds(250), in: .zero ... .seconds(5), step: .milliseconds(50),
            registry: registry)
        _ = tweakValue(
            "A", "Time", "Value", .seconds(0.25), in: .zero ... .seconds(5), step: .milliseconds(50.0),
            registry: registry)
        _ = tweakInline(
            "A", "Time", name, .microseconds(250_000), in: .zero ... .seconds(5), step: .microseconds(50_000.0),
            registry: registry)
        tweakBind(
            Target(), \.time, "A", "Time", "Bound", .nanoseconds(250_000_000), in: .zero ... .seconds(5),
            step: .nanoseconds(50_000_000), registry: registry)
        _ = try registry.register(
            "A", "Time", "Registered", .milliseconds(250), in: .zero ... .seconds(5), step: .milliseconds(50))
        #expect(Wrapped().time == .milliseconds(250))
        expectSame("Time", "duration 0s...5s step 50ms", count: 6)
        #expect(Tweak("A", "Plain", "Time", .seconds(1), registry: registry).value == .seconds(1))
    }

    @Test func everyFormDeclaresStepsWithoutARange() throws {
        _ = Tweak("A", "Step", "Direct", 60.3, step: 0.5, unit: "pt", policy: .snap, registry: registry)
        _ = tweakValue("A", "Step", "Value", 60.3, step: 0.5, unit: "pt", policy: .snap, registry: registry)
        _ = tweakInline("A", "Step", name, 60.3, step: 0.5, unit: "pt", policy: .snap, registry: registry)
        tweakBind(
            Target(), \.number, "A", "Step", "Bound", 60.3, step: 0.5, unit: "pt", policy: .snap,
            registry: registry)
        _ = try registry.register("A", "Step", "Registered", 60.3, step: 0.5, unit: "pt", policy: .snap)
        #expect(Wrapped().step == 60.3)
        expectSame("Step", "number step 0.5 pt", count: 6)
    }

    @Test func everyFormDeclaresChoices() throws {
        let names = ["a", "b"]
        _ = Tweak("A", "List", "Direct", "a", choices: names, registry: registry)
        _ = tweakValue("A", "List", "Value", "a", choices: ["a", "b"], registry: registry)
        _ = tweakInline("A", "List", name, "a", choices: names, registry: registry)
        tweakBind(Target(), \.text, "A", "List", "Bound", "a", choices: ["a", "b"], registry: registry)
        _ = try registry.register("A", "List", "Registered", "a", choices: names)
        #expect(Wrapped().list == "a")
        expectSame("List", "choice a|b", count: 6)
        _ = Tweak("A", "Labels", "Direct", "a", choices: ["a": "A", "b": "B"], registry: registry)
        _ = tweakValue("A", "Labels", "Value", "a", choices: ["a": "A", "b": "B"], registry: registry)
        _ = tweakInline("A", "Labels", name, "a", choices: ["a": "A", "b": "B"], registry: registry)
        tweakBind(Target(), \.text, "A", "Labels", "Bound", "a", choices: ["a": "A", "b": "B"], registry: registry)
        _ = try registry.register("A", "Labels", "Registered", "a", choices: ["a": "A", "b": "B"])
        #expect(Wrapped().labels == "a")
        expectSame("Labels", "choice a|b", count: 6)
    }
}
