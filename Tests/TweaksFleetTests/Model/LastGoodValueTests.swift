// Tests the value of a tweak whose fleet value is refused: the last good one, and no other.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct LastGoodValueTests {
    private let keys = FleetKeys(name: "api")
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private var core: FleetCore
    private var revision: Int64 = 1
    private var pairs: [[UInt8]: EtcdKeyValue] = [:]

    /// A process that has read an empty store.
    init() throws {
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        core = Self.core(keys, registry)
        _ = core.apply(EtcdRangeResult(header: EtcdHeader(clusterID: 1, revision: 1)))
    }

    private static func core(_ keys: FleetKeys, _ registry: TweakRegistry) -> FleetCore {
        FleetCore(
            keys: keys, instance: FleetInstance(id: "i1"), sink: TweakSourceSink(.fleet, registry),
            time: ManualClock(wall: 1_700_000_000_000))
    }

    /// Puts or deletes a key; the process applies that.
    private mutating func write(_ key: [UInt8], _ value: [UInt8]?) {
        revision += 1
        var pair = EtcdKeyValue(key: key, value: value ?? [], createRevision: revision, modRevision: revision)
        if let old = pairs[key] { pair.createRevision = old.createRevision }
        pairs[key] = value == nil ? nil : pair
        let event = EtcdEvent(value == nil ? .delete : .put, pair)
        let isApplied = try? core.apply([event], of: EtcdHeader(clusterID: 1, revision: revision))
        #expect(isApplied == true)
    }

    private mutating func set(_ value: TweakValue, for name: String = "Size") throws {
        write(keys.value(try TweakPath("A/B/\(name)")), DesiredValue(value: value, by: "ana", at: 0).bytes)
    }

    private mutating func roll(_ value: TweakValue, for name: String = "Size") throws {
        write(keys.rollout("r"), try Rollout("r", ["A/B/\(name)": value]).bytes)
    }

    private mutating func deleteRollout() { write(keys.rollout("r"), nil) }

    @Test mutating func `A value under a rollout becomes the last good one, too`() throws {
        try roll(.number(70))
        try set(.number(60))
        try set(.number(400))
        #expect(size.value == 70)
        deleteRollout()
        #expect(size.value == 60)
    }

    @Test mutating func `A value that was deleted under a rollout is no longer the last good one`() throws {
        try set(.number(60))
        try roll(.number(70))
        write(keys.value(size.path), nil)
        try set(.number(400))
        deleteRollout()
        #expect(size.value == 50)
    }

    @Test mutating func `The value of a rollout ends with it, even without a last good value`() throws {
        try set(.int(400), for: "Late")
        try roll(.int(5), for: "Late")
        let late = try registry.register("A", "B", "Late", 1, in: 0...9)
        #expect(late.value == 5)
        deleteRollout()
        #expect(late.value == 1)
    }

    @Test mutating func `The file contains the last good value, not the refused one under a rollout`() throws {
        try set(.number(60))
        try roll(.number(70))
        try set(.number(400))
        let other = TweakRegistry()
        let size = try other.register("A", "B", "Size", 50.0, in: 10...100)
        var restarted = Self.core(keys, other)
        restarted.restore(try #require(core.lastGood))
        #expect(size.value == 60)
    }

    @Test mutating func `A tweak that registers after a restart has the last good value, not its default`() throws {
        try set(.number(60))
        try set(.number(400))
        #expect(size.value == 60)
        let other = TweakRegistry()
        var restarted = Self.core(keys, other)
        restarted.restore(try #require(core.lastGood))
        let header = EtcdHeader(clusterID: 1, revision: revision)
        _ = restarted.apply(EtcdRangeResult(header: header, keys: Array(pairs.values)))
        let size = try other.register("A", "B", "Size", 50.0, in: 10...100)
        restarted.recompose()
        #expect(size.value == 60)
    }

    @Test mutating func `A refused value is recorded and makes no commit`() throws {
        try set(.number(60))
        let before = registry.revision
        try set(.number(400))
        try set(.number(1), for: "Other")
        #expect(registry.revision == before && size.value == 60)
        #expect(core.composition.refused.map(\.path) == ["A/B/Size"])
        try set(.number(61))
        #expect(size.value == 61 && core.composition.refused.isEmpty)
    }
}
