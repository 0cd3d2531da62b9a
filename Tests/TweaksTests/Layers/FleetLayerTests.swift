// Tests the fleet's layer: between config file and overrides, validated by value, pending for unknown tweaks.

import Testing

@testable import Tweaks

struct FleetLayerTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private let count: Tweak<Int>
    private var underlyingChange: (old: TweakValue, new: TweakValue)? { registry.underlyingValueChange(size.node) }

    init() throws {
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        count = try registry.register("A", "B", "Count", 1, in: 0...9)
    }

    /// Applies values; nil removes one.
    @discardableResult
    private func apply(
        _ changes: [String: TweakValue?], with others: [String: TweakValue] = [:]
    ) throws -> LayerDifference {
        var target: [TweakPath: StoredEntry] = [:]
        let origin = TweakOrigin("fleet: ana, etcd revision 7")
        for (path, value) in others.merging(changes.compactMapValues(\.self), uniquingKeysWith: { $1 }) {
            let path = try TweakPath(path)
            target[path] = StoredEntry(path: path, content: .value(value), origin: origin, time: registry.currentTime)
        }
        let changed = Set(try changes.keys.map { try TweakPath($0) })
        return registry.update(
            .fleet, to: target, changed: changed, origin: TweakOrigin("fleet: ana, set, etcd revision 7"))
    }

    @Test func `Values are above the config file and below overrides, with their origin`() throws {
        registry.replace(.configFile, with: ["A/B/Size": "60"])
        try apply(["A/B/Size": .number(70)])
        #expect(size.value == 70)
        try size.set(80)
        #expect(
            size.erased.layers.map(\.description) == [
                "default 50 by code", "config file 60 by a.conf:1", "fleet 70 by fleet: ana, etcd revision 7",
                "override 80 by code",
            ])
        size.reset()
        #expect(size.value == 70)
        try apply(["A/B/Size": nil])
        #expect(size.value == 60)
    }

    @Test func `Several values are one commit that undo skips, and the same values commit nothing`() throws {
        try size.set(90)
        let changes = ChangeRecorder(count) { "\($0.new) \($0.origin)" }
        try apply(["A/B/Size": .number(70), "A/B/Count": .int(2)])
        #expect(registry.revision == 2 && changes.all == ["2 fleet: ana, set, etcd revision 7"])
        #expect(try apply(["A/B/Size": .number(70)], with: ["A/B/Count": .int(2)]).didCommit == false)
        #expect(registry.revision == 2)
        try registry.undo()
        #expect(size.value == 70 && count.value == 2)
    }

    @Test(arguments: [TweakValue.number(1_000), .string("x"), .bool(true)])
    func `An invalid value is refused alone, and its tweak keeps the one before`(bad: TweakValue) throws {
        try apply(["A/B/Size": .number(70)])
        let outcome = try apply(["A/B/Size": bad, "A/B/Count": .int(2)])
        #expect(outcome.refused.map(\.path.joined) == ["A/B/Size"] && size.value == 70 && count.value == 2)
        #expect(registry.quarantined(size.node).map(\.layer) == [.fleet])
        try apply(["A/B/Size": .number(71)])
        #expect(registry.quarantined(size.node).isEmpty && size.value == 71)
    }

    @Test func `A value is pending until its tweak registers or the value is removed; secrets accept none`() throws {
        try apply(["A/B/Late": .int(5), "A/B/Gone": .int(6), "A/B/Bad": .int(500), "A/B/Hidden": .string("y")])
        try apply(["A/B/Gone": nil], with: ["A/B/Late": .int(5), "A/B/Bad": .int(500)])
        #expect(try registry.register("A", "B", "Late", 1, in: 0...9).value == 5)
        #expect(try registry.register("A", "B", "Gone", 1, in: 0...9).value == 1)
        let bad = try registry.register("A", "B", "Bad", 1, in: 0...9)
        #expect(bad.value == 1 && registry.quarantined(bad.erased.node).map(\.layer) == [.fleet])
        let secret = try registry.register("A", "B", "Hidden", "x", flags: .secret)
        #expect(secret.value == "x")
        #expect(try apply(["A/B/Hidden": .string("z")]).refused.map(\.reason.code) == [.readOnly])
        #expect(secret.value == "x")
    }

    @Test func `A path in another Unicode normalization sets and removes the value`() throws {
        let tweak = try registry.register("A", "B", "\u{E9}", 1, in: 0...9)
        try apply(["A/B/e\u{301}": .int(3)])
        #expect(tweak.value == 3)
        try apply(["A/B/e\u{301}": nil])
        #expect(tweak.value == 1)
    }

    @Test func `A value under a former path is applied, but one under the current path takes precedence`() throws {
        let speed = try registry.register("A", "B", "Speed", 1, in: 0...9, formerly: "A/B/Velocity")
        try apply(["A/B/Velocity": .int(3)])
        #expect(speed.value == 3)
        try apply(["A/B/Speed": .int(4)], with: ["A/B/Velocity": .int(3)])
        #expect(speed.value == 4)
        try apply(["A/B/Velocity": .int(5)], with: ["A/B/Speed": .int(4)])
        #expect(speed.value == 4)
        try apply(["A/B/Speed": nil], with: ["A/B/Velocity": .int(5)])
        #expect(speed.value == 5)
    }

    @Test func `A change of the fleet's value under an override is known, one of the file's below it is not`() throws {
        try apply(["A/B/Size": .number(64)])
        try size.set(72)
        registry.replace(.configFile, with: ["A/B/Size": "60"])
        #expect(underlyingChange == nil && size.value == 72)
        try apply(["A/B/Size": .number(80)])
        #expect(underlyingChange?.old == .number(64) && underlyingChange?.new == .number(80) && size.value == 72)
        #expect(registry.coveredPaths(of: .fleet).map(\.joined) == ["A/B/Size"])
        try apply(["A/B/Size": nil])
        #expect(underlyingChange?.new == .number(60))
    }

    @Test func `A frozen registry applies nothing`() throws {
        registry.freeze()
        #expect(try apply(["A/B/Size": .number(70)]).didCommit == false && size.value == 50)
    }
}
