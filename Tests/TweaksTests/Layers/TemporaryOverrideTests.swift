// Tests temporary overrides: above all other layers, kept, replaced, reset, undone, and removed when they expire.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct TemporaryOverrideTests {
    private let clock = ManualClock()
    private let registry: TweakRegistry
    private let size: Tweak<Double>

    init() throws {
        let clock = clock
        // No alarm: the tests call expire() themselves.
        registry = TweakRegistry(now: { clock.now }, sleep: { _ in throw CancellationError() })
        size = try registry.register("A", "B", "Size", 60.0, in: 0...100)
    }

    private func advance(by duration: Duration) {
        clock.advance(by: duration)
        registry.expire()
    }

    private func applyFile(_ text: String, _ policy: LayerPolicy = LayerPolicy()) {
        #expect(registry.replace(.configFile, with: ["A/B/Size": text], policy).problems.isEmpty)
    }

    private var layers: [TweakLayer] { registry["A/B/Size"]?.layers.map(\.layer) ?? [] }

    // MARK: Layers

    @Test func aTemporaryOverrideEndsAfterItsTime() throws {
        let outcome = try size.set(72, for: .seconds(10))
        #expect(outcome.new == .number(72) && outcome.lifetime == .seconds(10) && outcome.revision == 1)
        #expect(size.value == 72 && size.timeLeft == .seconds(10) && size.isModified)
        advance(by: .milliseconds(9_999))
        #expect(size.value == 72 && size.timeLeft == .milliseconds(1) && registry.revision == 1)
        advance(by: .milliseconds(1))
        #expect(size.value == 60 && size.timeLeft == nil && !size.isModified)
        #expect(registry.revision == 2 && layers == [.default] && registry.nextExpiry == nil)
    }

    @Test func itIsAboveFileAndOverride() throws {
        applyFile("61")
        try size.set(62)
        try size.set(63, for: .seconds(10))
        #expect(layers == [.default, .configFile, .override, .temporaryOverride] && size.value == 63)
        applyFile("50")
        #expect(size.value == 63)
        advance(by: .seconds(10))
        #expect(size.value == 62)
        size.reset()
        #expect(size.value == 50)
    }

    @Test func aFileThatWinsDropsTheOverrideBelowAndNotTheTemporaryOne() throws {
        try size.set(62)
        try size.set(63, for: .seconds(10))
        applyFile("50", LayerPolicy(dropsOverrides: true))
        #expect(size.value == 63 && layers == [.default, .configFile, .temporaryOverride])
        advance(by: .seconds(10))
        #expect(size.value == 50)
    }

    // MARK: End

    enum Action: Sendable { case setAgain, set, setSameValue, reset, keep, none }

    /// The action happens at 4 s, on a value that was set for 10 s.
    @Test(arguments: [
        (Action.setAgain, 80.0, 60.0), (.set, 80, 80), (.setSameValue, 72, 72), (.reset, 60, 60), (.keep, 72, 72),
        (.none, 60, 60),
    ])
    func anotherSetAResetOrKeepEndsIt(_ action: Action, _ valueAt10: Double, _ valueAt14: Double) throws {
        try size.set(72, for: .seconds(10))
        advance(by: .seconds(4))
        switch action {
        case .setAgain: try size.set(80, for: .seconds(10))
        case .set: try size.set(80)
        case .setSameValue: try size.set(72)
        case .reset: size.reset()
        case .keep: try size.keep()
        case .none: break
        }
        #expect((registry.nextExpiry == nil) == ![.setAgain, .none].contains(action))
        advance(by: .seconds(6))
        #expect(size.value == valueAt10)
        advance(by: .seconds(4))
        #expect(size.value == valueAt14)
    }

    @Test func thoseThatEndTogetherAreOneCommitInTheHistory() throws {
        let other = try registry.register("A", "B", "Other", 1)
        let changes = ChangeRecorder(size) { "\($0.old) \($0.new) \($0.origin)" }
        try size.set(72, for: .seconds(10))
        try other.set(2, for: .seconds(10))
        advance(by: .seconds(10))
        #expect(changes.all == ["60.0 72.0 code", "72.0 60.0 expired"] && registry.revision == 3)
        let last = try #require(registry.history.first)
        #expect(last.kind == .expiry && last.origin == .expired && last.changes.count == 2)
    }

    @Test func anExpiryThatLeavesTheValueNotifiesNoObserver() throws {
        try size.set(72)
        try size.set(72, for: .seconds(10))
        let changes = ChangeRecorder(size) { $0.new }
        advance(by: .seconds(10))
        #expect(changes.all.isEmpty && registry.revision == 3 && layers == [.default, .override])
    }

    @Test func removingOrFreezingEndsIt() throws {
        let other = try registry.register("A", "B", "Other", 1)
        try other.set(2, for: .seconds(10))
        registry.remove(other.path)
        #expect(registry.nextExpiry == nil)
        advance(by: .seconds(20))
        #expect(registry.revision == 1)
        try size.set(72, for: .seconds(10))
        registry.freeze()
        #expect(size.value == 60 && registry.nextExpiry == nil)
    }

    // MARK: Refusals

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(365 * 86_400 + 1)])
    func invalidLifetimesAreRefused(_ lifetime: Duration) {
        let error = #expect(throws: TweakError.self) { try size.set(72, for: lifetime) }
        #expect(error?.code == .outOfRange && size.value == 60 && registry.revision == 0)
    }

    @Test func invalidValuesAndKeepingWithoutATemporaryOverrideAreRefused() throws {
        #expect(throws: TweakError.self) { try registry["A/B/Size"]?.set(.number(500), for: .seconds(10)) }
        #expect(registry.nextExpiry == nil)
        try size.set(72)
        let error = #expect(throws: TweakError.self) { try size.keep() }
        #expect(error?.code == .conflict && registry.revision == 1)
    }

    // MARK: Batches

    @Test func theLastChangeOfABatchDecidesAndRelativeOnesStartFromAKeptValue() throws {
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
        advance(by: .seconds(10))
        #expect(size.value == 72)
        try size.set(75, for: .seconds(10))
        try registry.commit(origin: .code) { batch in
            batch.keep("A/B/Size")
            batch.append(size.erased.node, .add(.number(1)))
        }
        #expect(size.value == 76 && layers == [.default, .override])
    }

    // MARK: Undo

    @Test func undoAndRedoRestoreItWithTheTimeLeft() throws {
        try size.set(62)
        // An immediate change would be part of the same step.
        advance(by: .seconds(1))
        try size.set(72, for: .seconds(10))
        advance(by: .seconds(2))
        try size.set(80)
        #expect(layers == [.default, .override])
        try registry.undo()
        #expect(size.value == 72 && size.timeLeft == .seconds(8))
        try registry.undo()
        #expect(size.value == 62 && registry.nextExpiry == nil)
        try registry.redo()
        #expect(size.value == 72 && size.timeLeft == .seconds(8))
    }

    @Test func theSameValueAgainExtendsItAndUndoRestoresTheTime() throws {
        try size.set(72, for: .seconds(600))
        advance(by: .seconds(1))
        #expect(try size.set(72, for: .seconds(3_600)).didStore && registry.temporaryCount == 1)
        try registry.undo()
        #expect(size.value == 72 && size.timeLeft == .seconds(599))
        try registry.redo()
        #expect(size.timeLeft == .seconds(3_600))
        advance(by: .seconds(600))
        #expect(size.value == 72)
    }

    @Test func undoDoesNotRestoreAnExpiredOne() throws {
        try size.set(72, for: .seconds(10))
        advance(by: .seconds(2))
        try size.set(80)
        advance(by: .seconds(20))
        try registry.undo()
        #expect(size.value == 60 && registry.nextExpiry == nil)
    }

    @Test func undoSkipsAnExpiry() throws {
        try size.set(62)
        advance(by: .seconds(1))
        try size.set(72, for: .seconds(10))
        advance(by: .seconds(10))
        #expect(try registry.undo().entry.revision == 1 && size.value == 60)
    }

    @Test func keepCanBeUndone() throws {
        try size.set(72, for: .seconds(10))
        advance(by: .seconds(3))
        try size.keep()
        advance(by: .seconds(1))
        try registry.undo()
        #expect(size.value == 72 && size.timeLeft == .seconds(6))
        advance(by: .seconds(6))
        #expect(size.value == 60)
    }

    @Test func redoIsAConflictWhileAnotherUsersTemporaryOverrideIsAbove() throws {
        let other = try registry.register("A", "B", "Other", 0)
        try registry.commit(origin: .code) { batch in
            batch.set("A/B/Size", .number(62))
            batch.set("A/B/Other", .int(1))
        }
        try registry.undo()
        advance(by: .seconds(1))
        _ = try registry.commit(
            size.node, .set(.number(72)), for: .seconds(10), origin: TweakOrigin("uid 7"), kind: .reload,
            delivery: .caller)
        let error = #expect(throws: TweakError.self) { try registry.redo() }
        #expect(error?.code == .conflict && error?.message.contains("uid 7") == true)
        advance(by: .seconds(10))
        try registry.redo()
        #expect(size.value == 62 && other.value == 1)
    }
}
