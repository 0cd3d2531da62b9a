// Tests the swap to a preset and back, by undo of its commit, which restores overrides and not values.

import Testing
import Tweaks
import TweaksTestSupport

struct PresetSwapTests {
    private let registry: TweakRegistry
    private let (a, b, c): (Tweak<Int>, Tweak<Int>, Tweak<Int>)

    init() throws {
        // Its time stands still, so that two sets are one entry of the history.
        let clock = ManualClock()
        registry = TweakRegistry { clock.now }
        a = Tweak("P", "Q", "A", 1, registry: registry)
        b = Tweak("P", "Q", "B", 1, registry: registry)
        c = Tweak("P", "Q", "C", 1, registry: registry)
    }

    private var values: [Int] { [a.value, b.value, c.value] }

    /// The names of those with an override.
    private var overridden: String {
        [a, b, c].filter { tweak in tweak.erased.layers.contains { $0.layer == .override } }.map(\.path.name).joined()
    }

    /// - Returns: The revision; nil if nothing changed.
    private func swap(_ lines: KeyValuePairs<String, String>) throws -> UInt64? {
        let (batch, _) = PresetPlan(Preset(lines: lines), TweakView(registry)).batch(only: true)
        let result = try registry.commit(
            batch, origin: .user(1), kind: .change(session: 1, isStep: true), delivery: .caller)
        return result.didStore ? result.revision : nil
    }

    private func set(_ tweak: Tweak<Int>, _ value: Int64) throws {
        try registry.commit(
            tweak.erased.node, .set(.int(value)), origin: .user(1), kind: .change(session: 1), delivery: .caller)
    }

    private func swapBack(_ revision: UInt64?, force: Bool = false, rights: Rights = .all) throws {
        let step = try registry.historyStep(
            undoing: try #require(revision), force: force, remedy: "swap warm force goes back anyway", session: 1,
            rights: rights)
        try registry.commit(
            step.batch, origin: .user(1), ifUnchangedSince: step.revision, kind: step.kind, delivery: .caller)
    }

    /// Also an override that equals the default; where there was none, the config file applies again.
    @Test func swappingBackRestoresExactlyTheOverrides() throws {
        registry.replace(.configFile, with: ["P/Q/C": "5"])
        try a.set(1)
        try c.set(7)
        let swap = try #require(try swap(["P/Q/A": "2", "P/Q/B": "2"]))
        #expect(values == [2, 2, 5] && overridden == "AB" && registry.isUndone(swap) == false)
        try swapBack(swap)
        #expect(values == [1, 1, 7] && overridden == "AC" && registry.isUndone(swap) == true)
    }

    @Test func aSwapWhoseOverridesWereRestoredByHandCountsAsUndone() throws {
        try a.set(7)
        let swap = try #require(try swap(["P/Q/A": "2", "P/Q/B": "2"]))
        try set(a, 7)
        #expect(registry.isUndone(swap) == false)
        try registry.reset("P/Q/B")
        #expect(registry.isUndone(swap) == true)
    }

    @Test func swappingBackRestoresTemporaryOverridesWithTheirTimeLeft() throws {
        try registry.commit(origin: .user(1)) { batch in
            batch.set("P/Q/A", .int(7), for: .seconds(3_600))
            batch.set("P/Q/B", .int(8))
        }
        let swap = try swap(["P/Q/A": "2", "P/Q/B": "2"])
        #expect(values == [2, 2, 1] && overridden == "AB")
        try swapBack(swap)
        #expect(values == [7, 8, 1] && overridden == "B")
        #expect(a.erased.layers.last?.layer == .temporaryOverride && a.erased.layers.last?.expires != nil)
    }

    @Test func aTemporaryOverrideAboveThePresetIsAConflict() throws {
        let swap = try swap(["P/Q/A": "2"])
        try registry.commit(origin: .user(9)) { $0.set("P/Q/A", .int(2), for: .seconds(3_600)) }
        let error = #expect(throws: TweakError.self) { try swapBack(swap) }
        #expect(error?.message.contains("by uid 9") == true)
    }

    @Test func theConfigFileMayChangeBeforeSwappingBack() throws {
        let swap = try swap(["P/Q/A": "2"])
        registry.replace(.configFile, with: ["P/Q/A": "5"])
        try swapBack(swap)
        #expect(values == [5, 1, 1] && overridden.isEmpty)
    }

