// Tests values that are set during a closure and restored afterwards.

import Testing
import TweaksTesting

struct WithTweaksTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private let title: Tweak<String>
    private let retry: TweakGroup<TweakRetryPolicy>

    init() {
        size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, registry: registry)
        title = Tweak("Content", "Text", "Title", "Tweaks", registry: registry)
        retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5), registry: registry)
    }

    /// The values of a tweak above its default.
    private func layers(_ tweak: AnyTweak) -> [String] { tweak.layers.dropFirst().map { "\($0.layer) \($0.value)" } }

    @Test func aValueIsSetDuringTheClosure() async throws {
        let seen = try await withTweak(size, 80) { size.value }
        #expect(seen == 80 && size.value == 60 && !size.isModified && layers(size.erased).isEmpty)
        try await withTweak(size, 80) {
            await Task.yield()
            #expect(size.value == 80)
        }
        #expect(size.value == 60)
    }

    @Test func overridesAndTheirExpiryAreRestored() async throws {
        try size.set(70)
        try await withTweak(size, 80) { size.value = 90 }
        #expect(layers(size.erased) == ["override 70"])
        try size.set(75, for: .seconds(86_400))
        let before = layers(size.erased)
        try await withTweak(size, 80) {
            #expect(layers(size.erased) == ["override 80"])
            size.reset()
        }
        #expect(layers(size.erased) == before && size.value == 75)
        let left = try #require(size.timeLeft)
        #expect(left > .seconds(80_000) && left <= .seconds(86_400))
        try size.keep()
        #expect(size.value == 75)
    }

    @Test func severalValuesAreSetAndRestoredByOneCommitEach() async throws {
        try size.set(70)
        try title.set("other")
        let start = registry.revision
        try await withTweaks(of: registry) { batch in
            batch.reset(matching: "*")
            batch.set(retry, TweakRetryPolicy(attempts: 2))
        } perform: {
            #expect(size.value == 60 && title.value == "Tweaks" && retry.value.attempts == 2)
            #expect(registry.revision == start + 1)
        }
        #expect(size.value == 70 && title.value == "other" && retry.value.attempts == 5)
        #expect(registry.revision == start + 2)
    }

    @Test func groupsAreSetAndRestored() async throws {
        try await withTweak(retry, TweakRetryPolicy(attempts: 2)) { #expect(retry.value.attempts == 2) }
        #expect(retry.value.attempts == 5 && !retry.isModified)
    }

    @Test func onlyTheNamedTweaksAreRestored() async throws {
        try await withTweak(size, 80) { title.value = "other" }
        #expect(title.value == "other")
    }

    @Test func afterAnErrorValuesAreRestored() async {
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await withTweak(size, 80) { throw Stop() } }
        #expect(size.value == 60)
    }

    @Test func withARefusedValueTheClosureDoesNotRun() async throws {
        let error = await #expect(throws: TweakError.self) {
            try await withTweak(size, 500) { Issue.record("it ran") }
        }
        #expect(error?.code == .outOfRange && size.value == 60)
        // Later calls do not wait for the failed one.
        try await withTweak(size, 80) { #expect(size.value == 80) }
    }

    @Test func tweaksRemovedByTheClosureAreNotRestored() async throws {
        try size.set(70)
        try await withTweaks(of: registry) { batch in
            batch.set(size, 80)
            batch.set(title, "other")
        } perform: {
            registry.remove(title.path)
        }
        #expect(size.value == 70)
    }

    @Test func callsNest() async throws {
        try await withTweak(size, 80) {
            try await withTweak(size, 90) {
                try await withTweak(title, "other") { #expect(size.value == 90 && title.value == "other") }
            }
            #expect(size.value == 80 && title.value == "Tweaks")
        }
        #expect(size.value == 60)
    }

    @MainActor @Test func theClosureRunsOnTheActorOfTheCaller() async throws {
        // Not Sendable, so the closure cannot run elsewhere.
        final class Label { var height = 0.0 }
        let label = Label()
        try await withTweak(size, 80) {
            MainActor.assertIsolated()
            label.height = size.value
        }
        #expect(label.height == 80)
    }

    @Test func concurrentTasksWaitForEachOther() async throws {
        try await holdConcurrently(10..<60)
        #expect(size.value == 60 && layers(size.erased).isEmpty)
    }

    @Test func childTasksWaitForEachOtherAndNotForTheirParent() async throws {
        try await withTweak(size, 70) {
            try await holdConcurrently(10..<30)
            #expect(size.value == 70)
        }
        #expect(size.value == 60)
    }

    private func holdConcurrently(_ values: Range<Int>) async throws {
        try await withThrowingTaskGroup { group in
            for value in values { group.addTask { try await hold(Double(value)) } }
            try await group.waitForAll()
        }
    }

    /// Expects a value after each of several suspensions.
    private func hold(_ value: Double) async throws {
        try await withTweak(size, value) {
            for _ in 0..<20 {
                await Task.yield()
                #expect(size.value == value)
            }
        }
    }

    @Test func callsOnDifferentRegistriesDoNotWaitForEachOther() async throws {
        let other = Tweak("Content", "Text", "Size", 60.0, registry: TweakRegistry())
        try await withTweak(size, 80) {
            // A detached task, as another test would be.
            try await Task.detached { try await withTweak(other, 80) {} }.value
        }
    }
}
