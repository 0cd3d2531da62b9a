// To a preset and back: overrides, not values.

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

    /// Which of them have an override.
    private var overridden: String {
        [a, b, c].filter { tweak in tweak.erased.layers.contains { $0.layer == .override } }.map(\.path.name).joined()
    }

    private func swap(_ lines: [(String, String)]) throws -> PresetSwap {
        let entries = lines.enumerated().map { number, line in
            ConfigEntry(path: line.0, text: line.1, line: number + 1, origin: .code)
        }
        let preset = Preset(heading: PresetHeading(), entries: entries, problems: [])
        let (batch, _) = PresetPlan(preset, TweakView(registry)).batch(only: true)
        var swap = registry.swap(for: batch)
        swap.keep(try registry.commit(batch, origin: .user(1), ifUnchangedSince: swap.revision, delivery: .caller))
        return swap
    }

    private func back(_ swap: PresetSwap, force: Bool = false) throws {
        let (batch, _, revision) = try registry.wayBack(swap, name, force: force)
        try registry.commit(
            batch, origin: .user(1), ifUnchangedSince: force ? nil : revision, delivery: .caller)
    }

    /// An override equal to the default is one; one that was not there is not there again; the file shows beneath.
    @Test func backExactly() throws {
        _ = registry.applyConfigFile([
            ConfigEntry(path: "P/Q/C", text: "5", line: 1, origin: .configFile)
        ])
        try a.set(1)
        try c.set(7)
        let swap = try swap([("P/Q/A", "2"), ("P/Q/B", "2")])
        #expect(values == [2, 2, 5] && overridden == "AB")
        #expect(!registry.isUndone(swap))
        try back(swap)
        #expect(values == [1, 1, 7] && overridden == "AC")
        #expect(registry.isUndone(swap))
    }

    /// A temporary override is there again with the time that it has left; one that has run out meanwhile is not.
    @Test func temporaryOverrides() throws {
        try registry.commit(origin: .user(1)) { batch in
            batch.set("P/Q/A", .int(7), for: .seconds(3_600))
            batch.set("P/Q/B", .int(8))
        }
        let swap = try swap([("P/Q/A", "2"), ("P/Q/B", "2")])
        #expect(values == [2, 2, 1] && overridden == "AB")
        try back(swap)
        #expect(values == [7, 8, 1] && overridden == "B")
        #expect(a.erased.layers.last?.layer == .temporaryOverride && a.erased.layers.last?.expires != nil)
    }

    @Test func aTemporaryOverrideAboveThePreset() throws {
        let swap = try swap([("P/Q/A", "2")])
        try registry.commit(origin: .user(9)) { $0.set("P/Q/A", .int(2), for: .seconds(3_600)) }
        let error = #expect(throws: TweakError.self) { try back(swap) }
        #expect(error?.message.contains("by uid 9") == true)
    }

    @Test func theFileMayChangeMeanwhile() throws {
        let swap = try swap([("P/Q/A", "2")])
        _ = registry.applyConfigFile([ConfigEntry(path: "P/Q/A", text: "5", line: 1, origin: .configFile)])
        try back(swap)
        #expect(values == [5, 1, 1] && overridden.isEmpty)
    }

    @Test func whatSomebodyElseChangedIsAConflict() throws {
        let swap = try swap([("P/Q/A", "2"), ("P/Q/B", "2")])
        try registry.commit(origin: .user(9)) { $0.set("P/Q/B", .int(3)) }
        let error = #expect(throws: TweakError.self) { try back(swap) }
        #expect(
            error?.description
                == "conflict P/Q/B has changed since, in revision 2 by uid 9; swap warm force goes back all the same")
        #expect(values == [2, 3, 1])
        b.reset()
        #expect(throws: TweakError.self) { try back(swap) }
        try back(swap, force: true)
        #expect(values == [1, 1, 1] && overridden.isEmpty)
    }

    @Test func whatItDidNotTouchIsNobodysBusiness() throws {
        try a.set(2)
        let swap = try swap([("P/Q/A", "2"), ("P/Q/B", "2")])
        try a.set(4)
        try c.set(4)
        try back(swap)
        #expect(values == [4, 1, 4])
    }

    @Test func aTweakThatIsGone() throws {
        let swap = try swap([("P/Q/A", "2"), ("P/Q/B", "2")])
        registry.remove(a.path)
        let error = #expect(throws: TweakError.self) { try back(swap) }
        #expect(error?.message.hasPrefix("P/Q/A is no longer registered") == true)
        try back(swap, force: true)
        #expect(b.value == 1)
    }

    @Test func inForceAlready() throws {
        try a.set(2)
        #expect(try swap([("P/Q/A", "2")]).isEmpty)
    }
}