    @Test func anOverrideChangedSinceIsAConflictThatForceOverrules() throws {
        let swap = try swap(["P/Q/A": "2", "P/Q/B": "2"])
        try registry.commit(origin: .user(9)) { $0.set("P/Q/B", .int(3)) }
        let error = #expect(throws: TweakError.self) { try swapBack(swap) }
        let text = "conflict P/Q/B has changed since, in revision 2 by uid 9; swap warm force goes back anyway"
        #expect(error?.description == text && values == [2, 3, 1])
        b.reset()
        #expect(throws: TweakError.self) { try swapBack(swap) }
        try swapBack(swap, force: true)
        #expect(values == [1, 1, 1] && overridden.isEmpty)
    }

    @Test func tweaksThatTheSwapDidNotChangeMayChangeSince() throws {
        try a.set(2)
        let swap = try swap(["P/Q/A": "2", "P/Q/B": "2"])
        try a.set(4)
        try c.set(4)
        try swapBack(swap)
        #expect(values == [4, 1, 4])
    }

    @Test func aRemovedTweakIsAConflictThatForceOverrules() throws {
        let swap = try swap(["P/Q/A": "2", "P/Q/B": "2"])
        registry.remove(a.path)
        let error = #expect(throws: TweakError.self) { try swapBack(swap) }
        #expect(error?.message == "P/Q/A is not registered now; swap warm force goes back anyway")
        try swapBack(swap, force: true)
        #expect(b.value == 1)
    }

    @Test func aPresetInForceAlreadyMakesNoSwap() throws {
        try a.set(2)
        #expect(try swap(["P/Q/A": "2"]) == nil)
    }

    /// Later changes of other tweaks stay, and also those by undo and redo.
    @Test func aSwapNeedNotBeTheLastChange() throws {
        let swap = try swap(["P/Q/A": "2"])
        try c.set(4)
        try registry.undo()
        try registry.redo()
        try swapBack(swap)
        #expect(values == [1, 1, 4])
        #expect(registry.history.first?.kind == .undo(of: 1))
        // Redo switches again, and undo goes on with the other change.
        try registry.redo()
        #expect(values == [2, 1, 4])
        try swapBack(swap)
        try registry.undo()
        #expect(values == [1, 1, 1])
    }

    /// Also with force, which another undo of the same commit would not be.
    @Test(arguments: [false, true]) func aSwapThatIsUndoneIsNotUndoneAgain(isForced: Bool) throws {
        let swap = try #require(try swap(["P/Q/A": "2"]))
        let steps = try (1...2).map { _ in
            try registry.historyStep(
                undoing: swap, force: isForced, remedy: "", session: UInt64(1), rights: .all)
        }
        try registry.commit(steps[0].batch, origin: .user(1), kind: steps[0].kind, delivery: .caller)
        #expect(throws: TweakError.self) {
            try registry.commit(steps[1].batch, origin: .user(1), kind: steps[1].kind, delivery: .caller)
        }
        let error = #expect(throws: TweakError.self) { try swapBack(swap, force: isForced) }
        #expect(error?.message.contains("revision 1 is undone or forgotten") == true)
    }

    @Test func aSwapIsNeverMergedWithOtherChanges() throws {
        for value in [7, 8] as [Int64] { try set(a, value) }
        let first = try swap(["P/Q/A": "2"])
        let second = try swap(["P/Q/A": "3"])
        try set(a, 4)
        #expect(registry.history.map(\.revision) == [5, 4, 3, 2])
        #expect(throws: TweakError.self) { try swapBack(second) }
        try registry.undo()
        try swapBack(second)
        #expect(a.value == 2)
        try swapBack(first)
        #expect(a.value == 8)
    }

    @Test func aForgottenSwapHasNoWayBack() throws {
        let swap = try #require(try swap(["P/Q/A": "2"]))
        registry.historyLimit = 0
        #expect(registry.isUndone(swap) == nil)
        #expect(throws: TweakError.self) { try swapBack(swap, force: true) }
        #expect(a.value == 2)
    }

    @Test func swappingBackTakesTheRightToWrite() throws {
        let swap = try swap(["P/Q/A": "2", "P/Q/B": "2"])
        let rights = Rights(["write:P/Q/A", "read"])
        let error = #expect(throws: TweakError.self) { try swapBack(swap, rights: rights) }
        #expect(error?.code == .denied && values == [2, 2, 1])
    }
}
