// Temporary overrides: above everything else, for a while; kept, replaced, reset, undone, and gone by themselves.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct TemporaryTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let size: Tweak<Double>

    init() throws {
        let clock = clock
        // Nobody rings: these tests say themselves when it is time.
        registry = TweakRegistry(now: { clock.now }, sleep: { _ in throw CancellationError() })
        size = try registry.register("A", "B", "Size", 60.0, in: 0...100)
    }

    private func pass(_ duration: Duration) {
        clock.advance(by: duration)
        registry.expire()
    }

    private func file(says text: String, _ policy: ConfigPolicy = ConfigPolicy()) {
        let entry = ConfigEntry(path: "A/B/Size", text: text, line: 1, origin: .configFile)
        #expect(registry.applyConfigFile([entry], policy).problems.isEmpty)
    }

    private var layers: [TweakLayer] { registry["A/B/Size"]?.layers.map(\.layer) ?? [] }

    @Test func revertsToTheDefault() throws {
        let outcome = try size.set(72, for: .seconds(10))
        #expect(outcome.new == .number(72) && outcome.lifetime == .seconds(10) && outcome.revision == 1)
        #expect(size.value == 72 && size.timeLeft == .seconds(10) && size.isModified)
        pass(.milliseconds(9_999))
        #expect(size.value == 72 && size.timeLeft == .milliseconds(1) && registry.revision == 1)
        pass(.milliseconds(1))
        #expect(size.value == 60 && size.timeLeft == nil && !size.isModified)
        #expect(registry.revision == 2 && layers == [.default])
        #expect(registry.nextExpiry == nil)
    }

    @Test func liesAboveFileAndOverride() throws {
        file(says: "61")
        try size.set(62)
        try size.set(63, for: .seconds(10))
        #expect(layers == [.default, .configFile, .override, .temporaryOverride] && size.value == 63)
        // The file changes beneath, and nobody sees it yet.
        file(says: "50")
        #expect(size.value == 63)
        pass(.seconds(10))
        #expect(size.value == 62)
        size.reset()
        #expect(size.value == 50)
    }

    @Test func aFileThatWinsDropsTheOverrideAndLeavesTheTemporaryOne() throws {
        try size.set(62)
        try size.set(63, for: .seconds(10))
        file(says: "50", ConfigPolicy(fileWins: true))
        #expect(size.value == 63 && layers == [.default, .configFile, .temporaryOverride])
        pass(.seconds(10))
        #expect(size.value == 50)
    }

    @Test func aBatchCountsOnFromWhatItKeeps() throws {
        try size.set(62)
        try size.set(72, for: .seconds(10))
        try registry.commit(origin: .code) { batch in
            batch.keep("A/B/Size")
            batch.append(size.erased.node, .add(.number(1)))
        }
        #expect(size.value == 73 && layers == [.default, .override])
    }

    /// What is done at 4 s to a value that was set for 10 s, and what shows at 10 s and at 14 s.
    @Test(arguments: [
        (Act.again, 80.0, 60.0), (.plain, 80, 80), (.reset, 60, 60), (.keep, 72, 72), (.nothing, 60, 60),
        (.toggleBack, 72, 72),
    ])
    func whatEndsIt(_ act: Act, _ at10: Double, _ at14: Double) throws {
        try size.set(72, for: .seconds(10))
        pass(.seconds(4))
        switch act {
        case .again: try size.set(80, for: .seconds(10))
        case .plain: try size.set(80)
        case .reset: size.reset()
        case .keep: try size.keep()
        case .toggleBack: try size.set(72)
        case .nothing: break
        }
        #expect((registry.nextExpiry == nil) == [.plain, .reset, .keep, .toggleBack].contains(act))
        pass(.seconds(6))
        #expect(size.value == at10)
        pass(.seconds(4))
        #expect(size.value == at14)
    }

    enum Act: Sendable { case again, plain, reset, keep, nothing, toggleBack }

    @Test func theSameAgainIsLonger() throws {
        try size.set(72, for: .seconds(10))
        pass(.seconds(9))
        #expect(try size.set(72, for: .seconds(10)).didStore)
        pass(.seconds(9))
        #expect(size.value == 72 && registry.temporaryCount == 1)
    }

    @Test func expiryIsACommitLikeAnyOther() throws {
        let other = try registry.register("A", "B", "Other", 1)
        let seen = Mutex<[String]>([])
        let observation = size.observe { change in
            seen.withLock { $0.append("\(change.old) \(change.new) \(change.origin)") }
        }
        try size.set(72, for: .seconds(10))
        try other.set(2, for: .seconds(10))
        pass(.seconds(10))
        #expect(seen.withLock(\.self) == ["60.0 72.0 code", "72.0 60.0 expired"])
        // Those that end together are one commit.
        #expect(registry.revision == 3)
        let last = try #require(registry.history.first)
        #expect(last.kind == .expiry && last.origin == .expired && last.changes.count == 2)
        withExtendedLifetime(observation) {}
    }

    @Test func anExpiryThatChangesNothingIsSilent() throws {
        try size.set(72)
        try size.set(72, for: .seconds(10))
        let seen = Atomic(0)
        let observation = size.observe { _ in seen.add(1, ordering: .relaxed) }
        pass(.seconds(10))
        #expect(seen.load(ordering: .relaxed) == 0 && registry.revision == 3 && layers == [.default, .override])
        withExtendedLifetime(observation) {}
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(365 * 86_400 + 1)])
    func lifetimesThatAreNone(_ lifetime: Duration) {
        let error = #expect(throws: TweakError.self) { try size.set(72, for: lifetime) }
        #expect(error?.code == .outOfRange && size.value == 60 && registry.revision == 0)
    }

    @Test func nothingToKeep() throws {
        try size.set(72)
        let error = #expect(throws: TweakError.self) { try size.keep() }
        #expect(error?.code == .conflict && registry.revision == 1)
    }

    @Test func valuesAreJudgedAsAlways() {
        #expect(throws: TweakError.self) { try registry["A/B/Size"]?.set(.number(500), for: .seconds(10)) }
        #expect(registry.nextExpiry == nil)
    }

    // MARK: Batches

    @Test func inABatchTheLastWordCounts() throws {
        try registry.commit(origin: .code) { batch in
            batch.set("A/B/Size", .number(72), for: .seconds(10))
            batch.keep("A/B/Size")
        }
        #expect(layers == [.default, .override] && size.value == 72)
        try registry.commit(origin: .code) { batch in
            batch.set("A/B/Size", .number(80))
            batch.set("A/B/Size", .number(81), for: .seconds(10))
        }
        #expect(layers == [.default, .override, .temporaryOverride] && size.value == 81)
        pass(.seconds(10))
        #expect(size.value == 72)
    }

    // MARK: Undo

    @Test func undoBringsBackWhatWasSet() throws {
        try size.set(62)
        // What follows at once is the same step.
        pass(.seconds(1))
        try size.set(72, for: .seconds(10))
        pass(.seconds(2))
        try size.set(80)
        #expect(layers == [.default, .override])
        try registry.undo()
        #expect(size.value == 72 && size.timeLeft == .seconds(8))
        try registry.undo()
        #expect(size.value == 62 && registry.nextExpiry == nil)
        try registry.redo()
        #expect(size.value == 72 && size.timeLeft == .seconds(8))
    }

    @Test func undoOfAChangeAfterTheEndDoesNotBringItBack() throws {
        try size.set(72, for: .seconds(10))
        pass(.seconds(2))
        try size.set(80)
        pass(.seconds(20))
        try registry.undo()
        #expect(size.value == 60 && registry.nextExpiry == nil)
    }

    @Test func whatHasEndedByItselfIsNotUndone() throws {
        try size.set(62)
        pass(.seconds(1))
        try size.set(72, for: .seconds(10))
        pass(.seconds(10))
        #expect(try registry.undo().entry.revision == 1)
        #expect(size.value == 60)
    }

    @Test func keepCanBeUndone() throws {
        try size.set(72, for: .seconds(10))
        pass(.seconds(3))
        try size.keep()
        pass(.seconds(1))
        try registry.undo()
        #expect(size.value == 72 && size.timeLeft == .seconds(6))
        pass(.seconds(6))
        #expect(size.value == 60)
    }

    /// Somebody's undo must not take what another one has on top.
    @Test func aTemporaryOneOfSomebodyElseIsAConflict() throws {
        let other = try registry.register("A", "B", "Other", 0)
        try registry.commit(origin: .code) { batch in
            batch.set("A/B/Size", .number(62))
            batch.set("A/B/Other", .int(1))
        }
        try registry.undo()
        pass(.seconds(1))
        // Redo would need what was there before: nothing.
        _ = try registry.commit(
            size.node, .set(.number(72)), for: .seconds(10), origin: TweakOrigin("uid 7"), kind: .reload,
            delivery: .caller)
        let error = #expect(throws: TweakError.self) { try registry.redo() }
        #expect(error?.code == .conflict && error?.message.contains("uid 7") == true)
        pass(.seconds(10))
        try registry.redo()
        #expect(size.value == 62 && other.value == 1)
    }

    // MARK: Removing, freezing

    @Test func removingATweakEndsIt() throws {
        try size.set(72, for: .seconds(10))
        registry.remove(size.path)
        #expect(registry.nextExpiry == nil)
        pass(.seconds(20))
        #expect(registry.revision == 1)
    }

    @Test func freezingEndsIt() throws {
        try size.set(72, for: .seconds(10))
        registry.freeze()
        #expect(size.value == 60 && registry.nextExpiry == nil)
    }

    /// The value is the same; for how long is what was changed.
    @Test func undoGivesBackTheTime() throws {
        try size.set(72, for: .seconds(600))
        pass(.seconds(1))
        try size.set(72, for: .seconds(3_600))
        try registry.undo()
        #expect(size.value == 72 && size.timeLeft == .seconds(599))
        try registry.redo()
        #expect(size.timeLeft == .seconds(3_600))
        pass(.seconds(600))
        #expect(size.value == 72)
    }
}
