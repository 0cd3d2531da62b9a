// Figures: values that the program publishes and nobody else can set.

import Testing

@testable import Tweaks

struct FiguresTests {
    private let registry = TweakRegistry()

    @Test func theProgramPublishesThem() throws {
        let figure = Tweak("A", "B", "Frames", 0.0, in: 0...1000, flags: .readOnly, registry: registry)
        let calls = Recorder<Double>()
        let token = figure.observe { calls.note($0.new) }
        figure.value = 60
        try figure.set(59.5)
        try figure.set(59.5)
        #expect(figure.value == 59.5 && figure.erased.value == .number(59.5) && registry.snapshot()[figure] == 59.5)
        #expect(calls.all == [60, 59.5])
        figure.value = 5_000
        #expect(figure.value == 1000)
        token.cancel()
    }

    @Test func theyRaiseNoRevisionAndAreNeverModified() throws {
        let figure = Tweak("A", "B", "Frames", 0, flags: .readOnly, registry: registry)
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let outcome = try figure.set(60)
        #expect(outcome.didChange && !outcome.didStore && outcome.revision == 0)
        #expect(registry.revision == 0 && registry.snapshot().changedAt(figure.node) == 0)
        #expect(!figure.isModified && !registry.snapshot().isModified(figure.node))
        try tweak.set(1)
        figure.value = 61
        #expect(registry.revision == 1)
    }

    @Test func theyEnterNoFeed() async throws {
        let figure = Tweak("A", "B", "Frames", 0, flags: .readOnly, registry: registry)
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let wakes = Recorder<Int>()
        let follower = registry.follow(.folds) { wakes.note(1) }
        var changes = registry.changes.makeAsyncIterator()
        for value in 1...100 { figure.value = value }
        #expect(!follower.hasNews && wakes.all.isEmpty)
        tweak.value = 1
        #expect(await changes.next()?.changes.map(\.path) == [tweak.path])
    }

    @Test func nobodyElseSetsThem() {
        let figure = Tweak("A", "B", "Frames", 0, flags: .readOnly, registry: registry)
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        for change in [TweakBatch.Change.set(.int(1)), .reset, .add(.int(1)), .toggle] {
            var batch = TweakBatch()
            batch.append(figure.node, change)
            #expect(refusal { try registry.commit(batch, origin: .user(0), delivery: .carrier) }?.code == .readOnly)
            batch.append(tweak.node, .set(.int(1)))
            #expect(refusal { try registry.commit(batch, origin: .user(0), delivery: .carrier) }?.code == .readOnly)
        }
        #expect(refusal { try registry.commit(origin: .code) { $0.set("A/B/Frames", .int(1)) } }?.code == .readOnly)
        #expect(figure.reset() == nil)
        #expect(figure.value == 0 && tweak.value == 0 && registry.revision == 0)
    }

    @Test func theyAreJudgedToo() {
        let figure = Tweak("A", "B", "Load", 0.5, in: 0...1, flags: .readOnly, registry: registry)
        #expect(refusal { try figure.set(.nan) }?.code == .badValue)
        figure.value = .infinity
        #expect(figure.value == 0.5)
        figure.value = -3
        #expect(figure.value == 0)
    }

    @Test func valuesFollowThem() async {
        let figure = Tweak("A", "B", "Frames", 0, flags: .readOnly, registry: registry)
        var values = figure.values.makeAsyncIterator()
        #expect(await values.next() == 0)
        figure.value = 60
        #expect(await values.next() == 60)
    }

    @Test func flagsAreShownInOneOrder() {
        #expect(TweakFlags([.secret, .needsRestart, .readOnly]).words == ["read-only", "needs-restart", "secret"])
        #expect(TweakFlags([]).words.isEmpty)
    }
}
