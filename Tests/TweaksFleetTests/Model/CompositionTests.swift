// Tests which values the keys of a fleet yield for one process.

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
        let values = try values.map { path, value in
            EtcdKeyValue(
                key: keys.value(try TweakPath(path)), value: DesiredValue(value: value, by: "ana", at: 7).bytes,
                createRevision: 2, modRevision: 3)
        }
        let records = zip(Int64(0)..., rollouts).map { index, rollout in
            EtcdKeyValue(
                key: keys.rollout(rollout.id), value: rollout.bytes, createRevision: 10 + index,
                modRevision: 100 - index, lease: leases[rollout.id] ?? 0)
        }
        var state = DesiredState(keys: keys)
        state.replace(with: values + records)
        #expect(state.problems.isEmpty)
        return state
    }

    /// Composes a state in a build that refuses ints above 9 and lacks paths with the name Lacks.
    private func compose(_ state: DesiredState, without left: Set<String> = []) -> Composition {
        state.composed(for: instance, without: left, validate: validate)
    }

    private func validate(_ path: TweakPath, _ value: TweakValue) -> ValueValidation {
        if path.name == "Lacks" { return .undeclared }
        if case .int(let number) = value, number > 9 { return .refused("\(number) is too large") }
        return .accepted
    }

    private func texts(_ composition: Composition) -> [String] {
        composition.values.map { "\($0.key)=\($0.value.value)" + ($0.value.rollout.map { " by \($0)" } ?? "") }.sorted()
    }

    @Test func `Values apply to all processes, with operator and time`() throws {
        let composition = compose(try state(["A/B/C": .int(1), "A/B/Lacks": .int(99)]))
        #expect(texts(composition) == ["A/B/C=1", "A/B/Lacks=99"])
        #expect(composition.refused.isEmpty && composition.members.isEmpty && composition.keptPaths.isEmpty)
        let value = composition.values[try TweakPath("A/B/C")]
        #expect(value == ComposedValue(value: .int(1), by: "ana", at: 7, rollout: nil, revision: 3))
    }

    @Test func `A refused value is recorded, and its path keeps the previous value`() throws {
        let composition = compose(try state(["A/B/C": .int(10), "A/B/D": .int(1)]))
        #expect(try texts(composition) == ["A/B/D=1"] && composition.keptPaths == [TweakPath("A/B/C")])
        #expect(composition.refused == [.init(rollout: nil, path: "A/B/C", reason: "10 is too large")])
    }

    @Test func `A rollout applies as a whole or not at all; paths that the build lacks are accepted`() throws {
        let first = try Rollout("first", ["A/B/C": .int(2), "A/B/Lacks": .int(99)])
        let second = try Rollout("second", ["A/B/C": .int(3), "A/B/D": .int(10), "A/B/E": .int(11)])
        let composition = compose(try state(["A/B/C": .int(1)], [first, second]))
        #expect(texts(composition) == ["A/B/C=2 by first", "A/B/Lacks=99 by first"])
        #expect(composition.members == ["first"])
        #expect(composition.refused == [.init(rollout: "second", path: "A/B/D", reason: "10 is too large")])
    }

    @Test func `Of overlapping rollouts the newest takes precedence, then the one with the higher ID`() throws {
        let rollouts = try ["z", "a"].map { try Rollout($0, ["A/B/C": .string($0), "A/B/\($0)": .int(1)]) }
        let composition = compose(try state([:], rollouts))
        #expect(composition.members == ["z", "a"])
        #expect(texts(composition) == ["A/B/C=\"a\" by a", "A/B/a=1 by a", "A/B/z=1 by z"])
        #expect(composition.values[try TweakPath("A/B/z")]?.revision == 100)
        var state = DesiredState(keys: keys)
        state.replace(with: rollouts.map { EtcdKeyValue(key: keys.rollout($0.id), value: $0.bytes, createRevision: 5) })
        #expect(compose(state).members == ["a", "z"])
    }

    @Test func `A rollout covers a refused value`() throws {
        let composition = compose(try state(["A/B/C": .int(10)], [try Rollout("r", ["A/B/C": .int(2)])]))
        #expect(texts(composition) == ["A/B/C=2 by r"])
        #expect(composition.keptPaths.isEmpty && composition.refused.count == 1)
    }

    @Test func `Rollouts for other processes, for none, and excluded ones do not apply`() throws {
        var other = try Rollout("other", ["A/B/C": .int(2)])
        other.selector = ["zone": "us"]
        let empty = try Rollout("empty", ["A/B/C": .int(3)], share: .none)
        let excluded = try Rollout("excluded", ["A/B/C": .int(4), "A/B/D": .int(10)])
        let state = try state(["A/B/C": .int(1)], [other, empty, excluded])
        let composition = compose(state, without: ["excluded"])
        #expect(texts(composition) == ["A/B/C=1"] && composition.members.isEmpty && composition.refused.isEmpty)
    }

    @Test func `Open, paused and standing rollouts apply, and those under a lease have lifetimes`() throws {
        var timed = try Rollout("timed", ["A/B/C": .int(2)])
        timed.lifetime = 600
        var paused = try Rollout("paused", ["A/B/D": .int(3)])
        paused.state = .paused
        var standing = try Rollout("standing", ["A/B/E": .int(4)])
        (standing.state, standing.selector) = (.done, ["zone": "eu"])
        var refused = try Rollout("refused", ["A/B/F": .int(10)])
        refused.lifetime = 60
        let leases: [String: Int64] = ["timed": 1, "refused": 2]
        let composition = compose(try state([:], [timed, paused, standing, refused], leases: leases))
        #expect(composition.members == ["timed", "paused", "standing"] && composition.leases == ["timed": 600])
    }
}
