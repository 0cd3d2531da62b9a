// Tests that running readers and observers see a commit of many tweaks whole.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct WholeCommitTests {
    private let registry = TweakRegistry()
    private let tweaks: [Tweak<Int>]
    private let pair: TweakGroup<NumberPair>

    init() {
        tweaks = (0..<100).map { [registry] in Tweak("A", "B", "c\($0)", 0, registry: registry) }
        pair = TweakGroup("A", "Group", NumberPair(), registry: registry)
    }

    @Test func aFollowerReadsACommitInOnePiece() {
        let follower = registry.follow(.folds) {}
        let isDone = Atomic(false)
        let sizes = Recorder<Int>()
        let reader = TestThread {
            var commits = CommitReader(follower)
            while !isDone.load(ordering: .acquiring) || follower.hasUpdates {
                while let commit = commits.next() { sizes.note(commit.changes.count) }
            }
        }
        // As many as the stream holds for a slow reader: beyond a mebibyte it folds them.
        for round in 1...40 {
            _ = try? registry.commit(origin: .code) { batch in for tweak in tweaks { batch.set(tweak, round) } }
        }
        isDone.store(true, ordering: .releasing)
        reader.join()
        #expect(sizes.all == Array(repeating: tweaks.count, count: 40))
    }

    /// Two threads commit, so that the one that runs an observer reads what the other is committing.
    @Test func anObserverReadsTheNewValuesOfTheOtherTweaks() {
        let torn = Atomic(0)
        let last = tweaks[tweaks.count - 1]
        let token = tweaks[0].observe { change in
            // The group caches its value.
            if last.value < change.new || pair.value.b < change.new { torn.add(1, ordering: .relaxed) }
        }
        let (registry, rounds) = (registry, 300)
        let nodes = tweaks.map(\.node) + ["A", "B"].compactMap { registry["A/Group/\($0)"]?.node }
        onThreads(2) { _ in
            for _ in 0..<rounds {
                // All tweaks are equal after each commit.
                var batch = TweakBatch()
                for node in nodes { batch.append(node, .add(.int(1))) }
                _ = try? registry.commit(batch, origin: .code, delivery: .caller)
            }
        }
        #expect(last.value == 2 * rounds && pair.value.b == 2 * rounds)
        #expect(torn.load(ordering: .relaxed) == 0)
        token.cancel()
    }

    /// A part is read without a lock; a reader that has read its new value must not get an older group.
    @Test func aGroupIsNoOlderThanItsParts() {
        let part = Tweak("A", "Group", "A", 0, registry: registry)
        let isDone = Atomic(false)
        let late = Atomic(0)
        let reader = TestThread {
            while !isDone.load(ordering: .acquiring) {
                let seen = part.value
                if pair.value.a < seen { late.add(1, ordering: .relaxed) }
            }
        }
        for round in 1...300 {
            _ = try? registry.commit(origin: .code) { batch in
                batch.set(part, round)
                for tweak in tweaks { batch.set(tweak, round) }
            }
        }
        isDone.store(true, ordering: .releasing)
        reader.join()
        #expect(pair.value.a == 300)
        #expect(late.load(ordering: .relaxed) == 0)
    }

    /// A value from a file raises no revision, and so could look like part of the previous commit.
    @Test func aStoredValueIsNotAttributedToThePreviousCommit() throws {
        var reader = CommitReader(registry.follow(.folds) {})
        tweaks[0].value = 1
        tweaks[0].reset()
        StubStore().attach(to: registry, overrides: [try .override("A/B/c1", .int(3))], revision: 0)
        var commits: [TweakCommit] = []
        while let commit = reader.next() { commits.append(commit) }
        #expect(commits.map(\.origin.description) == ["code", "code", "uid 1000"])
        #expect(commits.map(\.revision) == [1, 2, 2])
        #expect(commits.map { $0.changes.map(\.path.name) } == [["c0"], ["c0"], ["c1"]])
    }
}
