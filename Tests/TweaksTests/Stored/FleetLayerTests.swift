// Checks the fleet's layer: between config file and overrides, judged value by value, held for tweaks that register late.

import Synchronization
import Testing
import Tweaks

@Suite struct FleetLayerTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private let count: Tweak<Int>

    init() throws {
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        count = try registry.register("A", "B", "Count", 1, in: 0...9)
    }

    /// Applies values; nil takes one away.
    @discardableResult
    private func apply(_ changes: [String: TweakValue?], with others: [String: TweakValue] = [:]) throws -> FleetOutcome
    {
        var target: [TweakPath: StoredEntry] = [:]
        for (path, value) in others.merging(changes.compactMapValues(\.self), uniquingKeysWith: { $1 }) {
            let path = try TweakPath(path)
            target[path] = StoredEntry(
                path: path, content: .value(value), origin: TweakOrigin("fleet: ana, etcd revision 7"),
                time: registry.currentTime)
        }
        let changed = Set(try changes.keys.map { try TweakPath($0) })
        return registry.applyFleet(target, changed: changed, origin: TweakOrigin("fleet: ana, set, etcd revision 7"))
    }

    private func file(_ text: String?) {
        let entries = text.map {
            [ConfigEntry(path: "A/B/Size", text: $0, line: 1, origin: TweakOrigin("a.conf:1"))]
        }
        _ = registry.applyConfigFile(entries ?? [])
    }

    @Test func `Values lie above the config file and below overrides, with who set them`() throws {
        file("60")
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

    @Test func `Several values are one commit, which undo passes over`() throws {
        try size.set(90)
        let seen = Mutex<[String]>([])
        let observation = count.observe { change in seen.withLock { $0.append("\(change.new) \(change.origin)") } }
        try apply(["A/B/Size": .number(70), "A/B/Count": .int(2)])
        #expect(registry.revision == 2)
        #expect(seen.withLock { $0 } == ["2 fleet: ana, set, etcd revision 7"])
        try registry.undo()
        #expect(size.value == 70 && count.value == 2)
        observation.cancel()
    }

    @Test func `The same values commit nothing`() throws {
        try apply(["A/B/Size": .number(70)])
        #expect(try apply(["A/B/Size": .number(70)]).didCommit == false)
        #expect(registry.revision == 1)
    }

    @Test(arguments: [TweakValue.number(1_000), .string("x"), .bool(true)])
    func `A value that does not fit is refused alone, and its tweak keeps what it had`(bad: TweakValue) throws {
        try apply(["A/B/Size": .number(70)])
        let outcome = try apply(["A/B/Size": bad, "A/B/Count": .int(2)])
        #expect(outcome.refused.map(\.path.joined) == ["A/B/Size"])
        #expect(size.value == 70 && count.value == 2)
        #expect(registry.aside(size.erased.node).map(\.layer) == [.fleet])
        try apply(["A/B/Size": .number(71)])
        #expect(registry.aside(size.erased.node).isEmpty && size.value == 71)
    }

    @Test func `A secret takes no value from a fleet`() throws {
        let token = try registry.register("A", "B", "Token", "x", flags: .secret)
        #expect(try apply(["A/B/Token": .string("y")]).refused.map(\.reason.code) == [.readOnly])
        #expect(token.value == "x")
    }

    @Test func `A value waits for its tweak, and goes with it when it is taken away`() throws {
        try apply(["A/B/Late": .int(5), "A/B/Gone": .int(6), "A/B/Bad": .int(500), "A/B/Hidden": .string("y")])
        try apply(["A/B/Gone": nil], with: ["A/B/Late": .int(5), "A/B/Bad": .int(500)])
        #expect(try registry.register("A", "B", "Late", 1, in: 0...9).value == 5)
        #expect(try registry.register("A", "B", "Gone", 1, in: 0...9).value == 1)
        let bad = try registry.register("A", "B", "Bad", 1, in: 0...9)
        #expect(bad.value == 1 && registry.aside(bad.erased.node).map(\.layer) == [.fleet])
        #expect(try registry.register("A", "B", "Hidden", "x", flags: .secret).value == "x")
    }

    @Test func `A value under a path in another Unicode normalization is taken, and goes with its key`() throws {
        let tweak = try registry.register("A", "B", "\u{E9}", 1, in: 0...9)
        try apply(["A/B/e\u{301}": .int(3)])
        #expect(tweak.value == 3)
        try apply(["A/B/e\u{301}": nil])
        #expect(tweak.value == 1)
    }

    @Test func `A value under a former path is taken, and one under today's path wins over it`() throws {
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

    @Test func `An override remembers what the fleet has changed beneath it`() throws {
        try apply(["A/B/Size": .number(64)])
        try size.set(72)
        try apply(["A/B/Size": .number(80)])
        let change = try #require(registry.changeBeneath(size.erased.node))
        #expect(change.old == .number(64) && change.new == .number(80) && size.value == 72)
        #expect(registry.coveredFleetPaths.map(\.joined) == ["A/B/Size"])
    }

    @Test func `A config file's change beneath a fleet's value is no change beneath the override`() throws {
        try apply(["A/B/Size": .number(64)])
        try size.set(72)
        file("60")
        #expect(registry.changeBeneath(size.erased.node) == nil && size.value == 72)
        try apply(["A/B/Size": nil])
        #expect(registry.changeBeneath(size.erased.node)?.new == .number(60))
    }

    @Test func `A frozen process takes nothing`() throws {
        registry.freeze()
        #expect(try apply(["A/B/Size": .number(70)]).didCommit == false)
        #expect(size.value == 50)
    }
}
