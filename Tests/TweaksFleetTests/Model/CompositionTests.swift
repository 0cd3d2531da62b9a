// Checks what the keys of a fleet mean for one process.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct CompositionTests {
    private let keys = FleetKeys(name: "api")
    private let instance = FleetInstance(id: "i1", labels: ["zone": "eu"])

    /// A state with values and rollouts, these in the order of their create revisions.
    private func state(
        _ values: [String: TweakValue], _ rollouts: [Rollout] = [], leases: [String: Int64] = [:]
    ) throws -> DesiredState {
        var pairs = try values.map { path, value in
            EtcdKeyValue(
                key: keys.value(try TweakPath(path)), value: DesiredValue(value: value, by: "ana", at: 7).bytes,
                createRevision: 2, modRevision: 3)
        }
        for (index, rollout) in rollouts.enumerated() {
            pairs.append(
                EtcdKeyValue(
                    key: keys.rollout(rollout.id), value: rollout.bytes, createRevision: 10 + Int64(index),
                    modRevision: 100 - Int64(index), lease: leases[rollout.id] ?? 0))
        }
        var state = DesiredState(keys: keys)
        state.replace(with: pairs)
        #expect(state.problems.isEmpty)
        return state
    }

    /// Refuses ints above 9, and has no path with the name Lacks.
    private func judge(_ path: TweakPath, _ value: TweakValue) -> FleetJudgement {
        if path.name == "Lacks" { return .lacks }
        if case .int(let number) = value, number > 9 { return .refused("\(number) is too large") }
        return .fits
    }

    private func texts(_ composition: Composition) -> [String] {
        composition.values.map { "\($0.key)=\($0.value.value)" + ($0.value.rollout.map { " by \($0)" } ?? "") }.sorted()
    }

    @Test func `Values are for all, each with who set it and when`() throws {
        let composition = try state(["A/B/C": .int(1), "A/B/Lacks": .int(99)]).composed(for: instance, judge: judge)
        #expect(texts(composition) == ["A/B/C=1", "A/B/Lacks=99"])
        #expect(composition.refused.isEmpty && composition.members.isEmpty && composition.kept.isEmpty)
        let value = composition.values[try TweakPath("A/B/C")]
        #expect(value == ComposedValue(value: .int(1), by: "ana", at: 7, rollout: nil, revision: 3))
    }

    @Test func `A value that is refused is recorded, and its path keeps what it has`() throws {
        let composition = try state(["A/B/C": .int(10), "A/B/D": .int(1)]).composed(for: instance, judge: judge)
        #expect(try texts(composition) == ["A/B/D=1"] && composition.kept == [TweakPath("A/B/C")])
        #expect(composition.refused == [.init(rollout: nil, path: "A/B/C", reason: "10 is too large")])
    }

    @Test func `A rollout is all or nothing, and a path that the build lacks passes`() throws {
        let first = try Rollout("first", ["A/B/C": .int(2), "A/B/Lacks": .int(99)])
        let second = try Rollout("second", ["A/B/C": .int(3), "A/B/D": .int(10), "A/B/E": .int(11)])
        let composition = try state(["A/B/C": .int(1)], [first, second]).composed(for: instance, judge: judge)
        #expect(texts(composition) == ["A/B/C=2 by first", "A/B/Lacks=99 by first"])
        #expect(composition.members == ["first"])
        #expect(composition.refused == [.init(rollout: "second", path: "A/B/D", reason: "10 is too large")])
    }

    @Test func `Of overlapping rollouts the one that was created last wins, then the one with the higher ID`() throws {
        let rollouts = try ["z", "a"].map { try Rollout($0, ["A/B/C": .string($0), "A/B/\($0)": .int(1)]) }
        let composition = try state([:], rollouts).composed(for: instance, judge: judge)
        #expect(composition.members == ["z", "a"])
        #expect(texts(composition) == ["A/B/C=\"a\" by a", "A/B/a=1 by a", "A/B/z=1 by z"])
        #expect(composition.values[try TweakPath("A/B/z")]?.revision == 100)
        var state = DesiredState(keys: keys)
        state.replace(
            with: rollouts.map { EtcdKeyValue(key: keys.rollout($0.id), value: $0.bytes, createRevision: 5) })
        #expect(state.composed(for: instance, judge: judge).members == ["a", "z"])
    }

    @Test func `A rollout covers a value that is refused, and nothing is kept there`() throws {
        let rollout = try Rollout("r", ["A/B/C": .int(2)])
        let composition = try state(["A/B/C": .int(10)], [rollout]).composed(for: instance, judge: judge)
        #expect(texts(composition) == ["A/B/C=2 by r"] && composition.kept.isEmpty && composition.refused.count == 1)
    }

    @Test func `Rollouts of others, of nobody, and those that were left are not composed`() throws {
        var other = try Rollout("other", ["A/B/C": .int(2)])
        other.selector = ["zone": "us"]
        let nobody = try Rollout("nobody", ["A/B/C": .int(3)], share: .none)
        let left = try Rollout("left", ["A/B/C": .int(4), "A/B/D": .int(10)])
        let composition = try state(["A/B/C": .int(1)], [other, nobody, left]).composed(
            for: instance, without: ["left"], judge: judge)
        #expect(texts(composition) == ["A/B/C=1"] && composition.members.isEmpty && composition.refused.isEmpty)
    }

    @Test func `Open, paused and standing rollouts are composed, and lifetimes are those under a lease`() throws {
        var timed = try Rollout("timed", ["A/B/C": .int(2)])
        timed.lifetime = 600
        var paused = try Rollout("paused", ["A/B/D": .int(3)])
        paused.state = .paused
        var standing = try Rollout("standing", ["A/B/E": .int(4)])
        (standing.state, standing.selector) = (.done, ["zone": "eu"])
        var refused = try Rollout("refused", ["A/B/F": .int(10)])
        refused.lifetime = 60
        let composition = try state([:], [timed, paused, standing, refused], leases: ["timed": 1, "refused": 2])
            .composed(for: instance, judge: judge)
        #expect(composition.members == ["timed", "paused", "standing"] && composition.leases == ["timed": 600])
    }
}
