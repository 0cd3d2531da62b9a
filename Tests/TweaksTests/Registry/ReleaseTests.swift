// Tests that a program's values, closures and objects are released outside all locks: deinit may use the registry.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// An object whose deinit reads and sets the registry.
private final class Witness: Sendable {
    /// The registry of the current test; the suite is serialized because tests share it.
    static let home = WeakBox<TweakRegistry>()
    static let living = Atomic(0)
    /// The number of deinits that have used the registry.
    static let gone = Atomic(0)
    private let registry = WeakBox<TweakRegistry>()

    init() {
        registry.value = Self.home.value
        Self.living.add(1, ordering: .relaxed)
    }

    deinit {
        Self.living.subtract(1, ordering: .relaxed)
        guard let registry = registry.value else { return }
        _ = registry.snapshot()
        let count = registry["Home/Of/Count"]
        if case .int(let number)? = count?.value { _ = try? count?.set(.int(number + 1)) }
        Self.gone.add(1, ordering: .relaxed)
    }
}

/// A value with such an object.
private struct Paper: TweakConvertible {
    typealias TweakStorage = TweakLockedCell<Paper>
    let name: String
    private let witness = Witness()

    init(_ name: String) { self.name = name }
    init?(_ value: TweakValue) {
        switch value {
        case .string(let name), .choice(let name): self.name = name
        default: return nil
        }
    }
    var erased: TweakValue { .string(name) }
    static func == (left: Paper, right: Paper) -> Bool { left.name == right.name }
}

private struct PaperPair: TweakTemplate {
    var a = Paper("white")
    var b = Paper("blank")
    static let parts: [TweakPart<PaperPair>] = [TweakPart("a", \.a), TweakPart("b", \.b)]
}

