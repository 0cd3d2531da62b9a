// A commit of many tweaks beside readers that are awake already: nobody is shown a part of it.

import Synchronization
import Testing

@testable import Tweaks

/// Two parts that are always set to the same number.
private struct Pair: TweakTemplate {
    var a = 0
    var b = 0
    static let parts: [TweakPart<Pair>] = [TweakPart("a", \.a), TweakPart("b", \.b)]
}

struct WholeCommitTests {
    private let registry = TweakRegistry()
    private let tweaks: [Tweak<Int>]

    init() {
        let registry = registry
        tweaks = (0..<100).map { Tweak("A", "B", "c\($0)", 0, registry: registry) }
    }

    private func commit(_ value: Int) {
        _ = try? registry.commit(origin: .code) { batch in for tweak in tweaks { batch.set(tweak, value) } }
    }

    @Test func aReaderOfAFeedTakesItInOnePiece() {
        let follower = registry.follow(.folds) {}
        let isDone = Atomic(false)
        let sizes = Recorder<Int>()
        let reader = TestThread {
            var commits = CommitReader(follower)
            while !isDone.load(ordering: .acquiring) || follower.hasNews {
                while let commit = commits.next() { sizes.note(commit.changes.count) }
            }
        }
        // As many as the stream holds, however slow its reader is: beyond a mebibyte it folds them.
        let rounds = 40
        for round in 1...rounds { commit(round) }
        isDone.store(true, ordering: .releasing)
        reader.join()
        #expect(sizes.all == Array(repeating: tweaks.count, count: rounds))
    }

    /// Two threads commit, so that the one which runs an observer finds what the other one is just committing.
    @Test func anObserverFindsTheOtherTweaksNewToo() {
        let torn = Atomic(0)
        let last = tweaks[tweaks.count - 1]
        let pair = TweakGroup("A", "Group", Pair(), registry: registry)
        let token = tweaks[0].observe { change in
            // A group keeps the value that it has made.
            if last.value < change.new || pair.value.b < change.new { torn.add(1, ordering: .relaxed) }
        }
        let (registry, rounds) = (registry, 300)
        let nodes = tweaks.map(\.node) + ["A", "B"].compactMap { registry["A/Group/\($0)"]?.node }
        onThreads(2) { _ in
            for _ in 0..<rounds {
                // Added to what is there: all tweaks are equal after each commit.
                var batch = TweakBatch()
                for node in nodes { batch.append(node, .add(.int(1))) }
                _ = try? registry.commit(batch, origin: .code, delivery: .caller)
            }
        }
        #expect(last.value == 2 * rounds && pair.value.b == 2 * rounds)
        #expect(torn.load(ordering: .relaxed) == 0)
        token.cancel()
    }

    /// A part is read without a lock; whoever has seen it new must not be given a group that was made before.
    @Test func aGroupIsNoOlderThanItsParts() {
        let part = Tweak("A", "Group", "A", 0, registry: registry)
        let pair = TweakGroup("A", "Group", Pair(), registry: registry)
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

    /// What a tweak takes over from a file raises no revision: it would look like a part of the commit before.
    @Test func whatIsTakenOverIsNotLaidAtTheDoorOfTheCommitBefore() throws {
        var reader = CommitReader(registry.follow(.folds) {})
        tweaks[0].value = 1
        tweaks[0].reset()
        let store = StubStore()
        store.attach(to: registry, overrides: [try .override("A/B/c1", .int(3))], revision: 0)
        var commits: [TweakCommit] = []
        while let commit = reader.next() { commits.append(commit) }
        #expect(commits.map(\.origin.description) == ["code", "code", "uid 1000"])
        #expect(commits.map(\.revision) == [1, 2, 2])
        #expect(commits.map { $0.changes.map(\.path.name) } == [["c0"], ["c0"], ["c1"]])
    }
}
