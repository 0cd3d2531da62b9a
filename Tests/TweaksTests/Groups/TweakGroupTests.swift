// Tests groups on one thread: reading, setting, and what observers receive.

import Observation
import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct TweakGroupTests {
    private let registry = TweakRegistry()
    private let retry: TweakGroup<TweakRetryPolicy>
    private static let standard = TweakRetryPolicy(attempts: 5)

    init() { retry = Self.group(in: registry) }

    private static func group(attempts: Int = 5, in registry: TweakRegistry) -> TweakGroup<TweakRetryPolicy> {
        TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: attempts), registry: registry)
    }

    private func set(_ part: String, _ value: TweakValue) throws {
        try registry.commit(origin: .user(1000)) { $0.set("Upstream/Payments/\(part)", value) }
    }

    // MARK: Values

    @Test func startsWithTheDefaultAndFollowsItsParts() throws {
        #expect(retry.value == Self.standard && retry.value == retry.defaultValue && !retry.isModified)
        try set("Base delay", .duration(.seconds(1)))
        #expect(retry.value == TweakRetryPolicy(attempts: 5, baseDelay: .seconds(1)) && retry.isModified)
        try registry["Upstream/Payments/Base delay"]?.reset()
        #expect(retry.value == Self.standard)
    }

    @Test func setsAllPartsInOneCommit() throws {
        let wanted = TweakRetryPolicy(attempts: 7, baseDelay: .seconds(1), factor: 3, maxDelay: .seconds(9), jitter: 0)
        let result = try retry.set(wanted)
        #expect(result.revision == 1 && registry.revision == 1 && result.outcomes.count == 5 && retry.value == wanted)
        #expect(retry.reset()?.revision == 2 && retry.value == Self.standard && registry.revision == 2)
    }

    @Test func refusesAllPartsIfOneIsInvalid() {
        let error = refusal { try retry.set(TweakRetryPolicy(attempts: 2, jitter: 3)) }
        #expect(error?.code == .outOfRange && error?.path?.name == "Jitter")
        #expect(retry.value == Self.standard && registry.revision == 0)
    }

    @Test func theSetterClampsAndIgnoresValuesThatCannotBeClamped() {
        retry.value = TweakRetryPolicy(attempts: 2, jitter: 3)
        #expect(retry.value == TweakRetryPolicy(attempts: 2, jitter: 1))
        retry.value = TweakRetryPolicy(attempts: 9, jitter: .nan)
        #expect(retry.value.attempts == 2)
    }

    // MARK: Declaring again and removing

    @Test func declaringAgainYieldsTheSamePartsAndAnotherDefaultIsAConflict() throws {
        let same = Self.group(in: registry)
        #expect(registry.count == 5 && registry.conflicts.isEmpty)
        let other = Self.group(attempts: 6, in: registry)
        #expect(registry.conflicts.map(\.path.name) == ["Attempts"] && other.value.attempts == 5)
        try retry.set(TweakRetryPolicy(attempts: 9))
        #expect(same.value == retry.value && other.value == retry.value)
    }

    @Test func aRemovedPartReadsItsDefaultAndEndsObserversAndSequences() async throws {
        try retry.set(TweakRetryPolicy(attempts: 9, factor: 3))
        #expect(retry.value.attempts == 9)
        let seen = Recorder<Int>()
        let token = retry.observe { seen.note($0.new.attempts) }
        var values = retry.values.makeAsyncIterator()
        #expect(await values.next() == retry.value)
        #expect(registry.remove(retry.path) && retry.value == TweakRetryPolicy(attempts: 5, factor: 3))
        try set("Factor", .number(4))
        #expect(retry.value.factor == 4)
        #expect(await values.next() == nil)
        #expect(seen.all.isEmpty && refusal { try retry.set(TweakRetryPolicy()) }?.code == .unknownTweak)
        token.cancel()
    }

    @Test func aReleasedGroupLeavesNoObserversBehind() throws {
        let factor = try #require(registry["Upstream/Payments/Factor"])
        let count = { registry.state.withLock { $0.observers[factor.node.slot].all.count { !$0.isEnded } } }
        let before = count()
        do {
            let other = Self.group(in: registry)
            let token = other.observe { _ in }
            #expect(other.observed == other.value && count() == before + 3)
            token.cancel()
        }
        #expect(count() == before)
    }

    @Test func anObservationDoesNotRetainTheRegistry() {
        weak var released: TweakRegistry?
        let token: TweakObservation
        do {
            let registry = TweakRegistry()
            released = registry
            token = TweakGroup("A", "B", TweakRateLimit(), registry: registry).observe { _ in }
        }
        #expect(released == nil)
        token.cancel()
    }

    // MARK: Observers

    @Test func anObserverRunsOnceForEachCommitThatChangesTheValue() throws {
        let seen = Recorder<TweakChange<TweakRetryPolicy>>()
        let token = retry.observe { seen.note($0) }
        try registry.commit(origin: .user(7)) { batch in
            batch.set("Upstream/Payments/Attempts", .int(2))
            batch.set("Upstream/Payments/Factor", .number(3))
        }
        let change = try #require(seen.all.first)
        #expect(change.old == Self.standard && change.new == TweakRetryPolicy(attempts: 2, factor: 3))
        #expect(change.origin == .user(7) && change.revision == 1)
        try set("Attempts", .int(2))
        token.cancel()
        try set("Attempts", .int(3))
        #expect(seen.all.count == 1)
    }

    @Test func swappingTheValuesOfTwoPartsIsAChange() throws {
        let timeouts = TweakGroup("A", "B", TweakTimeouts(connect: .seconds(1), read: .seconds(2)), registry: registry)
        let seen = Recorder<TweakTimeouts>()
        let token = timeouts.observe { seen.note($0.new) }
        let swapped = TweakTimeouts(connect: .seconds(2), read: .seconds(1))
        try timeouts.set(swapped)
        #expect(seen.all == [swapped])
        token.cancel()
    }

    @Test func aChangeRevertedBeforeItsDeliveryIsNotDelivered() throws {
        let (executor, seen) = (HandExecutor(), Recorder<Int>())
        registry.observerExecutor = executor
        let token = retry.observe { seen.note($0.new.attempts) }
        for value in [8, 9, 5] {
            var batch = TweakBatch()
            batch.set("Upstream/Payments/Attempts", .int(Int64(value)))
            batch.set("Upstream/Payments/Factor", .number(2))
            try registry.commit(batch, origin: .user(1), delivery: .executor)
        }
        executor.runAll()
        #expect(seen.all.isEmpty)
        token.cancel()
    }

    @Test func anObserverMaySetItsGroup() throws {
        let seen = Recorder<Int>()
        let token = retry.observe { [retry] change in
            seen.note(change.new.attempts)
            if change.new.attempts < 9 { retry.value.attempts += 1 }
        }
        try set("Attempts", .int(7))
        #expect(seen.all == [7, 8, 9])
        token.cancel()
    }

    @Test func theSequenceOfValuesStartsWithTheCurrentOneAndSkipsToTheNewest() async throws {
        var values = retry.values.makeAsyncIterator()
        #expect(await values.next() == Self.standard)
        for attempts in [6, 7] { try retry.set(TweakRetryPolicy(attempts: attempts)) }
        #expect(await values.next() == TweakRetryPolicy(attempts: 7))
        registry.removeAll()
        // The end may be signaled after the last change.
        #expect(await values.next()?.attempts ?? 5 == 5)
    }

    @Test func observationTracksTheWholeValue() throws {
        let seen = Recorder<Int>()
        withObservationTracking {
            _ = retry.observed
        } onChange: {
            seen.note(retry.value.attempts)
        }
        try retry.set(TweakRetryPolicy(attempts: 6, factor: 3))
        #expect(seen.all == [6])
    }
}