/// After each test, some deinits must have used the registry; under a lock they would have ended the process.
@Suite(.serialized)
final class ReleaseTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let count: Tweak<Int>
    private let goneBefore = Witness.gone.load(ordering: .relaxed)

    init() {
        let clock = clock
        // Overrides end where a test says so, not in a task beside it.
        registry = TweakRegistry(now: { clock.now }, sleep: { _ in throw CancellationError() })
        count = Tweak("Home", "Of", "Count", 0, registry: registry)
        Witness.home.value = registry
    }

    deinit { #expect(Witness.gone.load(ordering: .relaxed) > goneBefore) }

    private func paper(_ name: String = "A", _ value: String = "white") -> Tweak<Paper> {
        Tweak("Home", "Paper", name, Paper(value), registry: registry)
    }

    @Test func setsAndResetsReleaseOldValues() throws {
        let tweak = paper()
        for name in ["red", "red", "green", "white"] { tweak.value = Paper(name) }
        tweak.reset()
        try tweak.erased.set(text: "blue")
        try registry.commit(origin: .code) { batch in
            batch.set(tweak, Paper("red"))
            batch.set("Home/Paper/A", .string("green"))
        }
        tweak.reset()
        #expect(tweak.value == Paper("white"))
    }

    @Test func theHistoryReleasesTheChoicesOfARemovedTweak() throws {
        let tweak = Tweak(
            "Home", "Paper", "A", Paper("red"), choices: [Paper("red"), Paper("green")], registry: registry)
        try tweak.erased.set(text: "green")
        tweak.reset()
        registry.remove(tweak.path)
        registry.historyLimit = 0
    }

    @Test func metricsReleaseOldValues() throws {
        let metric = Tweak("Home", "Paper", "Figure", Paper("0"), flags: .readOnly, registry: registry)
        for number in 1...5 { try metric.set(Paper("\(number)")) }
        registry.remove(metric.path)
    }

    @Test func temporaryOverridesReleaseTheirValues() throws {
        let tweak = paper()
        try tweak.set(Paper("red"), for: .seconds(1))
        // The same value in another object: the cell keeps the first one.
        try tweak.set(Paper("red"), for: .seconds(2))
        try tweak.set(Paper("green"), for: .seconds(3))
        clock.advance(by: .seconds(4))
        registry.expire()
        #expect(tweak.value == Paper("white"))
        try tweak.set(Paper("red"), for: .seconds(1))
        try tweak.keep()
        tweak.reset()
    }

    @Test func undoAndRedoReleaseTheirValues() throws {
        let tweak = paper()
        tweak.value = Paper("red")
        clock.advance(by: .seconds(1))
        tweak.value = Paper("green")
        // The deinits commit, too, so undo and redo may find nothing.
        try registry.undo(force: true)
        for _ in 0..<3 { _ = try? registry.undo(force: true) }
        for _ in 0..<4 { _ = try? registry.redo(force: true) }
    }

    @Test func removingTweaksReleasesTheirValues() throws {
        for round in 0..<3 {
            do {
                let tweak = paper("A", "\(round)")
                tweak.value = Paper("red")
                _ = paper("A", "\(round)")
                _ = paper("B")
            }
            _ = registry.listing()
            try registry.remove(TweakPath("Home", "Paper", "A"))
        }
        _ = registry.categories
        registry.remove(count.path)
        registry.removeAll()
    }

    @Test func theHistoryReleasesRemovedTweaks() {
        registry.historyLimit = 4
        for round in 0..<40 {
            let tweak = paper("\(round)")
            tweak.value = Paper("red")
            registry.remove(tweak.path)
        }
        registry.historyLimit = 0
    }

    @Test func canceledAndRemovedObserversReleaseTheirClosures() {
        let tweak = paper()
        let (first, second) = (Witness(), Witness())
        let plain = tweak.observe { [first] _ in withExtendedLifetime(first) {} }
        let values = tweak.values.makeAsyncIterator()
        let nested = tweak.observe { [second] change in
            // Changes during the call are folded.
            if change.new == Paper("red") {
                for name in ["blue", "white", "blue", "green"] { tweak.value = Paper(name) }
            }
            withExtendedLifetime(second) {}
        }
        tweak.value = Paper("red")
        plain.cancel()
        tweak.value = Paper("blue")
        registry.remove(tweak.path)
        withExtendedLifetime((nested, values)) {}
    }

    @Test func changesThatWaitForAnExecutorReleaseTheirValues() throws {
        let executor = HandExecutor()
        registry.observerExecutor = executor
        let tweak = paper()
        let plain = tweak.observe { _ in }
        let values = tweak.values.makeAsyncIterator()
        for name in ["red", "green", "white", "blue"] {
            var batch = TweakBatch()
            batch.set(tweak, Paper(name))
            try registry.commit(batch, origin: .code, delivery: .executor)
        }
        executor.runAll()
        withExtendedLifetime((plain, values)) {}
        registry.observerExecutor = nil
    }

    @Test func configFilesReleaseTheirValues() {
        let tweak = paper()
        tweak.value = Paper("green")
        let files: [KeyValuePairs<String, String>] = [["Home/Paper/A": "red"], ["Home/Paper/A": "blue"], [:]]
        for lines in files { registry.replace(.configFile, with: lines, LayerPolicy(dropsOverrides: true)) }
    }

    @Test func callSitesReleaseTheirValues() throws {
        func read() -> Paper { tweakValue("Home", "Paper", "Site", Paper("white"), registry: registry) }
        func handle() -> Tweak<Paper> { tweakInline("Home", "Paper", "Site", Paper("white"), registry: registry) }
        for _ in 0..<3 {
            #expect(read().name == "white")
            handle().value = Paper("red")
            #expect(read().name == "red")
            try registry.remove(TweakPath("Home", "Paper", "Site"))
        }
        _ = read()
        registry.removeAll()
        _ = Tweak("Home", "Of", "Count", 0, registry: registry)
    }

    @Test func groupsReleaseTheirValues() {
        let group = TweakGroup("Home", "Pair", PaperPair(), registry: registry)
        let token = group.observe { _ in }
        for name in ["red", "green"] {
            group.value = PaperPair(a: Paper(name), b: Paper(name))
            _ = group.value
        }
        group.reset()
        _ = group.value
        for part in group.parts { registry.remove(part.path) }
        token.cancel()
    }

    @Test func removedTweaksAndActionsReleaseTheirClosures() throws {
        do {
            let (first, second) = (Witness(), Witness())
            let validate: @Sendable (String) -> String? = { [first] _ in withExtendedLifetime(first) { nil } }
            _ = Tweak("Home", "Of", "Text", "", validate: validate, registry: registry)
            tweakAction("Home", "Of", "Action", registry: registry) { [second] _ in
                withExtendedLifetime(second) { "" }
            }
        }
        try registry.remove(TweakPath("Home", "Of", "Text"))
        try registry.remove(TweakPath("Home", "Of", "Action"))
    }

    @Test func canceledConflictHandlersAreReleased() {
        registry.onConflict { [witness = Witness()] _ in withExtendedLifetime(witness) {} }.cancel()
    }

    @Test func aReleasedRegistryReleasesEverything() {
        let before = Witness.living.load(ordering: .relaxed)
        do {
            let other = TweakRegistry()
            let tweak = Tweak("Home", "Paper", "A", Paper("white"), registry: other)
            let token = tweak.observe { _ in }
            tweak.value = Paper("red")
            _ = tweakValue("Home", "Paper", "Site", Paper("white"), registry: other)
            withExtendedLifetime(token) {}
        }
        #expect(Witness.living.load(ordering: .relaxed) == before)
    }
}
