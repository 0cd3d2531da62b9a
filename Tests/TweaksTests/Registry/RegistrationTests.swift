// Tests declaring a path again: the same tweak, a conflict that is listed, or a programming error.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct RegistrationTests {
    private let registry = TweakRegistry()

    @discardableResult
    private func declare(_ value: Int, _ file: StaticString = "M/File.swift", line: UInt = 1) -> Tweak<Int> {
        Tweak("A", "B", "C", value, registry: registry, fileID: file, line: line)
    }

    @Test func everyFormOfTheSameDeclarationFindsTheSameTweak() throws {
        struct Wrapped {
            @Tweak var value: Int
            init(_ registry: TweakRegistry) { _value = Tweak(wrappedValue: 5, "A", "B", "C", registry: registry) }
        }
        let tweak = declare(5)
        try tweak.set(6)
        #expect(tweakValue("A", "B", "C", 5, registry: registry) == 6)
        #expect(tweakInline("A", "B", "C", 5, registry: registry).node === tweak.node)
        let name = ["C"][0]
        #expect(tweakValue("A", "B", name, 5, registry: registry) == 6)
        #expect(tweakInline("A", "B", name, 5, registry: registry).node === tweak.node)
        #expect(try registry.register("A", "B", "C", 5).node === tweak.node)
        #expect(declare(5).node === tweak.node && Wrapped(registry).value == 6)
        let first = Tweak("A", "B", "D", 5, in: 0...10, step: 1, unit: "pt", help: "h", registry: registry)
        let second = Tweak("A", "B", "D", 5, in: 0...10, step: 1, unit: "pt", help: "h", registry: registry)
        try first.set(7)
        #expect(second.value == 7 && first.node === second.node && registry.conflicts.isEmpty && registry.count == 2)
    }

    @Test func threadsThatDeclareAtOnceGetTheSameTweak() {
        let nodes = Recorder<ObjectIdentifier>()
        onThreads(4) { [registry] _ in
            for number in 0..<100 {
                nodes.note(ObjectIdentifier(Tweak("A", "B", "\(number)", 5, registry: registry).node))
            }
        }
        #expect(registry.count == 100 && Set(nodes.all).count == 100 && registry.conflicts.isEmpty)
    }

    @Test func anotherDefaultIsAConflictAndTheFirstIsUsed() {
        let first = declare(5, "M/First.swift")
        let second = declare(6, "M/Second.swift", line: 2)
        #expect(second.value == 5 && second.defaultValue == 5 && second.node === first.node)
        #expect(
            registry.conflicts.map(\.description) == [
                "A/B/C is declared at M/First.swift:1 and differently at M/Second.swift:2 (default 5 and 6); the first is used"
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
        #expect(registry.conflicts.count == 9 && registry.count == 1 && registry["A/B/C"]?.upperBound == .int(10))
    }

    @Test func eachHandlerReceivesAConflictOnceUntilItIsCanceled() {
        let (early, canceled, late) = (Recorder<UInt>(), Recorder<UInt>(), Recorder<UInt>())
        registry.onConflict { early.note($0.second.line) }
        let token = registry.onConflict { canceled.note($0.second.line) }
        for line in [1, 2, 3, 1, 2, 3] as [UInt] {
            declare(Int(line), line: line)
            if line == 2 { token.cancel() }
        }
        registry.onConflict { late.note($0.second.line) }
        #expect(early.all == [2, 3] && canceled.all == [2] && late.all == [2, 3])
        #expect(registry.conflicts.map(\.first.line) == [1, 1])
    }

    @Test func aHandlerMayUseTheRegistry() {
        let counts = Recorder<Int>()
        registry.onConflict { [registry] _ in counts.note(registry.conflicts.count + registry.count) }
        for line in [1, 2] as [UInt] { declare(Int(line), line: line) }
        #expect(counts.all == [2])
    }

    @Test func anotherTypeThrows() throws {
        declare(5, "M/First.swift")
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

    @Test func aValueAtAnActionsPathThrowsAndAnotherActionIsAConflict() async throws {
        tweakAction("A", "B", "Run", registry: registry, fileID: "M/A.swift", line: 1) { _ in "first" }
        #expect(refusal { _ = try registry.register("A", "B", "Run", 5) }?.code == .conflict)
        let again = tweakAction("A", "B", "Run", registry: registry, fileID: "M/B.swift", line: 2) { _ in "second" }
        #expect(try await again.run() == "first")
        #expect(registry.conflicts.map(\.differences) == ["another action"])
        #expect(registry["A/B/Run"]?.kind == .action && registry.count == 1)
    }

    @Test func theListingIsSortedByCategoryCollectionAndDeclaration() {
        for path in ["b/a/z", "a/b/z", "a/a/y", "b/a/a", "a/b/a", "a/a/x", "a-/a/q", "a /a/q", "Z/z/z"] {
            let parts = path.split(separator: "/").map { String($0) }
            _ = Tweak(parts[0], parts[1], parts[2], 1, registry: registry)
        }
        let listed = registry.categories.flatMap(\.collections).flatMap(\.tweaks).map(\.path.joined)
        #expect(listed == ["Z/z/z", "a/a/y", "a/a/x", "a/b/z", "a/b/a", "a /a/q", "a-/a/q", "b/a/z", "b/a/a"])
        #expect(registry.categories.map(\.name) == ["Z", "a", "a ", "a-", "b"])
    }

    @Test(arguments: ["\n", "\u{1B}[31m", "\u{202E}", "\u{2028}"])
    func textsThatCouldManipulateATerminalAreRefused(_ text: String) {
        #expect(refusal { _ = try registry.register("A", "B", "C", 1, unit: text) }?.code == .usage)
        #expect(refusal { _ = try registry.register("A", "B", "C", 1, help: text) }?.code == .usage)
        #expect(refusal { _ = try registry.register("A", "B", text, 1) }?.code == .usage)
        #expect(refusal { _ = try registry.register("A", "B", "C", "a", choices: ["a": text]) }?.code == .usage)
        #expect(registry.count == 0)
    }
}
