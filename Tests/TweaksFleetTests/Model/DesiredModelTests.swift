// Tests states and compositions against a naive model, over thousands of random changes.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

/// A key of etcd, which may be malformed.
private enum KeyContent<Record> { case missing, malformed, valid(Record, Int64) }

/// The last valid records of one kind, as a process knows them.
private struct KnownRecords<Record> {
    var records: [String: (value: Record, revision: Int64)] = [:]

    mutating func receive(_ name: String, _ content: KeyContent<Record>) {
        switch content {
        case .missing: records[name] = nil
        case .malformed: break
        case .valid(let value, let revision): records[name] = (value, revision)
        }
    }
}

/// The meaning of the keys without optimizations.
private struct NaiveFleet {
    var pairs: [[UInt8]: EtcdKeyValue] = [:]
    var values = KnownRecords<TweakValue>()
    /// With their create revisions.
    var rollouts = KnownRecords<Rollout>()

    private func isIn(_ rollout: Rollout, _ instance: FleetInstance) -> Bool {
        for (name, value) in rollout.selector where instance.labels[name] != value { return false }
        let hash = FleetHash.value(instance: instance.id, rollout: rollout.id)
        return UInt128(hash) * 10_000 < UInt128(rollout.share.hundredths) << 64
    }

    /// Returns the value of each path with its rollout, and the refused paths and rollouts.
    func meaning(
        for instance: FleetInstance, without left: Set<String>, _ isRefused: (TweakValue) -> Bool
    ) -> (values: [String: String], refused: Set<String>) {
        var (result, refused): ([String: String], Set<String>) = ([:], [])
        for (path, entry) in values.records {
            if isRefused(entry.value) {
                refused.insert(path)
            } else {
                result[path] = "\(entry.value) @\(entry.revision)"
            }
        }
        let ordered = rollouts.records.values.sorted { ($0.revision, $0.value.id) < ($1.revision, $1.value.id) }
        for rollout in ordered.map(\.value) where isIn(rollout, instance) && !left.contains(rollout.id) {
            if rollout.changes.contains(where: { isRefused($0.value) }) {
                refused.insert("rollout \(rollout.id)")
                continue
            }
            for change in rollout.changes { result[change.path.joined] = "\(change.value) by \(rollout.id)" }
        }
        return (result, refused)
    }
}

/// An etcd, a process that receives each change or misses some, and its model.
private struct Simulation {
    let keys = FleetKeys(name: "api")
    var chance: SeededGenerator
    var state: DesiredState
    var model = NaiveFleet()
    private var revision: Int64 = 1
    private var isDisconnected = false
    /// What the events since the last ``takeChanges()`` concern; nil after everything was read.
    private var changes: DesiredChanges? = DesiredChanges()
    /// The content of the keys in etcd.
    private var values: [String: KeyContent<TweakValue>] = [:]
    private var rollouts: [String: KeyContent<Rollout>] = [:]

    init(seed: UInt64) {
        chance = SeededGenerator(seed: seed)
        state = DesiredState(keys: keys)
    }

