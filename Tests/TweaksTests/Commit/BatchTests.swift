// Tests batches, which are validated, committed and seen as a whole, and snapshots, which show one revision.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct BatchTests {
    private let registry = TweakRegistry()
    private let a: Tweak<Int>
    private let b: Tweak<Int>

    init() {
        a = Tweak("A", "B", "a", 0, registry: registry)
        b = Tweak("A", "B", "b", 0, registry: registry)
    }

    @Test func aValueOutOfRangeAtAnyPlaceRefusesTheWholeBatch() throws {
        let tweaks = (0..<10).map { Tweak("A", "B", "\($0)", 0, in: 0...100, registry: registry) }
        let calls = tweaks.map { ChangeRecorder($0) { $0.new } }
        for bad in tweaks.indices {
            let error = refusal {
                try registry.commit(origin: .code) { batch in
                    for (number, tweak) in tweaks.enumerated() { batch.set(tweak, number == bad ? 101 : 50) }
                }
            }
            #expect(error?.code == .outOfRange && error?.path == tweaks[bad].path)
        }
        #expect(tweaks.allSatisfy { $0.value == 0 && !$0.isModified })
        #expect(registry.revision == 0 && calls.allSatisfy(\.all.isEmpty))
    }

    @Test func aThrownErrorAnUnknownPathOrAnActionRefusesTheWholeBatch() throws {
        struct Stop: Error {}
        tweakAction("A", "B", "Run", registry: registry) { _ in "" }
        let action = try #require(registry["A/B/Run"])
        func code(_ change: (inout TweakBatch) -> Void) -> TweakError.Code? {
            refusal {
                try registry.commit(origin: .code) { batch in
                    batch.set(a, 1)
                    change(&batch)
                }
            }?.code
        }
        #expect(throws: Stop.self) {
            try registry.commit(origin: .code) { batch in
                batch.set(a, 1)
                throw Stop()
            }
        }
        #expect(code { $0.set("A/B/D", .int(1)) } == .unknownTweak)
        for change in [TweakBatch.Change.set(.bool(true)), .reset, .toggle, .add(.int(1))] {
            #expect(code { $0.append(action.node, change) } == .badValue)
        }
        #expect(a.value == 0 && registry.revision == 0)
    }

    @Test func aCommitIsOneRevisionAndOneCallOfEachObserverWhichSeesAllOfIt() throws {
        let calls = Recorder<String>()
        let observations = [a, b].map { tweak in
            tweak.observe { calls.note("\(tweak.path.name) \($0.old)→\($0.new)@\($0.revision): \(a.value)\(b.value)") }
        }
        let result = try registry.commit(origin: .code) { batch in
            batch.set(a, 1)
            batch.set(b, 1)
            batch.set(a, 2)
            batch.reset(b)
            batch.set(b, 3)
            #expect(batch.count == 5)
        }
        #expect(calls.all == ["a 0→2@1: 23", "b 0→3@1: 23"])
        #expect(result.revision == 1 && result.outcomes.map(\.path) == [a.path, b.path])
        for observation in observations { observation.cancel() }
    }

    @Test func theLastOfSeveralChangesOfATweakWins() throws {
        try registry.commit(origin: .code) { batch in
            batch.set(a, 1)
            batch.set("A/B/a", .int(2))
            batch.set(a, 3)
        }
        #expect(a.value == 3)
        try registry.commit(origin: .code) { batch in
            batch.set(a, 4)
            batch.reset(a)
        }
        #expect(a.value == 0 && !a.isModified)
    }

    @Test func anEmptyBatchChangesNothing() throws {
        let result = try registry.commit(origin: .code) { _ in }
        #expect(result.revision == 0 && result.outcomes.isEmpty && !result.didStore)
    }

    @Test func aTweakChangedSinceTheExpectedRevisionIsAConflict() throws {
        func set(_ tweak: Tweak<Int>, _ value: Int, ifUnchangedSince revision: UInt64) -> TweakError? {
            refusal { try registry.commit(origin: .code, ifUnchangedSince: revision) { $0.set(tweak, value) } }
        }
        // A revision that does not exist yet.
        #expect(set(a, 2, ifUnchangedSince: 1)?.code == .conflict && a.value == 0 && registry.revision == 0)
        try a.set(1)
        try b.set(1)
        let stale = set(b, 2, ifUnchangedSince: 1)
        #expect(stale?.code == .conflict && stale?.path == b.path && b.value == 1)
        #expect(set(a, 2, ifUnchangedSince: 1) == nil && a.value == 2)
        #expect(set(b, 2, ifUnchangedSince: registry.revision) == nil && b.value == 2)
        // A reset and a set to the same value count, too.
        a.reset()
        #expect(set(a, 2, ifUnchangedSince: 4)?.code == .conflict && a.value == 0)
        try a.set(0)
        #expect(set(a, 2, ifUnchangedSince: 5)?.code == .conflict)
    }

    @Test func aSnapshotShowsTheValuesOfItsRevision() throws {
        let text = Tweak("A", "B", "text", "x", registry: registry)
        try a.set(1)
        let snapshot = registry.snapshot()
        try a.set(2)
        try text.set("y")
        let later = Tweak("A", "B", "later", 7, registry: registry)
        try later.set(8)
        registry.remove(text.path)
        #expect(snapshot.revision == 1 && snapshot[a] == 1 && snapshot[text] == "x")
        #expect(snapshot["A/B/a"] == .int(1) && snapshot["A/B/text"] == .string("x"))
        #expect(snapshot[later] == 7 && snapshot["A/B/later"] == nil)
        #expect(snapshot.isModified(a.node) && !snapshot.isModified(text.node) && !snapshot.holds(later.node))
        #expect(registry.snapshot()[a] == 2 && registry.snapshot()["A/B/text"] == nil)
    }

    /// Two tweaks are always set together: no reader may see them differ, nor with another revision.
    @Test func aSnapshotShowsAllOfACommitOrNothing() throws {
        let torn = Atomic(0)
        onThreads(4) { [registry, a, b] thread in
            for round in 1...500 {
                if thread < 2 {
                    _ = try? registry.commit(origin: .code) { batch in
                        batch.set(a, round * 2 + thread)
                        batch.set(b, round * 2 + thread)
                    }
                } else {
                    let snapshot = registry.snapshot()
                    let isTorn = snapshot[a] != snapshot[b] || snapshot.changedAt(a.node) != snapshot.changedAt(b.node)
                    if isTorn || snapshot.changedAt(a.node) != snapshot.revision { torn.add(1, ordering: .relaxed) }
                }
            }
        }
        #expect(torn.load(ordering: .relaxed) == 0 && a.value == b.value && registry.revision > 500)
    }
}
