// Tests the swap to a preset and back, which restores overrides, not values.

import Testing
import Tweaks

struct PresetSwapTests {
    private let registry = TweakRegistry()
    private let name: PresetName
    private let (a, b, c): (Tweak<Int>, Tweak<Int>, Tweak<Int>)

    init() throws {
        name = try PresetName("warm")
        a = Tweak("P", "Q", "A", 1, registry: registry)
        b = Tweak("P", "Q", "B", 1, registry: registry)
        c = Tweak("P", "Q", "C", 1, registry: registry)
    }

    private var values: [Int] { [a.value, b.value, c.value] }

    /// The names of those with an override.
    private var overridden: String {
        [a, b, c].filter { tweak in tweak.erased.layers.contains { $0.layer == .override } }.map(\.path.name).joined()
    }

    private func swap(_ lines: KeyValuePairs<String, String>) throws -> PresetSwap {
        let (batch, _) = PresetPlan(Preset(lines: lines), TweakView(registry)).batch(only: true)
        var swap = registry.swap(for: batch)
        swap.keep(try registry.commit(batch, origin: .user(1), ifUnchangedSince: swap.revision, delivery: .caller))
        return swap
    }

    private func swapBack(_ swap: PresetSwap, force: Bool = false) throws {
        let (batch, _, revision) = try registry.restorationBatch(swap, name, force: force)
        try registry.commit(batch, origin: .user(1), ifUnchangedSince: force ? nil : revision, delivery: .caller)
    }

    /// Also an override that equals the default; where there was none, the config file applies again.
    @Test func swappingBackRestoresExactlyTheOverrides() throws {
        registry.replace(.configFile, with: ["P/Q/C": "5"])
        try a.set(1)
        try c.set(7)
        let swap = try swap(["P/Q/A": "2", "P/Q/B": "2"])
        #expect(values == [2, 2, 5] && overridden == "AB" && !registry.isUndone(swap))
        try swapBack(swap)
        #expect(values == [1, 1, 7] && overridden == "AC" && registry.isUndone(swap))
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
        #expect(error?.message.hasPrefix("P/Q/A is no longer registered") == true)
        try swapBack(swap, force: true)
        #expect(b.value == 1)
    }

    @Test func aPresetInForceAlreadyMakesAnEmptySwap() throws {
        try a.set(2)
        #expect(try swap(["P/Q/A": "2"]).isEmpty)
    }
}
