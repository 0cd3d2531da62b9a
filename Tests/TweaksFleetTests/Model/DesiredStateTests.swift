// Checks what of a fleet's keys is known after reads and changes, some of them garbage.

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

    @Test func `Keys are known with what etcd says of them`() throws {
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

    @Test func `What was garbage last is as it was before, until it is good again or gone`() throws {
        var state = DesiredState(keys: keys)
        let (head, id) = (FleetHead(counter: 7, by: "a", what: "set", at: 0), keys.rollout("r"))
        state.replace(with: [pair(keys.head, head.bytes), pair(size, good), pair(id, try rollout("r"))])
        let known = (state.head, state.values, state.rollouts)
        let garbage = [keys.head, size, id].map { pair($0, Array("garbage".utf8), at: 2) }
        func isAsKnown() -> Bool { state.head == known.0 && state.values == known.1 && state.rollouts == known.2 }
        state.apply(garbage.map { EtcdEvent(.put, $0) })
        #expect(isAsKnown() && Set(state.problems.keys) == [keys.head, size, id])
        state.replace(with: garbage)
        #expect(isAsKnown() && state.problems.count == 3)
        state.apply([EtcdEvent(.put, pair(size, good, at: 3)), EtcdEvent(.delete, EtcdKeyValue(key: id))])
        #expect(state.problems.keys.map(\.self) == [keys.head] && state.values[path]?.modRevision == 3)
        #expect(state.rollouts.isEmpty)
        // What is not there any more is not kept, and garbage that was never good is nothing.
        state.replace(with: [pair(id, Array("garbage".utf8))])
        #expect(state.values.isEmpty && state.rollouts.isEmpty && state.head == nil && state.problems.count == 1)
    }

    @Test(arguments: [
        "other", "values", "values/", "values/A/B", "values/A/B/C/D", "values//B/C", "values/A/B/\u{7}", "rollouts/",
        "rollouts/a/b", "rollouts/a b", "rollouts/" + String(repeating: "r", count: 41), "head/", "",
    ])
    func `Foreign keys harm themselves alone`(_ rest: String) throws {
        var state = DesiredState(keys: keys)
        let foreign = keys.desired + Array(rest.utf8)
        state.replace(with: [pair(foreign, good), pair(size, good)])
        #expect(Array(state.problems.keys) == [foreign] && state.values.count == 1)
        state.apply([EtcdEvent(.delete, EtcdKeyValue(key: foreign))])
        #expect(state.problems.isEmpty && state.values.count == 1)
    }

    @Test func `Keys that are no text, or of another fleet, are foreign`() {
        var state = DesiredState(keys: keys)
        state.replace(with: [
            pair(keys.values + [0xFF], good), pair(keys.rollouts + [0xC3], good), pair([], good),
            pair(FleetKeys(name: "apis").value(path), good), pair(FleetKeys(prefix: "/t", name: "api").head, good),
        ])
        #expect(state.problems.count == 5 && state.values.isEmpty && state.head == nil)
    }

    @Test func `A rollout under another ID than its key is a problem`() throws {
        var state = DesiredState(keys: keys)
        state.replace(with: [pair(keys.rollout("r"), try rollout("s"))])
        #expect(state.rollouts.isEmpty && state.problems.count == 1)
    }

    @Test func `A value with a lease is taken, and is a problem`() {
        var state = DesiredState(keys: keys)
        state.replace(with: [pair(size, good, lease: 5)])
        #expect(state.values[path]?.value.value == .int(1) && state.problems[size]?.contains("lease") == true)
        state.apply([EtcdEvent(.put, pair(size, good, at: 2))])
        #expect(state.problems.isEmpty)
    }

    @Test func `Paths that look the same are as many as their bytes`() throws {
        let names = ["A/B/\u{E9}", "A/B/e\u{301}"]
        var state = DesiredState(keys: keys)
        state.replace(with: try names.map { pair(keys.value(try TweakPath($0)), good) })
        #expect(state.values.count == 2)
    }

    @Test func `It is too large beyond 10,000 keys, and a key counts once whatever is wrong with it`() throws {
        var state = DesiredState(keys: keys)
        var pairs = try (0..<10_000).map {
            pair(keys.value(try TweakPath("A/B/\($0)")), good, lease: $0.isMultiple(of: 2) ? 0 : 5)
        }
        state.replace(with: pairs)
        #expect(!state.isTooLarge && state.problems.count == 5_000)
        pairs.append(pair(keys.desired + Array("foreign".utf8), good))
        state.replace(with: pairs)
        #expect(state.isTooLarge)
        state.apply([EtcdEvent(.delete, EtcdKeyValue(key: pairs[0].key))])
        #expect(!state.isTooLarge)
    }
}
