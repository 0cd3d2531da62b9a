// Tests changes of several tweaks at once, by patterns and by handles of all kinds: resets, batches, snapshots.

import Testing

@testable import Tweaks

struct SeveralTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private let color: Tweak<TweakColor>
    private let level: Tweak<Int>
    private let fps: Tweak<Double>
    private let retry: TweakGroup<TweakRetryPolicy>

    init() throws {
        size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, registry: registry)
        color = Tweak("Content", "Text", "Color", TweakColor.black, registry: registry)
        level = Tweak("Log", "Output", "Level", 1, registry: registry)
        fps = Tweak("Content", "Status", "FPS", 0.0, flags: .readOnly, registry: registry)
        tweakAction("Content", "Text", "Blink", registry: registry) { _ in "" }
        retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5), registry: registry)
        fps.value = 59
        try registry.commit { batch in
            batch.set(size, 72)
            batch.set(color, .white)
            batch.set(level, 2)
            batch.set(retry, TweakRetryPolicy(attempts: 9))
        }
    }

    /// The names of the modified tweaks.
    private var modified: [String] { registry.tweaks(matching: "*").filter(\.isModified).map(\.path.name) }

    // MARK: Resetting

    /// The spelling without a label stays.
    @Test(arguments: [
        ("Content/Text/Size", ["Color", "Level", "Attempts"]), ("Content/Text", ["Level", "Attempts"]),
        ("Content", ["Level", "Attempts"]), ("*/*/*i?e", ["Color", "Level", "Attempts"]), ("*", []), ("**", []),
    ])
    func aPatternIsResetInOneCommit(_ pattern: String, left: [String]) throws {
        let result = try registry.reset(matching: pattern)
        #expect(modified == left && fps.value == 59)
        #expect(result.revision == 2 && registry.revision == 2 && result.didStore)
        #expect(try !registry.reset(pattern).didStore && registry.revision == 2)
    }

    @Test(arguments: [
        ("Content/Text/Blink", TweakError.Code.badValue), ("Content/Status/FPS", .readOnly),
        ("Content/Text/Sise", .unknownTweak), ("Nothing/*", .unknownTweak), ("a//b", .unknownTweak),
    ])
    func aPatternThatMatchesNothingToResetIsRefused(_ pattern: String, _ code: TweakError.Code) {
        #expect(refusal { try registry.reset(pattern) }?.code == code)
        #expect(registry.revision == 1 && modified.count == 4)
    }

    @Test func categoriesCollectionsAndListsAreResetInOneCommit() throws {
        let content = try #require(registry.categories.first { $0.name == "Content" })
        try #require(content.collections.first { $0.name == "Text" }).reset()
        #expect(modified == ["Level", "Attempts"] && registry.revision == 2)
        try size.set(80)
        try content.reset()
        #expect(modified == ["Level", "Attempts"] && registry.revision == 4)
        try registry.reset([[level, fps] as [any TweakHandle], retry] as [any TweakHandle])
        #expect(modified.isEmpty && registry.revision == 5)
    }

    @Test func aTweakOfAnotherRegistryIsRefused() {
        let foreign = Tweak("Content", "Text", "Size", 60.0, registry: TweakRegistry())
        #expect(refusal { try registry.reset([size, foreign] as [any TweakHandle]) }?.code == .unknownTweak)
        #expect(registry.revision == 1)
    }

    // MARK: Batches

    @Test func aBatchAcceptsHandlesOfAllKinds() throws {
        #expect(registry.revision == 1 && retry.value.attempts == 9)
        #expect(modified == ["Size", "Color", "Level", "Attempts"])
        try registry.commit { batch in
            batch.reset(matching: "*")
            batch.set(size.erased, .number(20))
            batch.set(retry, TweakRetryPolicy(attempts: 3), for: .seconds(3_600))
            batch.set("Log/Output/Level", .int(7), for: .seconds(3_600))
            batch.reset(color)
        }
        #expect(registry.revision == 2 && size.value == 20 && level.value == 7 && retry.value.attempts == 3)
        #expect(retry.parts.allSatisfy { $0.timeLeft != nil } && level.timeLeft != nil && size.timeLeft == nil)
        try registry.commit { batch in
            batch.keep(matching: "Upstream")
            batch.reset(size.erased)
            batch.reset(level)
        }
        #expect(registry.revision == 3 && retry.value.attempts == 3 && modified == ["Attempts"])
        #expect(retry.parts.allSatisfy { $0.timeLeft == nil })
        try registry.commit { $0.reset(retry) }
        #expect(modified.isEmpty)
    }

    @Test func keepingATweakByNameIsAConflictUnlessItIsTemporary() throws {
        #expect(refusal { try registry.commit { $0.keep("Content/Text/Size") } }?.code == .conflict)
        #expect(try !registry.commit { $0.keep(matching: "Content") }.didStore)
        try size.set(90, for: .seconds(3_600))
        try registry.commit { $0.keep(matching: "Content") }
        #expect(size.value == 90 && size.timeLeft == nil)
    }

    @Test func aPatternInABatchAppliesInItsPlace() throws {
        try registry.commit { batch in
            batch.set(size, 20)
            batch.reset(matching: "Content")
            batch.set(color, .white)
        }
        #expect(size.value == 60 && color.value == .white)
    }

    /// `catch` needs no cast if the closure throws nothing.
    @Test func theErrorOfACommitIsATweakError() {
        do {
            try registry.commit { $0.set(size, 500) }
        } catch {
            #expect(error.code == .outOfRange)
        }
    }

    // MARK: Reading

    @Test func snapshotsReadHandlesOfAllKinds() throws {
        let snapshot = registry.snapshot()
        try registry.reset(matching: "*")
        let later = TweakGroup("Upstream", "Later", TweakRetryPolicy(attempts: 4), registry: registry)
        try later.set(TweakRetryPolicy(attempts: 8))
        #expect(snapshot[retry].attempts == 9 && snapshot[later].attempts == 4)
        #expect(snapshot[size.erased] == .number(72) && snapshot[color] == .white)
        #expect(snapshot[try #require(registry["Content/Text/Blink"])] == nil)
        let values = snapshot.values(matching: "Content")
        #expect(values.map(\.path.name) == ["FPS", "Size", "Color"])
        #expect(values.map(\.value) == [.number(59), .number(72), .color(.white)])
        #expect(snapshot.values(matching: "Log/Output/Level").map(\.value) == [.int(2)])
        #expect(snapshot.values(matching: "Nothing").isEmpty && snapshot.values(matching: "a//b").isEmpty)
    }

    @Test func patternsAndHandlesListTheirTweaks() {
        #expect(registry.tweaks(matching: "Content/Text").map(\.path.name) == ["Size", "Color", "Blink"])
        #expect(registry.tweaks(matching: "Content/Text/Size").count == 1)
        #expect(registry.tweaks(matching: "*").count == registry.count)
        #expect(registry.tweaks(matching: "Nothing").isEmpty)
        let handles: [any TweakHandle] = [size, retry, size.erased, [level, fps] as [any TweakHandle]]
        #expect(handles.tweaks.count == 9 && handles.tweaks.last?.path == fps.path)
        #expect(handles.prefix(2).map { $0.tweaks[0].path } == [size.path, retry.path])
    }
}
