// Declaring the same path again: the same tweak, a conflict that is listed, or a programmer's error.

import Testing

@testable import Tweaks

struct RegistrationTests {
    private let registry = TweakRegistry()

    // MARK: Same definition

    @Test func theSameDefinitionIsTheSameTweak() throws {
        let first = Tweak("A", "B", "C", 5, in: 0...10, step: 1, unit: "pt", help: "h", registry: registry)
        let second = Tweak("A", "B", "C", 5, in: 0...10, step: 1, unit: "pt", help: "h", registry: registry)
        try first.set(7)
        #expect(second.value == 7 && registry.count == 1)
        #expect(first.node === second.node)
        #expect(registry.conflicts.isEmpty)
    }

    @Test func everyFormOfDeclarationFindsTheSameTweak() throws {
        struct Wrapped {
            @Tweak var value: Int
            init(_ registry: TweakRegistry) { _value = Tweak(wrappedValue: 5, "A", "B", "C", registry: registry) }
        }
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        try tweak.set(6)
        #expect(tweakValue("A", "B", "C", 5, registry: registry) == 6)
        #expect(tweakInline("A", "B", "C", 5, registry: registry).node === tweak.node)
        let name = ["C"][0]
        #expect(tweakValue("A", "B", name, 5, registry: registry) == 6)
        #expect(tweakInline("A", "B", name, 5, registry: registry).node === tweak.node)
        #expect(try registry.register("A", "B", "C", 5).node === tweak.node)
        #expect(Wrapped(registry).value == 6)
        #expect(registry.conflicts.isEmpty && registry.count == 1)
    }

    @Test func oneThreadOfManyWinsAndAllHoldTheSame() {
        let nodes = Recorder<ObjectIdentifier>()
        onThreads(4) { [registry] _ in
            for number in 0..<100 {
                nodes.note(ObjectIdentifier(Tweak("A", "B", "\(number)", 5, registry: registry).node))
            }
        }
        #expect(registry.count == 100 && Set(nodes.all).count == 100 && registry.conflicts.isEmpty)
    }

    // MARK: Other default or range

