// Checks which value a tweak has where the fleet's is refused, or cannot be read: its last good one, and nothing else.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct LastGoodValueTests {
    private let keys = FleetKeys(name: "api")
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private var revision: Int64 = 1
    private var pairs: [[UInt8]: EtcdKeyValue] = [:]

    init() throws { size = try registry.register("A", "B", "Size", 50.0, in: 10...100) }

    private func core(on registry: TweakRegistry? = nil) -> FleetCore {
        FleetCore(
            keys: keys, instance: FleetInstance(id: "i1"), registry: registry ?? self.registry, time: ManualFleetTime())
    }

    /// Puts a key, or deletes it, and has a process take that.
    private mutating func write(_ key: [UInt8], _ value: [UInt8]?, to core: inout FleetCore) {
        revision += 1
        var pair = EtcdKeyValue(key: key, value: value ?? [], createRevision: revision, modRevision: revision)
        if let old = pairs[key] { pair.createRevision = old.createRevision }
        pairs[key] = value == nil ? nil : pair
        let event = EtcdEvent(value == nil ? .delete : .put, pair)
        let isTaken = core.take([event], of: EtcdHeader(clusterID: 1, revision: revision))
        #expect(isTaken)
    }

    private mutating func set(_ path: String, _ value: TweakValue, to core: inout FleetCore) throws {
        let record = DesiredValue(value: value, by: "ana", at: 0)
        write(keys.value(try TweakPath(path)), record.bytes, to: &core)
    }

    private mutating func roll(_ rollout: Rollout, to core: inout FleetCore) {
        write(keys.rollout(rollout.id), rollout.bytes, to: &core)
    }

    /// A process that has read all there is before.
    private func following() -> FleetCore {
        var core = core()
        _ = core.take(EtcdRangeResult(header: EtcdHeader(clusterID: 1, revision: 1)))
        return core
    }

    @Test mutating func `A value becomes the last good one also under a rollout`() throws {
        var core = following()
        roll(try Rollout("r", ["A/B/Size": .number(70)]), to: &core)
        try set("A/B/Size", .number(60), to: &core)
        try set("A/B/Size", .number(400), to: &core)
        #expect(size.value == 70)
        write(keys.rollout("r"), nil, to: &core)
        #expect(size.value == 60)
    }

    @Test mutating func `What was deleted under a rollout is not good any more`() throws {
        var core = following()
        try set("A/B/Size", .number(60), to: &core)
        roll(try Rollout("r", ["A/B/Size": .number(70)]), to: &core)
        write(keys.value(size.path), nil, to: &core)
        try set("A/B/Size", .number(400), to: &core)
        write(keys.rollout("r"), nil, to: &core)
        #expect(size.value == 50)
    }

    @Test mutating func `A rollout's value goes with it, also where the value for all never was good`() throws {
        var core = following()
        try set("A/B/Late", .int(400), to: &core)
        roll(try Rollout("r", ["A/B/Late": .int(5)]), to: &core)
        let late = try registry.register("A", "B", "Late", 1, in: 0...9)
        #expect(late.value == 5)
        write(keys.rollout("r"), nil, to: &core)
        #expect(late.value == 1)
    }

    @Test mutating func `A refused value under a rollout is not kept on disk, and its last good one is`() throws {
        var core = following()
        try set("A/B/Size", .number(60), to: &core)
        roll(try Rollout("r", ["A/B/Size": .number(70)]), to: &core)
        try set("A/B/Size", .number(400), to: &core)
        let other = TweakRegistry()
        let size = try other.register("A", "B", "Size", 50.0, in: 10...100)
        var second = self.core(on: other)
        second.take(try #require(core.lastGood))
        #expect(size.value == 60)
    }

    @Test mutating func `A tweak that registers after a restart has the last good value, and not its default`() throws {
        var core = following()
        try set("A/B/Size", .number(60), to: &core)
        try set("A/B/Size", .number(400), to: &core)
        #expect(size.value == 60)
        let other = TweakRegistry()
        var second = self.core(on: other)
        second.take(try #require(core.lastGood))
        _ = second.take(
            EtcdRangeResult(header: EtcdHeader(clusterID: 1, revision: revision), keys: Array(pairs.values)))
        let size = try other.register("A", "B", "Size", 50.0, in: 10...100)
        second.recompose()
        #expect(size.value == 60)
    }

    @Test mutating func `A refused value is noted with its reason, and changes nothing`() throws {
        var core = following()
        try set("A/B/Size", .number(60), to: &core)
        let before = registry.revision
        try set("A/B/Size", .number(400), to: &core)
        try set("A/B/Other", .number(1), to: &core)
        #expect(registry.revision == before && size.value == 60)
        #expect(core.composition.refused.map(\.path) == ["A/B/Size"])
        try set("A/B/Size", .number(61), to: &core)
        #expect(size.value == 61 && core.composition.refused.isEmpty)
    }
}
