// Tests what is known of a fleet's keys after reads and changes, some of them malformed.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct DesiredStateTests {
    private let keys = FleetKeys(name: "api")
    private let path: TweakPath
    private let size: [UInt8]
    private let good: [UInt8]

    init() throws {
        path = try TweakPath("A/B/Size")
        size = keys.value(path)
        good = DesiredValue(value: .int(1), by: "ana", at: 0).bytes
    }

    private func pair(
        _ key: [UInt8], _ value: [UInt8], created: Int64 = 1, at revision: Int64 = 1, lease: Int64 = 0
    ) -> EtcdKeyValue {
        EtcdKeyValue(key: key, value: value, createRevision: created, modRevision: revision, lease: lease)
    }

    private func rollout(_ id: String) throws -> [UInt8] { try Rollout(id, ["A/B/Size": .int(9)]).bytes }

    @Test func `Keys are known with their revisions and leases`() throws {
        let head = FleetHead(counter: 7, by: "ana", what: "set", at: 0)
        var state = DesiredState(keys: keys)
        state.replace(with: [
            pair(keys.head, head.bytes, at: 5), pair(size, good, created: 2, at: 4),
            pair(keys.rollout("r"), try rollout("r"), created: 3, at: 5, lease: 77),
        ])
        #expect(state.head?.value == head && state.head?.modRevision == 5 && state.problems.isEmpty)
        #expect(state.values[path]?.value.value == .int(1) && state.values[path]?.createRevision == 2)
        let entry = try #require(state.rollouts["r"])
        #expect(entry.lease == 77 && entry.createRevision == 3 && entry.pair.key == keys.rollout("r"))
        state.apply([
            EtcdEvent(.delete, EtcdKeyValue(key: keys.rollout("r"))), EtcdEvent(.delete, EtcdKeyValue(key: keys.head)),
            EtcdEvent(.delete, EtcdKeyValue(key: size)), EtcdEvent(.delete, EtcdKeyValue(key: Array("other".utf8))),
        ])
        #expect(state.head == nil && state.values.isEmpty && state.rollouts.isEmpty)
    }

    @Test func `A malformed key keeps its last valid content until it is valid again or deleted`() throws {
        var state = DesiredState(keys: keys)
        let (head, id) = (FleetHead(counter: 7, by: "a", what: "set", at: 0), keys.rollout("r"))
        state.replace(with: [pair(keys.head, head.bytes), pair(size, good), pair(id, try rollout("r"))])
        let known = (state.head, state.values, state.rollouts)
        let malformed = [keys.head, size, id].map { pair($0, utf8("garbage"), at: 2) }
        func isUnchanged() -> Bool { state.head == known.0 && state.values == known.1 && state.rollouts == known.2 }
        state.apply(malformed.map { EtcdEvent(.put, $0) })
        #expect(isUnchanged() && Set(state.problems.keys) == [keys.head, size, id])
        state.replace(with: malformed)
        #expect(isUnchanged() && state.problems.count == 3)
        state.apply([EtcdEvent(.put, pair(size, good, at: 3)), EtcdEvent(.delete, EtcdKeyValue(key: id))])
        #expect(state.problems.keys.map(\.self) == [keys.head] && state.values[path]?.modRevision == 3)
        #expect(state.rollouts.isEmpty)
        // Deleted keys are dropped, and a key that was never valid has no content.
        state.replace(with: [pair(id, utf8("garbage"))])
        #expect(state.values.isEmpty && state.rollouts.isEmpty && state.head == nil && state.problems.count == 1)
    }

    @Test(arguments: [
        "other", "values", "values/", "values/A/B", "values/A/B/C/D", "values//B/C", "values/A/B/\u{7}", "rollouts/",
        "rollouts/a/b", "rollouts/a b", "rollouts/" + String(repeating: "r", count: 41), "head/", "",
    ])
    func `Unknown keys are a problem and affect no others`(_ rest: String) throws {
        var state = DesiredState(keys: keys)
        let foreign = keys.desired + utf8(rest)
        state.replace(with: [pair(foreign, good), pair(size, good)])
        #expect(Array(state.problems.keys) == [foreign] && state.values.count == 1)
        state.apply([EtcdEvent(.delete, EtcdKeyValue(key: foreign))])
        #expect(state.problems.isEmpty && state.values.count == 1)
    }

    @Test func `Keys that are not UTF-8, or of another fleet, are unknown`() {
        var state = DesiredState(keys: keys)
        state.replace(with: [
            pair(keys.values + [0xFF], good), pair(keys.rollouts + [0xC3], good), pair([], good),
            pair(FleetKeys(name: "apis").value(path), good), pair(FleetKeys(prefix: "/t", name: "api").head, good),
        ])
        #expect(state.problems.count == 5 && state.values.isEmpty && state.head == nil)
    }

    @Test func `A rollout with another ID than its key is a problem`() throws {
        var state = DesiredState(keys: keys)
        state.replace(with: [pair(keys.rollout("r"), try rollout("s"))])
        #expect(state.rollouts.isEmpty && state.problems.count == 1)
    }

    @Test func `A value with a lease applies, and is a problem`() {
        var state = DesiredState(keys: keys)
        state.replace(with: [pair(size, good, lease: 5)])
        #expect(state.values[path]?.value.value == .int(1) && state.problems[size]?.contains("lease") == true)
        state.apply([EtcdEvent(.put, pair(size, good, at: 2))])
        #expect(state.problems.isEmpty)
    }

    @Test func `Paths with equal glyphs and different bytes are different`() throws {
        let names = ["A/B/\u{E9}", "A/B/e\u{301}"]
        var state = DesiredState(keys: keys)
        state.replace(with: try names.map { pair(keys.value(try TweakPath($0)), good) })
        #expect(state.values.count == 2)
    }

    @Test func `A state has at most 10,000 keys, and a key counts once, even with a problem`() throws {
        var state = DesiredState(keys: keys)
        var pairs = try (0..<10_000).map {
            pair(keys.value(try TweakPath("A/B/\($0)")), good, lease: $0.isMultiple(of: 2) ? 0 : 5)
        }
        state.replace(with: pairs)
        #expect(!state.isTooLarge && state.problems.count == 5_000)
        pairs.append(pair(keys.desired + utf8("foreign"), good))
        state.replace(with: pairs)
        #expect(state.isTooLarge)
        state.apply([EtcdEvent(.delete, EtcdKeyValue(key: pairs[0].key))])
        #expect(!state.isTooLarge)
    }
}
