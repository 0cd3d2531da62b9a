// Tests read-only tweaks, whose values only the program sets.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct MetricsTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Int>
    private let metric: Tweak<Int>

    init() {
        tweak = Tweak("A", "B", "C", 0, registry: registry)
        metric = Tweak("A", "B", "Frames", 0, in: 0...1000, flags: .readOnly, registry: registry)
    }

    @Test func theProgramSetsThemAndObserversFollow() async throws {
        let calls = ChangeRecorder(metric) { $0.new }
        var values = metric.values.makeAsyncIterator()
        #expect(await values.next() == 0)
        metric.value = 60
        #expect(await values.next() == 60)
        for _ in 0..<2 { try metric.set(59) }
        #expect(metric.value == 59 && metric.erased.value == .int(59) && registry.snapshot()[metric] == 59)
        #expect(calls.all == [60, 59])
        metric.value = 5_000
        #expect(metric.value == 1000)
    }

    @Test func theyRaiseNoRevisionAndAreNeverModified() throws {
        let outcome = try metric.set(60)
        #expect(outcome.didChange && !outcome.didStore && outcome.revision == 0)
        #expect(registry.revision == 0 && registry.snapshot().changedAt(metric.node) == 0)
        #expect(!metric.isModified && !registry.snapshot().isModified(metric.node))
        try tweak.set(1)
        metric.value = 61
        #expect(registry.revision == 1)
    }

    @Test func theirChangesAreNotAmongTheCommits() async throws {
        let wakes = Recorder<Int>()
        let follower = registry.follow(.folds) { wakes.note(1) }
        var changes = registry.changes.makeAsyncIterator()
        for value in 1...100 { metric.value = value }
        #expect(!follower.hasUpdates && wakes.all.isEmpty)
        tweak.value = 1
        #expect(await changes.next()?.changes.map(\.path) == [tweak.path])
    }

    @Test func commitsCannotChangeThem() {
        for change in [TweakBatch.Change.set(.int(1)), .reset, .add(.int(1)), .toggle] {
            var batch = TweakBatch()
            batch.append(metric.node, change)
            #expect(refusal { try registry.commit(batch, origin: .user(0), delivery: .executor) }?.code == .readOnly)
            batch.append(tweak.node, .set(.int(1)))
            #expect(refusal { try registry.commit(batch, origin: .user(0), delivery: .executor) }?.code == .readOnly)
        }
        #expect(refusal { try registry.commit(origin: .code) { $0.set("A/B/Frames", .int(1)) } }?.code == .readOnly)
        #expect(metric.reset() == nil && metric.value == 0 && tweak.value == 0 && registry.revision == 0)
    }

    @Test func theirValuesAreValidated() {
        let load = Tweak("A", "B", "Load", 0.5, in: 0...1, flags: .readOnly, registry: registry)
        #expect(refusal { try load.set(.nan) }?.code == .badValue)
        load.value = .infinity
        #expect(load.value == 0.5)
        load.value = -3
        #expect(load.value == 0)
    }

    @Test func flagsArePrintedInAFixedOrder() {
        #expect(TweakFlags([.secret, .needsRestart, .readOnly]).words == ["read-only", "needs-restart", "secret"])
        #expect(TweakFlags([]).words.isEmpty)
    }
}
