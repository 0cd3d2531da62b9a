// Tests commits from outside: their observers run on the executor of the registry, folded while it is behind.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct ObserverExecutorTests {
    private let registry = TweakRegistry()
    private let executor = HandExecutor()
    private let a: Tweak<Int>
    private let b: Tweak<Int>

    init() {
        registry.observerExecutor = executor
        a = Tweak("A", "B", "a", 0, registry: registry)
        b = Tweak("A", "B", "b", 0, registry: registry)
    }

    @Test func theExecutorRunsTheObserversOnItsThread() throws {
        let (running, observing) = (Recorder<UInt>(), ChangeRecorder(a) { _ in currentThread() })
        let seen = ChangeRecorder(a) { $0.new }
        try a.setFromOutside(1)
        #expect(a.value == 1 && seen.all.isEmpty && executor.waiting == 2)
        TestThread { [executor] in
            running.note(currentThread())
            executor.runAll()
        }.join()
        #expect(observing.all == running.all && seen.all == [1])
    }

    @Test func pendingChangesAreFolded() throws {
        let seen = ChangeRecorder(a) { "\($0.old)→\($0.new) in \($0.revision)" }
        for value in 1...1_000 { try a.setFromOutside(value) }
        #expect(executor.waiting == 1)
        executor.runAll()
        #expect(seen.all == ["0→1000 in 1000"])
        try a.setFromOutside(1)
        try a.setFromOutside(1_000)
        executor.runAll()
        #expect(seen.all.count == 1)
    }

    @Test func changesOfDifferentTweaksAreNotFoldedTogether() throws {
        let tweaks = (0..<20).map { Tweak("A", "B", "\($0)", 0, registry: registry) }
        let seen = Recorder<[Int]>()
        let tokens = tweaks.enumerated().map { number, tweak in tweak.observe { seen.note([number, $0.new]) } }
        for value in 1...100 { for tweak in tweaks { try tweak.setFromOutside(value) } }
        #expect(executor.waiting == 20)
        executor.runAll()
        #expect(seen.all == (0..<20).map { [$0, 100] })
        for token in tokens { token.cancel() }
    }

    @Test func eachObserverOfABatchIsCalledOnce() throws {
        let seen = [a, b].map { tweak in ChangeRecorder(tweak) { [a, b] _ in [a.value, b.value] } }
        var batch = TweakBatch()
        for value in 1...3 {
            batch.set(a, value)
            batch.set(b, value)
        }
        try registry.commit(batch, origin: .user(1), delivery: .executor)
        executor.runAll()
        #expect(seen.map(\.all) == [[[3, 3]], [[3, 3]]])
    }

    @Test func aSetFromCodeRunsItsObserversWithWhatIsPending() throws {
        let seen = ChangeRecorder(a) { "\($0.old)→\($0.new)" }
        try a.setFromOutside(1)
        a.value = 2
        #expect(seen.all == ["0→2"])
        executor.runAll()
        #expect(seen.all == ["0→2"])
        try a.setFromOutside(3)
        #expect(executor.waiting == 1)
        executor.runAll()
        #expect(seen.all == ["0→2", "2→3"])
    }

    @Test func aSetByAnObserverIsDeliveredOnTheExecutorAfterItsCall() throws {
        let seen = Recorder<String>()
        let tokens = [
            a.observe { _ in
                b.value = 1
                seen.note("a")
            },
            b.observe { _ in seen.note("b") },
        ]
        try a.setFromOutside(1)
        executor.runAll()
        #expect(seen.all == ["a", "b"])
        for token in tokens { token.cancel() }
    }

    @Test(arguments: [true, false]) func anObserverThatEndsWhilePendingIsNotCalled(isCanceled: Bool) throws {
        let seen = ChangeRecorder(a) { $0.new }
        try a.setFromOutside(1)
        if isCanceled { seen.cancel() } else { registry.remove(a.path) }
        executor.runAll()
        #expect(seen.all.isEmpty)
    }

    @Test func withoutAnExecutorTheCommittingThreadRunsThem() throws {
        let registry = TweakRegistry()
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = ChangeRecorder(tweak) { $0.new }
        try tweak.setFromOutside(1)
        registry.observerExecutor = executor
        registry.observerExecutor = nil
        try tweak.setFromOutside(2)
        #expect(seen.all == [1, 2])
    }

    @Test func followersAreWokenByTheCommittingThread() throws {
        let wakes = Recorder<UInt>()
        let follower = registry.follow(.folds) { wakes.note(currentThread()) }
        try a.setFromOutside(1)
        #expect(wakes.all == [currentThread()] && follower.drain().records.count == 1 && executor.waiting == 0)
    }
}
