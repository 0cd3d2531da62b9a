// Values, closures and objects of the program are let go of outside all locks: their deinit may use the registry.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// An object that reads and sets the registry when it goes.
private final class Witness: Sendable {
    @TaskLocal static var home: TweakRegistry?
    static let living = Atomic(0)
    /// How many have used it and are gone.
    static let gone = Atomic(0)
    private let registry = WeakBox<TweakRegistry>()

    init() {
        registry.value = Self.home
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

/// A value that holds one.
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

private struct Desk: TweakTemplate {
    var paper = Paper("white")
    var other = Paper("blank")
    static let parts: [TweakPart<Desk>] = [TweakPart("paper", \.paper), TweakPart("other", \.other)]
}

@Suite(.serialized)
struct ReleaseTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let count: Tweak<Int>

    init() {
        let clock = clock
        registry = TweakRegistry(now: { clock.now }, sleep: { try await clock.sleep(until: $0) })
        count = Tweak("Home", "Of", "Count", 0, registry: registry)
    }

    /// Runs a test's steps; a deinit under a lock would end the process. All that was given up has told the registry.
    private func run(_ steps: () throws -> Void) rethrows {
        let before = Witness.gone.load(ordering: .relaxed)
        try Witness.$home.withValue(registry) { try steps() }
        #expect(Witness.gone.load(ordering: .relaxed) > before)
    }

    private func paper(_ name: String = "A", _ value: String = "white") -> Tweak<Paper> {
        Tweak("Home", "Paper", name, Paper(value), registry: registry)
    }

    @Test func setsAndResets() throws {
        try run {
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
    }

    @Test func aChoiceOfThem() throws {
        try run {
            let tweak = Tweak(
                "Home", "Paper", "A", Paper("red"), choices: [Paper("red"), Paper("green")], registry: registry)
            try tweak.erased.set(text: "green")
            tweak.reset()
            registry.remove(tweak.path)
            // The history knows the declaration, and with it the list.
            registry.historyLimit = 0
        }
    }

    @Test func figures() throws {
        try run {
            let figure = Tweak("Home", "Paper", "Figure", Paper("0"), flags: .readOnly, registry: registry)
            for number in 1...5 { try figure.set(Paper("\(number)")) }
            registry.remove(figure.path)
        }
    }

    @Test func temporaryOverrides() throws {
        try run {
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
    }

    @Test func undoAndRedo() throws {
        try run {
            let tweak = paper()
            tweak.value = Paper("red")
            clock.advance(by: .seconds(1))
            tweak.value = Paper("green")
            // Those that go make commits of their own in between, so that there may be nothing to make again.
            try registry.undo(force: true)
            for _ in 0..<3 { _ = try? registry.undo(force: true) }
            for _ in 0..<4 { _ = try? registry.redo(force: true) }
        }
    }

    @Test func removedAndDeclaredAgain() throws {
        try run {
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
    }

    /// The history is the last to know a tweak that is gone.
    @Test func theHistoryForgets() {
        registry.historyLimit = 4
        run {
            for round in 0..<40 {
                let tweak = paper("\(round)")
                tweak.value = Paper("red")
                registry.remove(tweak.path)
            }
            registry.historyLimit = 0
        }
    }

    @Test func observersAndReaders() {
        run {
            let tweak = paper()
            let (first, second) = (Witness(), Witness())
            let plain = tweak.observe { [first] _ in withExtendedLifetime(first) {} }
            let values = tweak.values.makeAsyncIterator()
            let nested = tweak.observe { [second] change in
                // What waits meanwhile is folded.
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
    }

    @Test func changesThatWaitForAnExecutor() throws {
        let executor = HandExecutor()
        registry.observerExecutor = executor
        try run {
            let tweak = paper()
            let plain = tweak.observe { _ in }
            let values = tweak.values.makeAsyncIterator()
            for name in ["red", "green", "white", "blue"] {
                var batch = TweakBatch()
                batch.set(tweak, Paper(name))
                try registry.commit(batch, origin: .code, delivery: .carrier)
            }
            executor.runAll()
            withExtendedLifetime((plain, values)) {}
        }
        registry.observerExecutor = nil
    }

    @Test func configFiles() {
        run {
            let tweak = paper()
            tweak.value = Paper("green")
            for text in ["red", "blue", nil] {
                let entries = text.map {
                    [ConfigEntry(path: "Home/Paper/A", text: $0, line: 1, origin: .configFile)]
                }
                _ = registry.applyConfigFile(entries ?? [], ConfigPolicy(fileWins: true))
            }
        }
    }

    @Test func callSites() throws {
        func read() -> Paper { tweakValue("Home", "Paper", "Site", Paper("white"), registry: registry) }
        func handle() -> Tweak<Paper> { tweakInline("Home", "Paper", "Site", Paper("white"), registry: registry) }
        try run {
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
    }

    @Test func groups() {
        run {
            let group = TweakGroup("Home", "Desk", Desk(), registry: registry)
            let token = group.observe { _ in }
            for name in ["red", "green"] {
                group.value = Desk(paper: Paper(name), other: Paper(name))
                _ = group.value
            }
            group.reset()
            _ = group.value
            for part in group.parts { registry.remove(part.path) }
            token.cancel()
        }
    }

    @Test func closuresOfDeclarations() throws {
        try run {
            do {
                let (first, second) = (Witness(), Witness())
                _ = Tweak(
                    "Home", "Of", "Text", "", validate: { [first] _ in withExtendedLifetime(first) { nil } },
                    registry: registry)
                tweakAction("Home", "Of", "Action", registry: registry) { [second] _ in
                    withExtendedLifetime(second) { "" }
                }
            }
            try registry.remove(TweakPath("Home", "Of", "Text"))
            try registry.remove(TweakPath("Home", "Of", "Action"))
        }
    }

    @Test func handlersOfConflicts() {
        run {
            var witness: Witness? = Witness()
            let token = registry.onConflict { [witness] _ in withExtendedLifetime(witness) {} }
            witness = nil
            token.cancel()
        }
    }

    @Test func aWholeRegistry() {
        let before = Witness.living.load(ordering: .relaxed)
        do {
            let other = TweakRegistry()
            Witness.$home.withValue(registry) {
                let tweak = Tweak("Home", "Paper", "A", Paper("white"), registry: other)
                let token = tweak.observe { _ in }
                tweak.value = Paper("red")
                _ = tweakValue("Home", "Paper", "Site", Paper("white"), registry: other)
                withExtendedLifetime(token) {}
            }
        }
        #expect(Witness.living.load(ordering: .relaxed) == before)
    }
}
