// Tests previews: the program reads other values for a while, and nothing else knows of them.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct PreviewTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let size: Tweak<Double>
    private let name: Tweak<String>
    private let count: Tweak<Int>
    private let ada = TweakOrigin("uid 1000")

    init() throws {
        let clock = clock
        registry = TweakRegistry(now: { clock.now }, sleep: { _ in throw CancellationError() })
        size = try registry.register("A", "B", "Size", 60.0, in: 0...100)
        name = try registry.register("A", "B", "Name", "plain")
        count = try registry.register("A", "C", "Count", 1)
        try size.set(72)
        try name.set("fancy")
    }

    /// Shows what a reset of everything would give.
    @discardableResult private func previewDefaults(replacing earlier: TweakPreview? = nil) throws -> StartedPreview {
        try preview(replacing: earlier) { $0.reset(matching: "*") }
    }

    private func preview(
        replacing earlier: TweakPreview? = nil, _ changes: (inout TweakBatch) -> Void
    ) throws -> StartedPreview {
        var batch = TweakBatch()
        changes(&batch)
        return try registry.preview(batch, origin: ada, replacing: earlier)
    }

    private func layers(_ path: String = "A/B/Size") -> [TweakLayer] { registry[path]?.layers.map(\.layer) ?? [] }

    // MARK: What sees it

    @Test func theProgramReadsItUntilItEnds() throws {
        let seen = Recorder<Double>()
        let binding = size.observe { seen.note($0.new) }
        let started = try previewDefaults()
        #expect(started.changes.map(\.shown.text).sorted() == [#""plain""#, "60"])
        #expect((size.value, name.value, count.value) == (60, "plain", 1))
        #expect(layers() == [.default, .override, .preview] && layers("A/C/Count") == [.default])
        let snapshot = registry.snapshot()
        #expect(snapshot[size] == 60 && snapshot["A/B/Name"] == .string("plain") && snapshot.settled[size] == 72)
        #expect(registry["A/B/Size"]?.value == .number(60))
        #expect(registry["A/B/Size"]?.layers.last?.origin == TweakOrigin("preview of uid 1000"))
        let revision = registry.revision
        #expect(registry.end(try #require(started.preview)) == revision + 1)
        #expect((size.value, name.value) == (72, "fancy") && layers() == [.default, .override])
        #expect(seen.all == [60, 72])
        withExtendedLifetime(binding) {}
    }

    @Test func aGroupReadsIt() throws {
        let group = TweakGroup("G", "H", TweakRateLimit(), registry: registry)
        let part = try #require(registry.tweaks(matching: "G/H").first { $0.kind == .number })
        try part.set(.number(7))
        let own = group.value
        _ = try preview { $0.reset(matching: "G") }
        #expect(group.value != own && registry.snapshot()[group] == group.value)
    }

    @Test func whatIsSetStaysTheSame() throws {
        let history = registry.history(last: 10).count
        let started = try previewDefaults()
        let snapshot = registry.snapshot()
        let node = try #require(registry["A/B/Size"]?.node)
        #expect(snapshot.isModified(node) && snapshot.isOverridden(node) && !snapshot.isStale(node))
        let draft = snapshot.draft(of: [node], pattern: nil, origin: ada, lineLimit: 100)
        #expect(draft.lines == ["A/B/Size = 72"])
        #expect(registry.history(last: 10).count == history)
        registry.end(try #require(started.preview))
        #expect(registry.history(last: 10).count == history)
        try registry.undo()
        #expect(name.value == "plain" && size.value == 72)
    }

    @Test func aStoreIsToldNothing() throws {
        let store = StubStore()
        store.attach(to: registry, overrides: [], revision: registry.revision)
        _ = store.taken()
        registry.end(try #require(try previewDefaults().preview))
        #expect(store.taken() == [])
    }

    // MARK: What ends it

    /// Each changes Size, or a layer of it, while a preview shows 60 in place of 72.
    private static let changes: [(String, value: Double, @Sendable (PreviewTests) throws -> Void)] = [
        ("set", 80, { try $0.size.set(80) }),
        ("the same value", 72, { try $0.size.set(72) }),
        ("the shown value", 60, { try $0.size.set(60) }),
        ("reset", 60, { $0.size.reset() }),
        (
            "sum", 73,
            { test in
                var batch = TweakBatch()
                batch.append(test.size.node, .add(.number(1)))
                _ = try test.registry.commit(batch, origin: .code, delivery: .caller)
            }
        ),
        (
            "batch", 81,
            { test in
                try test.registry.commit {
                    $0.set("A/C/Count", .int(7))
                    $0.set("A/B/Size", .number(81))
                }
            }
        ),
        ("temporary", 90, { try $0.size.set(90, for: .seconds(10)) }),
        (
            "undo", 60,
            { test in
                try test.registry.undo()
                try test.registry.undo()
            }
        ),
        (
            "file", 50,
            { test in
                let policy = LayerPolicy(dropsOverrides: true)
                #expect(test.registry.replace(.configFile, with: ["A/B/Size": "50"], policy).problems.isEmpty)
            }
        ),
        ("freeze", 60, { $0.registry.freeze() }),
    ]

    @Test(arguments: changes.indices) func aChangeOfOneOfItsTweaksIsInEffectAtOnce(index: Int) throws {
        let (what, value, change) = Self.changes[index]
        let seen = Recorder<Double>()
        let binding = size.observe { seen.note($0.new) }
        try previewDefaults()
        try change(self)
        #expect(size.value == value, "\(what)")
        #expect(registry.preview == nil && !layers().contains(.preview), "\(what)")
        #expect(seen.all.last == value || seen.all.isEmpty, "\(what): \(seen.all)")
        #expect(registry.snapshot()[size] == value && count.value == (what == "batch" ? 7 : 1), "\(what)")
        #expect(name.value == (what == "freeze" || what == "undo" ? "plain" : "fancy"), "\(what)")
        withExtendedLifetime(binding) {}
    }

    @Test func aChangeReportsAndRemembersWhatWasSet() throws {
        try previewDefaults()
        let outcome = try size.set(80)
        #expect(outcome.old == .number(72) && outcome.new == .number(80) && outcome.revision == registry.revision)
        #expect(registry.history(last: 1).first?.changes.first?.old == .number(72))
        try registry.undo()
        #expect(size.value == 72)
    }

    /// The thread of the program's own set may hold locks that they need.
    @Test func itsOtherObserversRunOnTheExecutor() throws {
        let executor = HandExecutor()
        registry.observerExecutor = executor
        let seen = Recorder<String>()
        let binding = name.observe { seen.note($0.new) }
        try previewDefaults()
        executor.runAll()
        try size.set(80)
        #expect(seen.all == ["plain"])
        executor.runAll()
        #expect(seen.all == ["plain", "fancy"])
        withExtendedLifetime(binding) {}
    }

    @Test func aChangeOfAnotherTweakLeavesIt() throws {
        try previewDefaults()
        try count.set(5)
        #expect(size.value == 60 && registry.preview != nil)
    }

    @Test func anExpiryOfOneOfItsTweaksEndsIt() throws {
        try size.set(90, for: .seconds(10))
        _ = try preview { $0.set("A/B/Size", .number(5)) }
        #expect(size.value == 5)
        clock.advance(by: .seconds(10))
        registry.expire()
        #expect(size.value == 72 && registry.preview == nil)
    }

    @Test func aRemovedTweakIsNotTouchedAgain() throws {
        let started = try previewDefaults()
        registry.remove(size.path)
        let again = try registry.register("A", "B", "Size", 5.0)
        #expect(again.value == 5 && name.value == "plain")
        #expect(registry.end(try #require(started.preview)) != nil)
        #expect(again.value == 5 && name.value == "fancy")
    }

    // MARK: One at a time

    @Test func aSecondOneIsRefusedAndTheSameClientsReplacesIt() throws {
        let first = try #require(try previewDefaults().preview)
        let error = #expect(throws: TweakError.self) { try previewDefaults() }
        #expect(error?.code == .busy && error?.message.contains("preview of uid 1000") == true)
        let second = try preview(replacing: first) { $0.set("A/B/Size", .number(1)) }
        #expect(size.value == 1 && name.value == "fancy" && second.didChange)
        #expect(registry.end(first) == nil)
        registry.end(try #require(second.preview))
        #expect(size.value == 72)
    }

    @Test func nothingIsOnWhereNothingDiffers() throws {
        let revision = registry.revision
        let started = try preview { $0.set("A/B/Size", .number(72)) }
        #expect(started.preview == nil && !started.didChange && registry.preview == nil)
        #expect(registry.revision == revision)
        try previewDefaults()
    }

    // MARK: What it refuses

    @Test func whatMustNotBePreviewedIsLeftOut() throws {
        let secret = try registry.register("S", "T", "Key", "abc", flags: .secret)
        let late = try registry.register("S", "T", "Threads", 2, flags: .needsRestart)
        try secret.set("xyz")
        try late.set(4)
        let started = try preview { $0.reset(matching: "S") }
        #expect(started.changes.isEmpty && secret.value == "xyz" && late.value == 4)
    }

    @Test func moreThan200TweaksAreRefused() throws {
        for number in 0...TweakPreview.limit {
            try registry.register("Many", "Of", "N\(number)", 1).set(2)
        }
        let error = #expect(throws: TweakError.self) { try preview { $0.reset(matching: "Many") } }
        #expect(error?.code == .tooMany && registry.preview == nil)
        registry.remove(try TweakPath("Many/Of/N0"))
        #expect(try preview { $0.reset(matching: "Many") }.changes.count == 200)
    }

    @Test func aWrongValueOrAFrozenProcessIsRefused() throws {
        #expect(throws: TweakError.self) { try preview { $0.set("A/B/Size", .number(500)) } }
        registry.freeze()
        #expect(throws: TweakError.self) { try preview { $0.set("A/B/Size", .number(5)) } }
        #expect(registry.preview == nil && size.value == 60)
    }

    // MARK: In the stream

    @Test func itsStartAndEndAreOneCommitEach() async throws {
        var changes = registry.changes.makeAsyncIterator()
        let started = try previewDefaults()
        registry.end(try #require(started.preview))
        for wanted in [
            [("A/B/Name", #""plain""#), ("A/B/Size", "60")], [("A/B/Name", #""fancy""#), ("A/B/Size", "72")],
        ] {
            let commit = try #require(await changes.next())
            #expect(commit.origin == TweakOrigin("preview of uid 1000"))
            let all = commit.changes.map { ($0.path.joined, $0.new.text) }.sorted { $0.0 < $1.0 }
            #expect(all.elementsEqual(wanted, by: ==))
        }
    }
}