    @Test func anotherDefaultIsAConflictAndTheFirstHolds() {
        let first = Tweak("A", "B", "C", 5, registry: registry, fileID: "M/First.swift", line: 1)
        let second = Tweak("A", "B", "C", 6, registry: registry, fileID: "M/Second.swift", line: 2)
        #expect(second.value == 5 && second.defaultValue == 5 && second.node === first.node)
        #expect(
            registry.conflicts.map(\.description) == [
                "A/B/C is declared at M/First.swift:1 and differently at M/Second.swift:2 (default 5 and 6); the first holds"
            ])
    }

    @Test func everyDifferenceIsAConflict() throws {
        _ = Tweak("A", "B", "C", 5, in: 0...10, unit: "pt", help: "h", registry: registry)
        _ = Tweak("A", "B", "C", 5, in: 0...11, unit: "pt", help: "h", registry: registry)
        _ = Tweak("A", "B", "C", 5, in: 0..., unit: "pt", help: "h", registry: registry)
        _ = Tweak("A", "B", "C", 5, in: 0...10, step: 5, unit: "pt", help: "h", registry: registry)
        _ = Tweak("A", "B", "C", 5, in: 0...10, unit: "px", help: "h", registry: registry)
        _ = Tweak("A", "B", "C", 5, in: 0...10, unit: "pt", help: "other", registry: registry)
        _ = Tweak("A", "B", "C", 5, in: 0...10, unit: "pt", policy: .clamp, help: "h", registry: registry)
        _ = Tweak("A", "B", "C", 5, in: 0...10, unit: "pt", help: "h", flags: .needsRestart, registry: registry)
        _ = tweakValue("A", "B", "C", 5, registry: registry)
        _ = try registry.register("A", "B", "C", 5)
        #expect(registry.conflicts.count == 9 && registry.count == 1)
        #expect(registry["A/B/C"]?.upperBound == .int(10))
    }

    @Test func aConflictIsReportedOnceToEachHandler() {
        let (early, late) = (Recorder<UInt>(), Recorder<UInt>())
        registry.onConflict { early.note($0.second.line) }
        for _ in 0..<5 {
            for line in 1...3 as ClosedRange<UInt> {
                _ = Tweak("A", "B", "C", Int(line), registry: registry, fileID: "M/File.swift", line: line)
            }
        }
        registry.onConflict { late.note($0.second.line) }
        #expect(early.all == [2, 3] && late.all == [2, 3])
        #expect(registry.conflicts.map(\.first.line) == [1, 1])
    }

    @Test func aHandlerThatIsCancelledHearsOfNoMore() {
        let (first, second) = (Recorder<UInt>(), Recorder<UInt>())
        let token = registry.onConflict { first.note($0.second.line) }
        registry.onConflict { second.note($0.second.line) }
        for line in 1...3 as ClosedRange<UInt> {
            _ = Tweak("A", "B", "C", Int(line), registry: registry, fileID: "M/File.swift", line: line)
            if line == 2 { token.cancel() }
        }
        token.cancel()
        #expect(first.all == [2] && second.all == [2, 3])
    }

    @Test func aHandlerMayUseTheRegistry() {
        let counts = Recorder<Int>()
        registry.onConflict { [registry] _ in counts.note(registry.conflicts.count + registry.count) }
        _ = Tweak("A", "B", "C", 1, registry: registry)
        _ = Tweak("A", "B", "C", 2, registry: registry)
        #expect(counts.all == [2])
    }

    // MARK: Other type

    @Test func anotherTypeThrows() throws {
        _ = Tweak("A", "B", "C", 5, registry: registry, fileID: "M/First.swift", line: 1)
        let error = refusal { _ = try registry.register("A", "B", "C", 5.0, fileID: "M/Second.swift", line: 2) }
        #expect(error?.code == .conflict && error?.path == registry["A/B/C"]?.path)
        #expect(
            error?.message == "A/B/C is declared at M/Second.swift:2 as Double, but at M/First.swift:1 as another type "
                + "(kind int); give one of them another name")
        #expect(refusal { _ = try registry.register("A", "B", "C", "5") }?.code == .conflict)
        #expect(refusal { _ = try registry.register("A", "B", "C", Int32(5)) }?.code == .conflict)
        #expect(refusal { _ = try registry.register("A", "B", "C", 5, choices: [5, 6]) }?.code == .conflict)
        #expect(registry.count == 1 && registry["A/B/C"]?.value == .int(5))
    }

    @Test func aValueWhereAnActionIsThrows() throws {
        tweakAction("A", "B", "Run", registry: registry) { _ in "ran" }
        #expect(refusal { _ = try registry.register("A", "B", "Run", 5) }?.code == .conflict)
        #expect(registry["A/B/Run"]?.kind == .action && registry.count == 1)
    }

    @Test func theSameActionAgainIsAConflictAndTheFirstRuns() async throws {
        tweakAction("A", "B", "Run", registry: registry, fileID: "M/First.swift", line: 1) { _ in "first" }
        let second = tweakAction("A", "B", "Run", registry: registry, fileID: "M/Second.swift", line: 2) { _ in "second"
        }
        #expect(try await second.run() == "first")
        #expect(registry.conflicts.map(\.differences) == ["another action"] && registry.count == 1)
    }

    // MARK: Paths and listing

    @Test func listingIsSortedByCategoryCollectionAndDeclaration() {
        for path in ["b/a/z", "a/b/z", "a/a/y", "b/a/a", "a/b/a", "a/a/x", "a-/a/q", "a /a/q", "Z/z/z"] {
            let parts = path.split(separator: "/").map { String($0) }
            _ = Tweak(parts[0], parts[1], parts[2], 1, registry: registry)
        }
        let listed = registry.categories.flatMap(\.collections).flatMap(\.tweaks).map(\.path.joined)
        #expect(listed == ["Z/z/z", "a/a/y", "a/a/x", "a/b/z", "a/b/a", "a /a/q", "a-/a/q", "b/a/z", "b/a/a"])
        #expect(registry.categories.map(\.name) == ["Z", "a", "a ", "a-", "b"])
    }

    @Test func textsThatCouldFoolATerminalAreRefused() {
        for text in ["\n", "\u{1B}[31m", "\u{202E}", "\u{2028}"] {
            #expect(refusal { _ = try registry.register("A", "B", "C", 1, unit: text) }?.code == .usage)
            #expect(refusal { _ = try registry.register("A", "B", "C", 1, help: text) }?.code == .usage)
            #expect(refusal { _ = try registry.register("A", "B", text, 1) }?.code == .usage)
            #expect(refusal { _ = try registry.register("A", "B", "C", "a", choices: ["a": text]) }?.code == .usage)
        }
        #expect(registry.count == 0)
    }
}
