// Tests `values` and `changes`: what a loop over them receives, and when it ends.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct ValuesTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Int>

    init() { tweak = Tweak("A", "B", "C", 0, registry: registry) }

    @Test func theCurrentValueComesFirstThenChanges() async {
        var values = tweak.values.makeAsyncIterator()
        tweak.value = 2
        #expect(await values.next() == 2)
        tweak.value = 3
        #expect(await values.next() == 3)
        tweak.reset()
        #expect(await values.next() == 0)
    }

    @Test func aSlowReaderReceivesTheNewestValueButNotItsLastOneAgain() async {
        var values = tweak.values.makeAsyncIterator()
        #expect(await values.next() == 0)
        for value in 1...1_000 { tweak.value = value }
        #expect(await values.next() == 1_000)
        tweak.value = 5
        tweak.value = 1_000
        tweak.value = 6
        #expect(await values.next() == 6)
    }

    /// The reader reads the new value before its signal; the change back, signaled together with it, still is one.
    @Test func aReaderThatReadBeforeItsSignalReceivesTheChangeBack() async throws {
        let executor = HandExecutor()
        registry.observerExecutor = executor
        var values = tweak.values.makeAsyncIterator()
        try tweak.setFromOutside(1)
        #expect(await values.next() == 1)
        try tweak.setFromOutside(0)
        executor.runAll()
        // Ends the sequence, so that a reader that missed the change does not wait forever.
        registry.remove(tweak.path)
        #expect(await values.next() == 0)
    }

    @Test func twoReadersFollowIndependently() async {
        var (one, two) = (tweak.values.makeAsyncIterator(), tweak.values.makeAsyncIterator())
        #expect(await one.next() == 0)
        tweak.value = 1
        #expect(await one.next() == 1)
        #expect(await two.next() == 1)
        tweak.value = 2
        #expect(await two.next() == 2)
        #expect(await one.next() == 2)
    }

    @Test func aReaderReceivesTheLastValueOfAnotherThread() async {
        let writer = TestThread { for value in 1...5_000 { tweak.value = value } }
        var seen: [Int] = []
        for await value in tweak.values {
            seen.append(value)
            if value == 5_000 { break }
        }
        writer.join()
        #expect(seen == seen.sorted() && Set(seen).count == seen.count)
    }

    @Test(arguments: [false, true])
    func finishesWhenTheTweakIsRemovedOrTheTaskIsCanceled(isCanceled: Bool) async {
        let started = Gate()
        let reader = Task {
            for await value in tweak.values where value == 0 { started.open() }
            return Task.isCancelled
        }
        await started.wait()
        if isCanceled { reader.cancel() } else { registry.remove(tweak.path) }
        #expect(await reader.value == isCanceled)
    }

    @Test func finishesWhenTheRegistryIsReleased() async {
        var registry: TweakRegistry? = TweakRegistry()
        weak let reference = registry
        var values = registry.map { Tweak("A", "B", "C", 7, registry: $0).values.makeAsyncIterator() }
        #expect(await values?.next() == 7)
        registry = nil
        #expect(reference == nil)
        #expect(await values?.next() == nil)
    }

    @Test func releasingTheIteratorEndsTheObservation() async {
        for await value in tweak.values where value == 0 { break }
        #expect(registry.observerCount(of: tweak) == 0)
    }
}

struct ChangesTests {
    private let registry = TweakRegistry()
    private let a: Tweak<Int>

    init() { a = Tweak("A", "B", "a", 0, registry: registry) }

    @Test func eachCommitComesOnceInOrderWithAllItsChanges() async throws {
        let b = Tweak("A", "B", "b", "x", registry: registry)
        var changes = registry.changes.makeAsyncIterator()
        try a.set(1)
        try registry.commit(origin: .user(1000)) { batch in
            batch.set(a, 2)
            batch.set(b, "y")
        }
        a.reset()
        let first = try #require(await changes.next())
        #expect(first.revision == 1 && first.origin == .code && first.changes.map(\.path) == [a.path])
        let second = try #require(await changes.next())
        #expect(second.revision == 2 && second.origin == .user(1000))
        #expect(second.changes.map(\.description) == ["A/B/a = 2 (was 1)", #"A/B/b = "y" (was "x")"#])
        let third = try #require(await changes.next())
        #expect(third.revision == 3 && third.changes.map(\.new) == [.int(0)])
    }

    @Test func setsOfTheSameValueAreLeftOut() async throws {
        let b = Tweak("A", "B", "b", 0, registry: registry)
        var changes = registry.changes.makeAsyncIterator()
        try a.set(0)
        a.reset()
        try registry.commit(origin: .code) { batch in
            batch.set(a, 0)
            batch.set(b, 1)
        }
        let commit = try #require(await changes.next())
        #expect(commit.revision == 3 && commit.changes.map(\.path) == [b.path])
    }

    @Test func eachReaderReceivesAllCommitsAfterItsStart() async throws {
        try a.set(1)
        var (one, two) = (registry.changes.makeAsyncIterator(), registry.changes.makeAsyncIterator())
        for value in 2...4 { try a.set(value) }
        for revision in 2...4 as ClosedRange<UInt64> {
            #expect(await one.next()?.revision == revision)
            #expect(await two.next()?.revision == revision)
        }
    }

    @Test func finishesAfterPendingCommitsWhenTheRegistryIsReleased() async throws {
        var registry: TweakRegistry? = TweakRegistry()
        weak let reference = registry
        let sequence = registry?.changes
        var changes = sequence?.makeAsyncIterator()
        if let registry { try Tweak("A", "B", "C", 0, registry: registry).set(1) }
        registry = nil
        #expect(reference == nil)
        #expect(await changes?.next()?.revision == 1)
        #expect(await changes?.next() == nil)
        // An iterator that is made afterwards ends at once.
        changes = sequence?.makeAsyncIterator()
        #expect(await changes?.next() == nil)
    }

    @Test func finishesWhenItsTaskIsCanceledAndEndsItsFollower() async throws {
        let (started, registry) = (Gate(), registry)
        let reader = Task {
            for await _ in registry.changes { started.open() }
            return Task.isCancelled
        }
        while registry.followerCount == 0 { await Task.yield() }
        try a.set(1)
        await started.wait()
        reader.cancel()
        #expect(await reader.value)
        #expect(registry.followerCount == 0)
    }
}
