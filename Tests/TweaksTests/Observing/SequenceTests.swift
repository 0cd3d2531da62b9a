// `values` and `changes`: what a loop over them sees, and when it ends.

import Testing

@testable import Tweaks

struct ValuesTests {
    private let registry = TweakRegistry()

    @Test func theCurrentValueComesFirstThenChanges() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        tweak.value = 2
        var values = tweak.values.makeAsyncIterator()
        #expect(await values.next() == 2)
        tweak.value = 3
        #expect(await values.next() == 3)
        tweak.reset()
        #expect(await values.next() == 1)
    }

    @Test func aSlowReaderGetsTheNewest() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        var values = tweak.values.makeAsyncIterator()
        #expect(await values.next() == 0)
        for value in 1...1_000 { tweak.value = value }
        #expect(await values.next() == 1_000)
        tweak.value = 5
        tweak.value = 1_000  // What it saw last …
        tweak.value = 6
        #expect(await values.next() == 6)  // … is not shown again.
    }

    @Test func aReaderThatStartsLateMissesNothingBetweenItsFirstTwo() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        var values = tweak.values.makeAsyncIterator()
        tweak.value = 1
        #expect(await values.next() == 1)
        tweak.value = 2
        #expect(await values.next() == 2)
    }

    /// There and back, between a signal and the look that it was for: the way back is a change for who has looked.
    @Test func whoHasLookedTooEarlyLooksAgain() async {
        let carrier = HandExecutor()
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        var values = tweak.values.makeAsyncIterator()
        func commit(_ value: Int64) {
            var batch = TweakBatch()
            batch.append(tweak.node, .set(.int(value)))
            _ = try? registry.commit(batch, origin: .user(1), delivery: .carrier)
        }
        commit(1)
        #expect(await values.next() == 1)
        commit(0)
        carrier.runAll()
        // So that a reader who has missed it does not wait for ever.
        registry.remove(tweak.path)
        #expect(await values.next() == 0)
    }

    @Test func twoReadersFollowOnTheirOwn() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        var (one, two) = (tweak.values.makeAsyncIterator(), tweak.values.makeAsyncIterator())
        #expect(await one.next() == 0)
        tweak.value = 1
        #expect(await one.next() == 1)
        #expect(await two.next() == 1)
        tweak.value = 2
        #expect(await two.next() == 2)
        #expect(await one.next() == 2)
    }

    @Test func itSeesTheLastOfWhatAnotherThreadSets() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let writer = TestThread { for value in 1...5_000 { tweak.value = value } }
        var seen: [Int] = []
        for await value in tweak.values {
            seen.append(value)
            if value == 5_000 { break }
        }
        writer.join()
        #expect(seen == seen.sorted() && Set(seen).count == seen.count)
    }

    @Test func itFinishesWhenTheTweakIsRemoved() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let started = Gate()
        let reader = Task {
            for await value in tweak.values where value == 0 { started.open() }
            return true
        }
        await started.wait()
        registry.remove(tweak.path)
        #expect(await reader.value)
    }

    @Test func itFinishesWhenTheRegistryGoes() async {
        var registry: TweakRegistry? = TweakRegistry()
        weak let reference = registry
        var values = registry.map { Tweak("A", "B", "C", 7, registry: $0).values.makeAsyncIterator() }
        #expect(await values?.next() == 7)
        registry = nil
        #expect(reference == nil)
        #expect(await values?.next() == nil)
    }

    @Test func itFinishesWhenItsTaskIsCancelled() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let started = Gate()
        let reader = Task {
            for await _ in tweak.values { started.open() }
            return Task.isCancelled
        }
        await started.wait()
        reader.cancel()
        #expect(await reader.value)
    }

    @Test func lettingGoOfTheIteratorEndsTheObservation() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        for await value in tweak.values where value == 0 { break }
        #expect(registry.observerCount(of: tweak) == 0)
    }
}

struct ChangesTests {
    private let registry = TweakRegistry()

    @Test func eachCommitOnceInOrderWithAllItChanged() async throws {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", "x", registry: registry))
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

    @Test func whatChangesNothingIsNotAmongThem() async throws {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
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

    @Test func aReaderSeesOnlyWhatComesAfterItsStart() async throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        try tweak.set(1)
        var changes = registry.changes.makeAsyncIterator()
        try tweak.set(2)
        #expect(await changes.next()?.revision == 2)
    }

    @Test func twoReadersEachGetAll() async throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        var (one, two) = (registry.changes.makeAsyncIterator(), registry.changes.makeAsyncIterator())
        for value in 1...3 { try tweak.set(value) }
        for revision in 1...3 as ClosedRange<UInt64> {
            #expect(await one.next()?.revision == revision)
            #expect(await two.next()?.revision == revision)
        }
    }

    @Test func itFinishesWhenTheRegistryGoesAfterWhatWaits() async throws {
        var registry: TweakRegistry? = TweakRegistry()
        weak let reference = registry
        var changes = registry?.changes.makeAsyncIterator()
        if let registry { try Tweak("A", "B", "C", 0, registry: registry).set(1) }
        registry = nil
        #expect(reference == nil)
        #expect(await changes?.next()?.revision == 1)
        #expect(await changes?.next() == nil)
    }

    @Test func itFinishesAtOnceForARegistryThatIsGone() async {
        var registry: TweakRegistry? = TweakRegistry()
        let changes = registry?.changes
        registry = nil
        var iterator = changes?.makeAsyncIterator()
        #expect(await iterator?.next() == nil)
    }

    @Test func itFinishesWhenItsTaskIsCancelledAndLeavesNoFeed() async throws {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let (started, registry) = (Gate(), registry)
        let reader = Task {
            for await _ in registry.changes { started.open() }
            return Task.isCancelled
        }
        while registry.followerCount == 0 { await Task.yield() }
        try tweak.set(1)
        await started.wait()
        reader.cancel()
        #expect(await reader.value)
        #expect(registry.followerCount == 0)
    }
}
