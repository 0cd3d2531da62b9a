// Every form of declaration with everything that it takes: they say the same thing, and compile.

import Testing

@testable import Tweaks
import TweaksTestSupport

private let registry = TweakRegistry()

/// The same words in each form, under a name of its own.
private struct Wrapped {
    @Tweak("Forms", "Text", "Wrapped", maxLength: 9, validate: refuse, help: "h", registry: registry)
    var text = "Tweaks"
    @Tweak("Forms", "Range", "Wrapped", in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap, registry: registry)
    var range = 10
    @Tweak("Forms", "Time", "Wrapped", in: .zero ... .seconds(5), step: .milliseconds(50), registry: registry)
    var time: Duration = .milliseconds(250)
    @Tweak("Forms", "Step", "Wrapped", step: 0.5, unit: "pt", policy: .snap, registry: registry)
    var step = 60.3
    @Tweak("Forms", "List", "Wrapped", choices: ["a", "b"], registry: registry)
    var list = "a"
    @Tweak("Forms", "Labels", "Wrapped", choices: ["a": "A", "b": "B"], registry: registry)
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

    private func expectSame(_ collection: String, _ summary: String, count: Int) {
        let tweaks = registry.categories.flatMap(\.collections).first { $0.name == collection }?.tweaks ?? []
        #expect(tweaks.map(\.node.definition.summary) == Array(repeating: summary, count: count), "\(tweaks)")
        for other in tweaks.dropFirst() {
            #expect(other.node.definition.agrees(with: tweaks[0].node.definition), "\(other)")
        }
    }

    @Test func text() throws {
        _ = Tweak("Forms", "Text", "Direct", "Tweaks", maxLength: 9, validate: refuse, help: "h", registry: registry)
        _ = tweakValue(
            "Forms", "Text", "Value", "Tweaks", maxLength: 9, validate: refuse, help: "h", registry: registry)
        _ = tweakInline(
            "Forms", "Text", "Inline", "Tweaks", maxLength: 9, validate: refuse, help: "h", registry: registry)
        _ = tweakValue("Forms", "Text", name, "Tweaks", maxLength: 9, validate: refuse, help: "h", registry: registry)
        _ = tweakInline(
            "Forms", "Text", "\(name) too", "Tweaks", maxLength: 9, validate: refuse, help: "h", registry: registry)
        tweakBind(
            Target(), \.text, "Forms", "Text", "Bound", "Tweaks", maxLength: 9, validate: refuse, help: "h",
            registry: registry)
        tweakBind(
            SharedTarget(), \.text, "Forms", "Text", "Shared", "Tweaks", maxLength: 9, validate: refuse, help: "h",
            registry: registry)
        _ = try registry.register("Forms", "Text", "Registered", "Tweaks", maxLength: 9, validate: refuse, help: "h")
        #expect(Wrapped().text == "Tweaks")
        expectSame("Text", "string up to 9 characters", count: 9)
        for tweak in registry.categories.flatMap(\.collections).first(where: { $0.name == "Text" })?.tweaks ?? [] {
            #expect(refusal { try tweak.set(.string("")) }?.message.hasSuffix("write something") == true)
            #expect(refusal { try tweak.set(.string("far too long")) }?.code == .outOfRange)
        }
    }

    @Test func ranges() throws {
        _ = Tweak(
            "Forms", "Range", "Direct", 10, in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap,
            registry: registry)
        _ = tweakValue(
            "Forms", "Range", "Value", 10, in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap,
            registry: registry)
        _ = tweakInline(
            "Forms", "Range", name, 10, in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap, registry: registry)
        tweakBind(
            Target(), \.whole, "Forms", "Range", "Bound", 10, in: 1...1_000, step: 3, scale: .logarithmic,
            policy: .snap, registry: registry)
        _ = try registry.register(
            "Forms", "Range", "Registered", 10, in: 1...1_000, step: 3, scale: .logarithmic, policy: .snap)
        #expect(Wrapped().range == 10)
        expectSame("Range", "int 1...1000 logarithmic step 3", count: 6)
    }

    @Test("durations by implicit members, in every form, also without a range")
    func durations() throws {
        _ = Tweak(
            "Forms", "Time", "Direct", .milliseconds(250), in: .zero ... .seconds(5), step: .milliseconds(50),
            registry: registry)
        _ = tweakValue(
            "Forms", "Time", "Value", .seconds(0.25), in: .zero ... .seconds(5), step: .milliseconds(50.0),
            registry: registry)
        _ = tweakInline(
            "Forms", "Time", name, .microseconds(250_000), in: .zero ... .seconds(5), step: .microseconds(50_000.0),
            registry: registry)
        tweakBind(
            Target(), \.time, "Forms", "Time", "Bound", .nanoseconds(250_000_000), in: .zero ... .seconds(5),
            step: .nanoseconds(50_000_000), registry: registry)
        _ = try registry.register(
            "Forms", "Time", "Registered", .milliseconds(250), in: .zero ... .seconds(5), step: .milliseconds(50))
        #expect(Wrapped().time == .milliseconds(250))
        expectSame("Time", "duration 0s...5s step 50ms", count: 6)
        #expect(Tweak("Forms", "Plain", "Time", .seconds(1), registry: registry).value == .seconds(1))
    }

    @Test("a step without a range")
    func steps() throws {
        _ = Tweak("Forms", "Step", "Direct", 60.3, step: 0.5, unit: "pt", policy: .snap, registry: registry)
        _ = tweakValue("Forms", "Step", "Value", 60.3, step: 0.5, unit: "pt", policy: .snap, registry: registry)
        _ = tweakInline("Forms", "Step", name, 60.3, step: 0.5, unit: "pt", policy: .snap, registry: registry)
        tweakBind(
            Target(), \.number, "Forms", "Step", "Bound", 60.3, step: 0.5, unit: "pt", policy: .snap,
            registry: registry)
        _ = try registry.register("Forms", "Step", "Registered", 60.3, step: 0.5, unit: "pt", policy: .snap)
        #expect(Wrapped().step == 60.3)
        expectSame("Step", "number step 0.5 pt", count: 6)
    }

    @Test func lists() throws {
        let names = ["a", "b"]
        _ = Tweak("Forms", "List", "Direct", "a", choices: names, registry: registry)
        _ = tweakValue("Forms", "List", "Value", "a", choices: ["a", "b"], registry: registry)
        _ = tweakInline("Forms", "List", name, "a", choices: names, registry: registry)
        tweakBind(Target(), \.text, "Forms", "List", "Bound", "a", choices: ["a", "b"], registry: registry)
        _ = try registry.register("Forms", "List", "Registered", "a", choices: names)
        #expect(Wrapped().list == "a")
        expectSame("List", "choice a|b", count: 6)
        _ = Tweak("Forms", "Labels", "Direct", "a", choices: ["a": "A", "b": "B"], registry: registry)
        _ = tweakValue("Forms", "Labels", "Value", "a", choices: ["a": "A", "b": "B"], registry: registry)
        _ = tweakInline("Forms", "Labels", name, "a", choices: ["a": "A", "b": "B"], registry: registry)
        tweakBind(Target(), \.text, "Forms", "Labels", "Bound", "a", choices: ["a": "A", "b": "B"], registry: registry)
        _ = try registry.register("Forms", "Labels", "Registered", "a", choices: ["a": "A", "b": "B"])
        #expect(Wrapped().labels == "a")
        expectSame("Labels", "choice a|b", count: 6)
    }
}
