// Tests that a program's types may use a registry while they compare, convert and store: no lock is held then.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// The calls into a registry that the types of these tests make; under a lock they would end the process.
private enum Home {
    @TaskLocal static var registry: TweakRegistry?
    static let uses = Atomic(0)

    /// Uses the registry, if there is one, and returns the result.
    static func using<Result>(_ result: Result) -> Result {
        guard let registry else { return result }
        uses.add(1, ordering: .relaxed)
        _ = registry["Home/Of/Count"]?.value
        _ = registry.snapshot()
        return result
    }
}

/// Stored as an index into a list.
private enum Mood: String, CaseIterable, TweakConvertible {
    case calm, merry, grim

    static func == (left: Mood, right: Mood) -> Bool { Home.using(left.rawValue == right.rawValue) }
}

/// Stored behind a lock.
private struct Tag: TweakConvertible {
    let name: String

    init(_ name: String) { self.name = name }
    init?(_ value: TweakValue) {
        switch Home.using(value) {
        case .string(let name), .choice(let name): self.name = name
        default: return nil
        }
    }
    var erased: TweakValue { Home.using(.string(name)) }
    static func == (left: Tag, right: Tag) -> Bool { Home.using(left.name == right.name) }
}

/// Stored as a word.
private struct Level: TweakConvertible, TweakWord {
    typealias TweakStorage = TweakWordCell<Level>
    let height: Int

    init(_ height: Int) { self.height = height }
    init?(_ value: TweakValue) {
        guard case .int(let whole) = Home.using(value) else { return nil }
        height = Int(whole)
    }
    init(tweakWord: UInt64) { height = Home.using(Int(truncatingIfNeeded: tweakWord)) }
    var tweakWord: UInt64 { Home.using(UInt64(truncatingIfNeeded: height)) }
    var erased: TweakValue { Home.using(.int(Int64(height))) }
    static func == (left: Level, right: Level) -> Bool { Home.using(left.height == right.height) }
}

/// Fits a word, but is stored behind a lock.
private struct Plain: TweakConvertible, TweakWord {
    let number: Int

    init(_ number: Int) { self.number = number }
    init?(_ value: TweakValue) {
        guard case .int(let whole) = value else { return nil }
        number = Int(whole)
    }
    init(tweakWord: UInt64) { number = Int(truncatingIfNeeded: tweakWord) }
    var tweakWord: UInt64 { UInt64(truncatingIfNeeded: number) }
    var erased: TweakValue { .int(Int64(number)) }
}

struct OwnTypesTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry

    init() {
        let clock = clock
        registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
        _ = Tweak("Home", "Of", "Count", 1, registry: registry)
    }

    /// Declares a tweak, sets it in each way, reverts that, and removes it.
    private func use<Value: TweakConvertible>(_ values: [Value], choices: [Value]? = nil) throws {
        let before = Home.uses.load(ordering: .relaxed)
        try Home.$registry.withValue(registry) {
            let tweak = try registry.register("Home", "Own", "A", values[0], choices: choices)
            let texts = values.map { tweak.core?.erase($0).text ?? "" }
            let changes = ChangeRecorder(tweak) { $0.new }
            for value in values { tweak.value = value }
            for text in texts { try tweak.erased.set(text: text) }
            try registry.commit { batch in
                batch.set(tweak, values[1])
                batch.set("Home/Of/Count", .int(2))
            }
            #expect(registry.snapshot()[tweak] == values[1])
            try tweak.set(values[2], for: .seconds(1))
            clock.advance(by: .seconds(2))
            registry.expire()
            #expect(tweak.value == values[1])
            registry.replace(.configFile, with: ["Home/Own/A": texts[2]], LayerPolicy(dropsOverrides: true))
            tweak.reset()
            try registry.undo(force: true)
            _ = try registry.register("Home", "Own", "A", values[0], choices: choices)
            registry.remove(tweak.path)
            _ = try registry.register("Home", "Own", "A", values[1], choices: choices)
            #expect(tweakValue("Home", "Own", "B", values[2], registry: registry) == values[2])
            #expect(changes.all.count > 4)
        }
        #expect(Home.uses.load(ordering: .relaxed) > before)
    }

    @Test(arguments: [nil, Mood.allCases]) private func anEnumerationMayUseTheRegistry(choices: [Mood]?) throws {
        try use([Mood.calm, .merry, .grim], choices: choices)
    }

    @Test(arguments: [nil, ["a", "b", "c"]]) func aTypeBehindALockMayUseTheRegistry(choices: [String]?) throws {
        try use(["a", "b", "c"].map(Tag.init), choices: choices?.map(Tag.init))
    }

    @Test func aWordMayUseTheRegistry() throws { try use([1, 2, 3].map(Level.init)) }

    @Test func aTypeThatFitsAWordCanBeStoredBehindALock() throws {
        let tweak = try registry.register("Home", "Own", "Plain", Plain(1))
        tweak.value = Plain(2)
        #expect(tweak.value == Plain(2))
        try tweak.erased.set(text: "3")
        #expect(tweak.value == Plain(3))
        tweak.reset()
        #expect(tweak.value == Plain(1))
    }
}