    private mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &chance) }

    mutating func step() throws {
        revision += 1
        switch number(0..<20) {
        case 0..<8: try changeValue("A/B/\(number(0..<6))")
        case 8..<16: try changeRollout("r\(number(0..<5))")
        case 16: put(keys.desired + Array("foreign\(number(0..<3))".utf8), [0xFF])
        case 17: put(keys.head, FleetHead(counter: UInt64(revision), by: "a", what: "set", at: 0).bytes)
        case 18: isDisconnected = true
        default: readAll()
        }
    }

    private mutating func put(_ key: [UInt8], _ value: [UInt8]) {
        let created = model.pairs[key]?.createRevision ?? revision
        let pair = EtcdKeyValue(key: key, value: value, createRevision: created, modRevision: revision)
        model.pairs[key] = pair
        if !isDisconnected { receive(EtcdEvent(.put, pair)) }
    }

    private mutating func delete(_ key: [UInt8]) {
        model.pairs[key] = nil
        if !isDisconnected { receive(EtcdEvent(.delete, EtcdKeyValue(key: key, modRevision: revision))) }
    }

    private mutating func receive(_ event: EtcdEvent) {
        let new = state.apply([event])
        guard var all = changes else { return }
        all.paths.formUnion(new.paths)
        all.hasRollouts = all.hasRollouts || new.hasRollouts
        changes = all
    }

    mutating func takeChanges() -> DesiredChanges? {
        defer { changes = DesiredChanges() }
        return changes
    }

    private mutating func changeValue(_ name: String) throws {
        let key = keys.value(try TweakPath(name))
        switch number(0..<10) {
        case 0..<6:
            // One in five is refused.
            let value = TweakValue.int(Int64(number(0..<100)))
            put(key, DesiredValue(value: value, by: "a", at: 0).bytes)
            values[name] = .valid(value, revision)
        case 6..<8:
            put(key, utf8("garbage \(revision)"))
            values[name] = .malformed
        default:
            delete(key)
            values[name] = .missing
        }
        if !isDisconnected { model.values.receive(name, values[name] ?? .missing) }
    }

    private mutating func changeRollout(_ id: String) throws {
        let key = keys.rollout(id)
        switch number(0..<10) {
        case 0..<6:
            let rollout = try randomRollout(id)
            put(key, rollout.bytes)
            rollouts[id] = .valid(rollout, model.pairs[key]?.createRevision ?? 0)
        case 6..<8:
            put(key, utf8("{\"id\":\"\(id)\"}"))
            rollouts[id] = .malformed
        default:
            delete(key)
            rollouts[id] = .missing
        }
        if !isDisconnected { model.rollouts.receive(id, rollouts[id] ?? .missing) }
    }

    private mutating func randomRollout(_ id: String) throws -> Rollout {
        var changes: [String: TweakValue] = [:]
        for _ in 0..<number(1..<4) { changes["A/B/\(number(0..<6))"] = .int(Int64(number(0..<90))) }
        var rollout = try Rollout(id, changes, share: Share(hundredths: number(0..<10_001)) ?? .all)
        if number(0..<3) == 0 { rollout.selector = ["zone": number(0..<2) == 0 ? "eu" : "us"] }
        rollout.state = [.open, .paused, .done][number(0..<3)]
        return rollout
    }

    /// Reads all keys, as after a compaction: the changes since the last event are unknown.
    private mutating func readAll() {
        isDisconnected = false
        changes = nil
        state.replace(with: Array(model.pairs.values).shuffled(using: &chance))
        for (name, content) in values { model.values.receive(name, content) }
        for (id, content) in rollouts { model.rollouts.receive(id, content) }
    }
}

@Suite struct DesiredModelTests {
    private static func isRefused(_ value: TweakValue) -> Bool {
        if case .int(let number) = value { number >= 80 } else { true }
    }

    @Test(arguments: 1...8)
    func `A composition matches the model, also with malformed keys and missed changes`(_ seed: UInt64) throws {
        var simulation = Simulation(seed: seed)
        for step in 0..<500 {
            try simulation.step()
            let instance = FleetInstance(id: "i\(step % 7)", labels: step % 2 == 0 ? ["zone": "eu"] : [:])
            let left: Set<String> = step % 5 == 0 ? ["r1"] : []
            let composition = simulation.state.composed(for: instance, without: left) { _, value in
                Self.isRefused(value) ? .refused("too large") : .accepted
            }
            let meaning = simulation.model.meaning(for: instance, without: left, Self.isRefused)
            let values = composition.values.map { path, value in
                (path.joined, "\(value.value) " + (value.rollout.map { "by \($0)" } ?? "@\(value.revision)"))
            }
            #expect(Dictionary(uniqueKeysWithValues: values) == meaning.values, "seed \(seed), step \(step)")
            let refused = composition.refused.map { refusal in refusal.rollout.map { "rollout \($0)" } ?? refusal.path }
            #expect(Set(refused) == meaning.refused, "seed \(seed), step \(step)")
        }
    }

    @Test(arguments: 1...8)
    func `Composing what has changed gives the same as composing everything`(_ seed: UInt64) throws {
        var simulation = Simulation(seed: seed)
        let instance = FleetInstance(id: "i1", labels: ["zone": "eu"])
        var following = Composition()
        func validate(_: TweakPath, _ value: TweakValue) -> ValueValidation {
            Self.isRefused(value) ? .refused("too large") : .accepted
        }
        for step in 0..<500 {
            try simulation.step()
            let whole = simulation.state.composed(for: instance, validate: validate)
            if let changes = simulation.takeChanges() {
                let earlier = following.values
                following.update(changes.paths, in: simulation.state, validate: validate)
                let told =
                    changes.hasRollouts
                    ? following.updateRollouts(in: simulation.state, for: instance, without: [], validate: validate)
                    : []
                let changed = Set(earlier.keys).union(whole.values.keys).filter { earlier[$0] != whole.values[$0] }
                #expect(changed.isSubset(of: changes.paths.union(told)), "seed \(seed), step \(step)")
            } else {
                following = whole
            }
            #expect(following.values == whole.values && following.common == whole.common, "seed \(seed), step \(step)")
            #expect(following.keptPaths == whole.keptPaths && following.refused == whole.refused)
            #expect(following.members == whole.members && following.leases == whole.leases)
        }
    }
}
