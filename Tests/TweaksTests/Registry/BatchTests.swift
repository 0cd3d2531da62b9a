// Batches: checked whole, committed whole, seen whole; and snapshots, which show all of one or nothing.

import Synchronization
import Testing

@testable import Tweaks

struct BatchTests {
    private let registry = TweakRegistry()

    @Test func allOrNothing() throws {
        let tweaks = (0..<10).map { Tweak("A", "B", "\($0)", 0, in: 0...100, registry: registry) }
        let calls = Recorder<Int>()
        let tokens = tweaks.map { tweak in tweak.observe { calls.note($0.new) } }
        for bad in tweaks.indices {
            let error = refusal {
                try registry.commit(origin: .code) { batch in
                    for (number, tweak) in tweaks.enumerated() { batch.set(tweak, number == bad ? 101 : 50) }
                }
            }
            #expect(error?.code == .outOfRange && error?.path == tweaks[bad].path)
        }
        #expect(tweaks.allSatisfy { $0.value == 0 && !$0.isModified })
        #expect(registry.revision == 0 && calls.all.isEmpty)
        for token in tokens { token.cancel() }
    }

    @Test func anErrorFromTheProgramLeavesEverythingAsItWas() throws {
        struct Stop: Error {}
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        #expect(throws: Stop.self) {
            try registry.commit(origin: .code) { batch in
                batch.set(tweak, 1)
                throw Stop()
            }
        }
        #expect(tweak.value == 0 && registry.revision == 0)
    }

    @Test func anUnknownPathRefusesTheWhole() throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let error = refusal {
            try registry.commit(origin: .code) { batch in
                batch.set(tweak, 1)
                batch.set("A/B/D", .int(1))
            }
        }
        #expect(error?.code == .unknownTweak && tweak.value == 0)
    }

    @Test func anActionRefusesTheWhole() throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        tweakAction("A", "B", "Run", registry: registry) { _ in "" }
        for change in [TweakBatch.Change.set(.bool(true)), .reset, .toggle, .add(.int(1))] {
            let error = refusal {
                try registry.commit(origin: .code) { batch in
                    batch.set(tweak, 1)
                    guard let action = registry["A/B/Run"] else { return }
                    batch.append(action.node, change)
                }
            }
            #expect(error?.code == .badValue && tweak.value == 0)
        }
    }

    @Test func oneRevisionAndOneCallForEachObserver() throws {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let calls = Recorder<String>()
        let tokens = [
            a.observe { calls.note("a \($0.old)→\($0.new) in \($0.revision)") },
            b.observe { calls.note("b \($0.old)→\($0.new) in \($0.revision)") },
        ]
        let result = try registry.commit(origin: .code) { batch in
            batch.set(a, 1)
            batch.set(b, 1)
            batch.set(a, 2)
            batch.reset(b)
            batch.set(b, 3)
            #expect(batch.count == 5)
        }
        #expect(calls.all == ["a 0→2 in 1", "b 0→3 in 1"])
        #expect(result.revision == 1 && result.outcomes.map(\.path) == [a.path, b.path])
        for token in tokens { token.cancel() }
    }

    @Test func theLastOfSeveralChangesOfOneTweakWins() throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        try registry.commit(origin: .code) { batch in
            batch.set(tweak, 1)
            batch.set("A/B/C", .int(2))
            batch.set(tweak, 3)
        }
        #expect(tweak.value == 3)
        try registry.commit(origin: .code) { batch in
            batch.set(tweak, 4)
            batch.reset(tweak)
        }
        #expect(tweak.value == 0 && !tweak.isModified)
    }

    @Test func observersSeeTheWholeCommit() throws {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let seen = Recorder<[Int]>()
        let tokens = [
            a.observe { _ in seen.note([a.value, b.value]) }, b.observe { _ in seen.note([a.value, b.value]) },
        ]
        try registry.commit(origin: .code) { batch in
            batch.set(a, 1)
            batch.set(b, 1)
        }
        #expect(seen.all == [[1, 1], [1, 1]])
        for token in tokens { token.cancel() }
    }

    @Test func anEmptyBatchIsNothing() throws {
        let result = try registry.commit(origin: .code) { _ in }
        #expect(result.revision == 0 && result.outcomes.isEmpty && !result.didStore)
    }

    // MARK: If unchanged since

    @Test func ifUnchangedSinceRefusesWhenATouchedTweakChanged() throws {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        try a.set(1)
        try b.set(1)
        let stale = refusal { try registry.commit(origin: .code, ifUnchangedSince: 1) { $0.set(b, 2) } }
        #expect(stale?.code == .conflict && stale?.path == b.path && b.value == 1)
        try registry.commit(origin: .code, ifUnchangedSince: 1) { $0.set(a, 2) }
        #expect(a.value == 2)
        try registry.commit(origin: .code, ifUnchangedSince: registry.revision) { $0.set(b, 2) }
        #expect(b.value == 2)
    }

    @Test func ifUnchangedSinceSeesResetsAndSetsToTheSameValue() throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        try tweak.set(1)
        tweak.reset()
        let error = refusal { try registry.commit(origin: .code, ifUnchangedSince: 1) { $0.set(tweak, 2) } }
        #expect(error?.code == .conflict && tweak.value == 0)
        try tweak.set(0)
        #expect(
            refusal { try registry.commit(origin: .code, ifUnchangedSince: 2) { $0.set(tweak, 2) } }?.code == .conflict)
    }

    @Test func anUnknownRevisionIsAConflict() throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let error = refusal { try registry.commit(origin: .code, ifUnchangedSince: 1) { $0.set(tweak, 2) } }
        #expect(error?.code == .conflict && tweak.value == 0 && registry.revision == 0)
    }

    // MARK: Snapshots

    @Test func aSnapshotShowsOneMoment() throws {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", "x", registry: registry))
        try a.set(1)
        let snapshot = registry.snapshot()
        try a.set(2)
        try b.set("y")
        let later = Tweak("A", "B", "later", 7, registry: registry)
        try later.set(8)
        registry.remove(b.path)
        #expect(snapshot.revision == 1 && snapshot[a] == 1 && snapshot[b] == "x")
        #expect(snapshot["A/B/a"] == .int(1) && snapshot["A/B/b"] == .string("x"))
        #expect(snapshot[later] == 7 && snapshot["A/B/later"] == nil)
        #expect(snapshot.isModified(a.node) && !snapshot.isModified(b.node) && !snapshot.holds(later.node))
        #expect(registry.snapshot()[a] == 2 && registry.snapshot()["A/B/b"] == nil)
    }

    @Test func aSnapshotShowsAllOfACommitOrNothing() throws {
        // Two tweaks, always set together: no reader may see them apart, nor with another revision.
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let torn = Atomic(0)
        onThreads(4) { [registry] thread in
            for round in 1...500 {
                if thread < 2 {
                    _ = try? registry.commit(origin: .code) { batch in
                        batch.set(a, round * 2 + thread)
                        batch.set(b, round * 2 + thread)
                    }
                } else {
                    let snapshot = registry.snapshot()
                    let isTorn = snapshot[a] != snapshot[b] || snapshot.changedAt(a.node) != snapshot.changedAt(b.node)
                    if isTorn || snapshot.changedAt(a.node) != snapshot.revision {
                        torn.add(1, ordering: .relaxed)
                    }
                }
            }
        }
        #expect(torn.load(ordering: .relaxed) == 0)
        #expect(a.value == b.value && registry.revision > 500)
    }
}
