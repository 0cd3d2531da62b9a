// Tests the table of call sites, which is read without a lock while other threads write.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct CallSiteTests {
    private let registry = TweakRegistry()
    private let table = CallSiteTable()
    private let lines = 0..<100 as Range<UInt>

    private func key(_ line: UInt, _ type: Any.Type = Int.self) throws -> CallSiteKey {
        try #require(
            CallSiteKey("A", "B", "C", TweakSource(fileID: "M/File.swift", line: line), ObjectIdentifier(type)))
    }

    // MARK: The table

    @Test func findsInsertedCallSitesAndNoOthers() throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        for line in 0..<2_000 as Range<UInt> {
            #expect(try table.cell(key(line)) == nil)
            table.insert(try key(line), tweak)
            #expect(try table.cell(key(line)) != nil)
        }
        for line in 0..<2_000 as Range<UInt> {
            #expect(try table.cell(key(line)) != nil)
            #expect(try table.cell(key(line, Double.self)) == nil)
        }
        #expect(try table.cell(key(2_000)) == nil)
        // A second tweak of the same call site is ignored.
        table.insert(try key(1), Tweak("A", "B", "D", 0, registry: registry))
        #expect(try table.tweak(key(1))?.node === tweak.node)
    }

    @Test func removesTheCallSitesOfOneTweakOrOfAll() throws {
        let (first, second) = (Tweak("A", "B", "1", 0, registry: registry), Tweak("A", "B", "2", 0, registry: registry))
        for line in lines { table.insert(try key(line), line.isMultiple(of: 2) ? first : second) }
        table.remove(first.node)
        for line in lines { #expect(try (table.cell(key(line)) == nil) == line.isMultiple(of: 2)) }
        table.removeAll()
        for line in lines { #expect(try table.cell(key(line)) == nil) }
        table.insert(try key(1), second)
        #expect(try table.cell(key(1)) != nil)
    }

    // MARK: Threads

    @Test func callSitesOnManyThreadsRegisterOnceAndReadTheSameValue() {
        let wrong = Atomic(0)
        onThreads(4) { [registry] thread in
            for _ in 0..<3 {
                for line in 0..<300 as Range<UInt> {
                    // Each line is another call site; each thread starts at another one.
                    let line = (line + UInt(thread) * 75) % 300
                    let value = tweakValue("A", "B", "C", 5, in: 0...10, registry: registry, line: line)
                    let text = tweakValue("A", "B", "D", "text", registry: registry, line: line)
                    let handle = tweakInline("A", "B", "E", 0.5, registry: registry, line: line)
                    if value != 5 || text != "text" || handle.value != 0.5 { wrong.add(1, ordering: .relaxed) }
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(registry.count == 3 && registry.conflicts.isEmpty)
    }

    @Test func aReaderReadsEachSetWhileAnotherThreadRegisters() {
        let wrong = Atomic(0)
        let published = Atomic(0)
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        onThreads(3) { [registry] thread in
            for round in 1...500 {
                switch thread {
                case 0:
                    tweak.value = round
                    published.store(round, ordering: .releasing)
                case 1:
                    _ = tweakInline("A", "B", "Other", 0, registry: registry, line: UInt(round))
                default:
                    let atLeast = published.load(ordering: .acquiring)
                    if tweakValue("A", "B", "C", 0, registry: registry) < atLeast { wrong.add(1, ordering: .relaxed) }
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }

    @Test func callSitesSurviveRemovalsOnOtherThreads() throws {
        // A reader reads the value, or the default of a tweak that was just removed; then it registers it again.
        let wrong = Atomic(0)
        let path = try TweakPath("A", "B", "C")
        onThreads(3) { [registry] thread in
            for round in 0..<400 {
                if thread == 0, round.isMultiple(of: 8) { registry.remove(path) }
                let value = tweakValue("A", "B", "C", 5, registry: registry, line: UInt(round % 20))
                if value != 5 { wrong.add(1, ordering: .relaxed) }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        registry.remove(path)
        for line in 0..<20 as Range<UInt> {
            let handle = tweakInline("A", "B", "C", 5, registry: registry, line: line)
            handle.value = Int(line)
            #expect(tweakValue("A", "B", "C", 5, registry: registry, line: line) == Int(line))
        }
        #expect(registry["A/B/C"]?.value == .int(19))
    }

    // MARK: Memory

    /// A reader may still read the cell of a removed tweak, so it is not freed but reused by the next tweak.
    @Test func declaringARemovedTweakAgainNeedsNoMoreMemory() throws {
        let nodes = (0..<2).map { _ in WeakBox<TweakNode>() }
        for round in 0..<1_000 {
            #expect(tweakValue("A", "B", "C", round, registry: registry) == round)
            #expect(tweakInline("A", "B", "D", "text", registry: registry).value == "text")
            if round == 0 { nodes[0].value = registry["A/B/C"]?.node }
            if round == 1 { nodes[1].value = registry["A/B/D"]?.node }
            try registry.remove(TweakPath("A", "B", "C"))
            if round.isMultiple(of: 2) { registry.removeAll() }
        }
        let counts = registry.callSites.counts
        #expect(counts.sites == 2 && counts.cells == 2 && counts.generations == 1)
        #expect(nodes.allSatisfy { $0.value == nil })
    }

    @Test func aHandleOfARemovedTweakKeepsItsCellWithTheDefault() throws {
        func handle(_ value: Int) -> Tweak<Int> { tweakInline("A", "B", "C", value, registry: registry) }
        let kept = (0..<20).map { number in
            defer { registry.removeAll() }
            return handle(number)
        }
        _ = handle(100)
        #expect(kept.map(\.value) == Array(0..<20))
        #expect(registry.callSites.counts.cells == 21)
    }

    // MARK: Identity of call sites

    @Test func eachRegistryHasATable() {
        let other = TweakRegistry()
        func read(_ registry: TweakRegistry) -> Int { tweakValue("A", "B", "C", 5, registry: registry) }
        #expect(read(registry) == 5 && read(other) == 5)
        tweakInline("A", "B", "C", 5, registry: other).value = 6
        #expect(read(registry) == 5 && read(other) == 6)
    }

    @Test func aGenericCallSiteIsOneForEachType() {
        func read<Value: TweakConvertible>(_ name: String, _ value: Value) -> Value {
            tweakValue("A", "B", name, value, registry: registry)
        }
        #expect(read("Int", 5) == 5 && read("Text", "x") == "x" && read("Flag", true))
        func readInts<Value: TweakInteger>(_ value: Value, _ registry: TweakRegistry) -> Value {
            tweakValue("A", "B", "Same", value, registry: registry)
        }
        #expect(readInts(5, registry) == 5 && readInts(UInt8(7), TweakRegistry()) == 7)
    }

    @Test func dynamicNamesAreLookedUpByText() throws {
        for number in 0..<50 {
            let name = "Name \(number)"
            #expect(tweakValue("A", "B", name, number, registry: registry) == number)
            try registry["A/B/\(name)"]?.set(.int(-1))
            #expect(tweakValue("A", "B", name, number, registry: registry) == -1)
        }
        #expect(registry.count == 50)
    }

    @Test func differentDeclarationsAtTwoCallSitesAreAConflict() {
        #expect(tweakValue("A", "B", "C", 5, registry: registry) == 5)
        #expect(tweakValue("A", "B", "C", 6, registry: registry) == 5)
        #expect(registry.conflicts.count == 1)
    }

    @Test func choicesAreEvaluatedOnce() {
        let count = Box(0)
        func choices() -> [String] {
            count.value += 1
            return ["a", "b"]
        }
        for _ in 0..<10 { #expect(tweakValue("A", "B", "C", "a", choices: choices(), registry: registry) == "a") }
        #expect(count.value == 1)
    }
}
