// Groups on one thread: reading, setting, and what observers see.

import Observation
import Synchronization
import Testing

@testable import Tweaks

struct TweakGroupTests {
    private let registry = TweakRegistry()
    private let retry: TweakGroup<TweakRetryPolicy>

    init() { retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5), registry: registry) }

    private func set(_ part: String, _ value: TweakValue) throws {
        try registry.commit(origin: .user(1000)) { $0.set("Upstream/Payments/\(part)", value) }
    }

    // MARK: Values

    @Test func startsWithTheDefaultAndFollowsItsParts() throws {
        #expect(retry.value == TweakRetryPolicy(attempts: 5) && retry.value == retry.defaultValue)
        #expect(!retry.isModified)
        try set("Base delay", .duration(.seconds(1)))
        #expect(retry.value == TweakRetryPolicy(attempts: 5, baseDelay: .seconds(1)))
        #expect(retry.isModified)
        try registry["Upstream/Payments/Base delay"]?.reset()
        #expect(retry.value == TweakRetryPolicy(attempts: 5))
    }

    @Test func setsAllPartsInOneCommit() throws {
        let wanted = TweakRetryPolicy(attempts: 7, baseDelay: .seconds(1), factor: 3, maxDelay: .seconds(9), jitter: 0)
        let result = try retry.set(wanted)
        #expect(result.revision == 1 && registry.revision == 1 && result.outcomes.count == 5)
        #expect(retry.value == wanted)
        #expect(retry.reset()?.revision == 2)
        #expect(retry.value == TweakRetryPolicy(attempts: 5) && registry.revision == 2)
    }

    @Test func refusesAllOrNothing() {
        let error = refusal { try retry.set(TweakRetryPolicy(attempts: 2, jitter: 3)) }
        #expect(error?.code == .outOfRange && error?.path?.name == "Jitter")
        #expect(retry.value == TweakRetryPolicy(attempts: 5) && registry.revision == 0)
    }

    @Test func theSetterClampsAndChangesNothingWhereThatDoesNotHelp() {
        retry.value = TweakRetryPolicy(attempts: 2, jitter: 3)
        #expect(retry.value == TweakRetryPolicy(attempts: 2, jitter: 1))
        retry.value = TweakRetryPolicy(attempts: 9, jitter: .nan)
        #expect(retry.value.attempts == 2)
    }

    @Test func isOneOfTheHandlesOfADaemon() {
        let all: [any TweakHandle] = [retry, Tweak("A", "B", "C", 1, registry: registry)]
        #expect(all.map { $0.tweaks[0].path.joined } == ["Upstream/Payments/Attempts", "A/B/C"])
    }

    // MARK: Declaring twice, and removing

    @Test func theSameTwiceAreOneAndOthersAreConflicts() throws {
        let same = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5), registry: registry)
        #expect(registry.count == 5 && registry.conflicts.isEmpty)
        let other = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 6), registry: registry)
        #expect(registry.conflicts.map(\.path.name) == ["Attempts"])
        try retry.set(TweakRetryPolicy(attempts: 9))
        #expect(same.value == retry.value && other.value == retry.value)
    }

    @Test func theFirstDeclarationsDefaultHolds() {
        let other = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 6), registry: registry)
        #expect(other.value.attempts == 5)
    }

    @Test func aRemovedPartReadsItsDefaultAndEndsWhatFollows() async throws {
        try retry.set(TweakRetryPolicy(attempts: 9, factor: 3))
        #expect(retry.value.attempts == 9)
        let seen = Recorder<Int>()
        let token = retry.observe { seen.note($0.new.attempts) }
        var values = retry.values.makeAsyncIterator()
        #expect(await values.next() == retry.value)
        #expect(registry.remove(retry.path))
        #expect(retry.value == TweakRetryPolicy(attempts: 5, factor: 3))
        try set("Factor", .number(4))
        #expect(retry.value.factor == 4)
        #expect(await values.next() == nil)
        #expect(seen.all.isEmpty)
        let error = refusal { try retry.set(TweakRetryPolicy()) }
        #expect(error?.code == .unknownTweak)
        token.cancel()
    }

    @Test func leavesNothingBehind() throws {
        let factor = try #require(registry["Upstream/Payments/Factor"])
        let count = { registry.state.withLock { $0.observers[factor.node.slot].all.count { !$0.isEnded } } }
        let before = count()
        do {
            let other = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5), registry: registry)
            let token = other.observe { _ in }
            #expect(other.observed == other.value)
            #expect(count() == before + 3)
            token.cancel()
        }
        #expect(count() == before)
    }

    @Test func anObservationDoesNotKeepTheRegistry() {
        weak var kept: TweakRegistry?
        let token: TweakObservation
        do {
            let registry = TweakRegistry()
            kept = registry
            token = TweakGroup("A", "B", TweakRateLimit(), registry: registry).observe { _ in }
        }
        #expect(kept == nil)
        token.cancel()
    }

    // MARK: Observers

    @Test func observersRunOncePerCommit() throws {
        let seen = Recorder<TweakChange<TweakRetryPolicy>>()
        let token = retry.observe { seen.note($0) }
        try registry.commit(origin: .user(7)) { batch in
            batch.set("Upstream/Payments/Attempts", .int(2))
            batch.set("Upstream/Payments/Factor", .number(3))
        }
        let change = try #require(seen.all.first)
        #expect(seen.all.count == 1)
        #expect(change.old == TweakRetryPolicy(attempts: 5) && change.new == TweakRetryPolicy(attempts: 2, factor: 3))
        #expect(change.origin == .user(7) && change.revision == 1)
        try set("Attempts", .int(2))
        #expect(seen.all.count == 1)
        token.cancel()
        try set("Attempts", .int(3))
        #expect(seen.all.count == 1)
    }

    @Test("A part that goes to where another one came from is a change")
    func partsDoNotCancelOut() throws {
        let timeouts = TweakGroup("A", "B", TweakTimeouts(connect: .seconds(1), read: .seconds(2)), registry: registry)
        let seen = Recorder<TweakTimeouts>()
        let token = timeouts.observe { seen.note($0.new) }
        let swapped = TweakTimeouts(connect: .seconds(2), read: .seconds(1))
        try timeouts.set(swapped)
        #expect(seen.all == [swapped])
        token.cancel()
    }

    @Test func thereAndBackBeforeDeliveryIsNoChange() throws {
        let (carrier, seen) = (HandExecutor(), Recorder<Int>())
        registry.observerExecutor = carrier
        let token = retry.observe { seen.note($0.new.attempts) }
        for value in [8, 9, 5] {
            var batch = TweakBatch()
            batch.set("Upstream/Payments/Attempts", .int(Int64(value)))
            batch.set("Upstream/Payments/Factor", .number(2))
            try registry.commit(batch, origin: .user(1), delivery: .carrier)
        }
        carrier.runAll()
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

    @Test func valuesGiveTheCurrentOneFirst() async throws {
        var values = retry.values.makeAsyncIterator()
        #expect(await values.next() == TweakRetryPolicy(attempts: 5))
        try retry.set(TweakRetryPolicy(attempts: 6))
        try retry.set(TweakRetryPolicy(attempts: 7))
        #expect(await values.next() == TweakRetryPolicy(attempts: 7))
        registry.removeAll()
        // The signal to end may be overtaken by the one to look again.
        #expect(await values.next()?.attempts ?? 5 == 5)
    }

    @Test func observationTracksTheWhole() throws {
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
