// Commits from outside: their observers run on the delivery thread, folded while it is behind.

import Testing

@testable import Tweaks

struct CarrierTests {
    private let registry = TweakRegistry()
    private let carrier = HandExecutor()

    /// As a session would.
    private func set<Value>(_ tweak: Tweak<Value>, _ value: Value) throws {
        var batch = TweakBatch()
        batch.set(tweak, value)
        try registry.commit(batch, origin: .user(1000), delivery: .carrier)
    }

    @Test func theCarrierRunsTheObservers() throws {
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<Int>()
        let token = tweak.observe { seen.note($0.new) }
        try set(tweak, 1)
        #expect(tweak.value == 1 && seen.all.isEmpty && carrier.waiting == 1)
        carrier.runAll()
        #expect(seen.all == [1])
        token.cancel()
    }

    @Test func onItsOwnThread() throws {
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let (carrying, observing) = (Recorder<UInt>(), Recorder<UInt>())
        let token = tweak.observe { _ in observing.note(currentThread()) }
        try set(tweak, 1)
        TestThread { [carrier] in
            carrying.note(currentThread())
            carrier.runAll()
        }.join()
        #expect(observing.all == carrying.all && observing.all.count == 1)
        token.cancel()
    }

    @Test func whatComesWhileItWaitsIsFolded() throws {
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<String>()
        let token = tweak.observe { seen.note("\($0.old)→\($0.new) in \($0.revision)") }
        for value in 1...1_000 { try set(tweak, value) }
        #expect(carrier.waiting == 1)
        carrier.runAll()
        #expect(seen.all == ["0→1000 in 1000"])
        try set(tweak, 1)
        try set(tweak, 1_000)
        carrier.runAll()
        #expect(seen.all.count == 1)
        token.cancel()
    }

    @Test func oneTweaksChangesNeverSwallowAnothers() throws {
        registry.observerExecutor = carrier
        let tweaks = (0..<20).map { Tweak("A", "B", "\($0)", 0, registry: registry) }
        let seen = Recorder<[Int]>()
        let tokens = tweaks.enumerated().map { number, tweak in tweak.observe { seen.note([number, $0.new]) } }
        for value in 1...100 { for tweak in tweaks { try set(tweak, value) } }
        #expect(carrier.waiting == 20)
        carrier.runAll()
        #expect(seen.all == (0..<20).map { [$0, 100] })
        for token in tokens { token.cancel() }
    }

    @Test func oneCallForEachObserverOfABatch() throws {
        registry.observerExecutor = carrier
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let seen = Recorder<[Int]>()
        let tokens = [
            a.observe { _ in seen.note([a.value, b.value]) }, b.observe { _ in seen.note([a.value, b.value]) },
        ]
        var batch = TweakBatch()
        for value in 1...3 {
            batch.set(a, value)
            batch.set(b, value)
        }
        try registry.commit(batch, origin: .user(1), delivery: .carrier)
        carrier.runAll()
        #expect(seen.all == [[3, 3], [3, 3]])
        for token in tokens { token.cancel() }
    }

    @Test func aSetFromCodeRunsItsObserversItself() throws {
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<String>()
        let token = tweak.observe { seen.note("\($0.old)→\($0.new)") }
        try set(tweak, 1)
        tweak.value = 2  // Brings what waited along: newest wins.
        #expect(seen.all == ["0→2"])
        carrier.runAll()
        #expect(seen.all == ["0→2"])
        try set(tweak, 3)
        #expect(carrier.waiting == 1)
        carrier.runAll()
        #expect(seen.all == ["0→2", "2→3"])
        token.cancel()
    }

    @Test func aSetFromInsideIsDeliveredOnTheCarrierAfterwards() throws {
        registry.observerExecutor = carrier
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let seen = Recorder<String>()
        let tokens = [
            a.observe { _ in
                b.value = 1
                seen.note("a")
            },
            b.observe { _ in seen.note("b") },
        ]
        try set(a, 1)
        carrier.runAll()
        #expect(seen.all == ["a", "b"])
        for token in tokens { token.cancel() }
    }

    @Test func cancelledWhileItWaitsItIsNotCalled() throws {
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<Int>()
        let token = tweak.observe { seen.note($0.new) }
        try set(tweak, 1)
        token.cancel()
        carrier.runAll()
        #expect(seen.all.isEmpty)
    }

    @Test func removedWhileItWaitsItIsNotCalled() throws {
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<Int>()
        let token = tweak.observe { seen.note($0.new) }
        try set(tweak, 1)
        registry.remove(tweak.path)
        carrier.runAll()
        #expect(seen.all.isEmpty)
        token.cancel()
    }

    @Test func withoutACarrierTheCommitterRunsThem() throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<Int>()
        let token = tweak.observe { seen.note($0.new) }
        try set(tweak, 1)
        registry.observerExecutor = carrier
        registry.observerExecutor = nil
        try set(tweak, 2)
        #expect(seen.all == [1, 2])
        token.cancel()
    }

    @Test func feedsAreWokenByTheCommitterAtOnce() throws {
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let wakes = Recorder<UInt>()
        let follower = registry.follow(.folds) { wakes.note(currentThread()) }
        try set(tweak, 1)
        #expect(wakes.all == [currentThread()] && follower.take().records.count == 1 && carrier.waiting == 0)
    }
}
