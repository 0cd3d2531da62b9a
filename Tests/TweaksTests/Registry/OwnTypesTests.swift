// Types of the program may use a registry in whatever they do: comparing, converting, storing. No lock is held then.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// What the types of these tests do each time: a lock that is held would end the process.
private enum Home {
    @TaskLocal static var registry: TweakRegistry?
    static let uses = Atomic(0)

    static func use() {
        guard let registry else { return }
        uses.add(1, ordering: .relaxed)
        _ = registry["Home/Of/Count"]?.value
        _ = registry.snapshot()
    }
}

/// Held as a place in a list.
private enum Mood: String, CaseIterable, TweakConvertible {
    case calm, merry, grim

    static func == (left: Mood, right: Mood) -> Bool {
        Home.use()
        return left.rawValue == right.rawValue
    }
}

/// Held behind a lock.
private struct Tag: TweakConvertible {
    let name: String

    init(_ name: String) { self.name = name }
    init?(_ value: TweakValue) {
        Home.use()
        switch value {
        case .string(let name), .choice(let name): self.name = name
        default: return nil
        }
    }
    var erased: TweakValue {
        Home.use()
        return .string(name)
    }
    static func == (left: Tag, right: Tag) -> Bool {
        Home.use()
        return left.name == right.name
    }
}

/// Held as a word.
private struct Level: TweakConvertible, TweakWord {
    typealias TweakStorage = TweakWordCell<Level>
    let height: Int

    init(_ height: Int) { self.height = height }
    init?(_ value: TweakValue) {
        Home.use()
        guard case .int(let whole) = value else { return nil }
        height = Int(whole)
    }
    init(tweakWord: UInt64) {
        Home.use()
        height = Int(truncatingIfNeeded: tweakWord)
    }
    var tweakWord: UInt64 {
        Home.use()
        return UInt64(truncatingIfNeeded: height)
    }
    var erased: TweakValue {
        Home.use()
        return .int(Int64(height))
    }
    static func == (left: Level, right: Level) -> Bool {
        Home.use()
        return left.height == right.height
    }
}

/// Fits a word, and is held behind a lock all the same.
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

@Suite struct OwnTypesTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry

    init() {
        let clock = clock
        registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
        _ = Tweak("Home", "Of", "Count", 1, registry: registry)
    }

    /// Declares, sets in each way there is, takes back, and removes.
    private func live<Value: TweakConvertible>(_ values: [Value], choices: [Value]? = nil) throws {
        let before = Home.uses.load(ordering: .relaxed)
        try Home.$registry.withValue(registry) {
            let tweak = try registry.register("Home", "Own", "A", values[0], choices: choices)
            let texts = values.map { tweak.core?.erase($0).text ?? "" }
            let seen = Mutex<[Value]>([])
            let token = tweak.observe { change in seen.withLock { [new = change.new] in $0.append(new) } }
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
            _ = registry.applyConfigFile(
                [ConfigEntry(path: "Home/Own/A", text: texts[2], line: 1, origin: .configFile)],
                ConfigPolicy(fileWins: true))
            tweak.reset()
            try registry.undo(force: true)
            _ = try registry.register("Home", "Own", "A", values[0], choices: choices)
            registry.remove(tweak.path)
            _ = try registry.register("Home", "Own", "A", values[1], choices: choices)
            #expect(tweakValue("Home", "Own", "B", values[2], registry: registry) == values[2])
            #expect(seen.withLock { $0.count } > 4)
            token.cancel()
        }
        #expect(Home.uses.load(ordering: .relaxed) > before)
    }

    @Test func anEnumeration() throws { try live([Mood.calm, .merry, .grim]) }
    @Test func someOfAnEnumeration() throws { try live([Mood.calm, .merry, .grim], choices: Mood.allCases) }
    @Test func behindALock() throws { try live(["a", "b", "c"].map(Tag.init)) }
    @Test func choicesBehindALock() throws {
        try live(["a", "b", "c"].map(Tag.init), choices: ["a", "b", "c"].map(Tag.init))
    }
    @Test func aWord() throws { try live([1, 2, 3].map(Level.init)) }

    /// A type that could be a word is held as it says.
    @Test func aWordBehindALock() throws {
        let tweak = try registry.register("Home", "Own", "Plain", Plain(1))
        tweak.value = Plain(2)
        #expect(tweak.value == Plain(2))
        try tweak.erased.set(text: "3")
        #expect(tweak.value == Plain(3))
        tweak.reset()
        #expect(tweak.value == Plain(1))
    }
}
