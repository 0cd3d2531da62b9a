// Checks states and compositions against a naive model, over thousands of random changes.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

/// What the keys mean, as one would say it: no state but the records that were good last.
private struct NaiveFleet {
    var pairs: [[UInt8]: EtcdKeyValue] = [:]
    private var values: [String: (value: TweakValue, revision: Int64)] = [:]
    private var rollouts: [String: (rollout: Rollout, created: Int64)] = [:]

    /// A process hears of a key; nil: it is gone. What is good is what the operations below write as such.
    mutating func hear(_ name: String, _ value: (TweakValue, Int64)??) {
        switch value {
        case nil: values[name] = nil
        case .some(nil): break
        case .some(let good?): values[name] = good
        }
    }

    mutating func hear(_ name: String, _ rollout: (Rollout, Int64)??) {
        switch rollout {
        case nil: rollouts[name] = nil
        case .some(nil): break
        case .some(let good?): rollouts[name] = good
        }
    }

    private func isIn(_ rollout: Rollout, _ instance: FleetInstance) -> Bool {
        for (name, value) in rollout.selector where instance.labels[name] != value { return false }
        let hash = FleetHash.value(instance: instance.id, rollout: rollout.id)
        return UInt128(hash) * 10_000 < UInt128(rollout.share.hundredths) << 64
    }

    /// The value of each path, with the rollout that it is from; and which paths or rollouts are refused.
    func meaning(
        for instance: FleetInstance, without left: Set<String>, _ isRefused: (TweakValue) -> Bool
    ) -> (values: [String: String], refused: Set<String>) {
        var (result, refused): ([String: String], Set<String>) = ([:], [])
        for (path, entry) in values {
            if isRefused(entry.value) {
                refused.insert(path)
            } else {
                result[path] = "\(entry.value) @\(entry.revision)"
            }
        }
        for entry in rollouts.values.sorted(by: { ($0.created, $0.rollout.id) < ($1.created, $1.rollout.id) }) {
            guard isIn(entry.rollout, instance), !left.contains(entry.rollout.id) else { continue }
            if entry.rollout.changes.contains(where: { isRefused($0.value) }) {
                refused.insert("rollout \(entry.rollout.id)")
                continue
            }
            for change in entry.rollout.changes {
                result[change.path.joined] = "\(change.value) by \(entry.rollout.id)"
            }
        }
        return (result, refused)
    }
}

/// An etcd, a process that hears of each change or sleeps through some, and the model of it.
private struct Play {
    let keys = FleetKeys(name: "api")
    var chance: SeededGenerator
    var state: DesiredState
    var model = NaiveFleet()
    private var revision: Int64 = 1
    private var isAsleep = false
    /// What is good of each key; a key that is not here holds garbage.
    private var goodValues: [String: (TweakValue, Int64)] = [:]
    private var goodRollouts: [String: (Rollout, Int64)] = [:]

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
        case 18: isAsleep = true
        default: readAnew()
        }
    }

    private mutating func put(_ key: [UInt8], _ value: [UInt8]) {
        let created = model.pairs[key]?.createRevision ?? revision
        let pair = EtcdKeyValue(key: key, value: value, createRevision: created, modRevision: revision)
        model.pairs[key] = pair
        if !isAsleep { state.apply([EtcdEvent(.put, pair)]) }
    }

    private mutating func delete(_ key: [UInt8]) {
        model.pairs[key] = nil
        if !isAsleep { state.apply([EtcdEvent(.delete, EtcdKeyValue(key: key, modRevision: revision))]) }
    }

    private mutating func changeValue(_ name: String) throws {
        let key = keys.value(try TweakPath(name))
        switch number(0..<10) {
        case 0..<6:
            // One in five is refused.
            let value = TweakValue.int(Int64(number(0..<100)))
            put(key, DesiredValue(value: value, by: "a", at: 0).bytes)
            goodValues[name] = (value, revision)
            if !isAsleep { model.hear(name, .some((value, revision))) }
        case 6..<8:
            put(key, Array("garbage \(revision)".utf8))
            goodValues[name] = nil
        default:
            delete(key)
            goodValues[name] = nil
            if !isAsleep { model.hear(name, (TweakValue, Int64)??.none) }
        }
    }

    private mutating func changeRollout(_ id: String) throws {
        let key = keys.rollout(id)
        switch number(0..<10) {
        case 0..<6:
            let rollout = try randomRollout(id)
            put(key, rollout.bytes)
            goodRollouts[id] = (rollout, model.pairs[key]?.createRevision ?? 0)
            if !isAsleep { model.hear(id, .some(goodRollouts[id])) }
        case 6..<8:
            put(key, Array("{\"id\":\"\(id)\"}".utf8))
            goodRollouts[id] = nil
        default:
            delete(key)
            goodRollouts[id] = nil
            if !isAsleep { model.hear(id, (Rollout, Int64)??.none) }
        }
    }

    private mutating func randomRollout(_ id: String) throws -> Rollout {
        var changes: [String: TweakValue] = [:]
        for _ in 0..<number(1..<4) { changes["A/B/\(number(0..<6))"] = .int(Int64(number(0..<90))) }
        var rollout = try Rollout(id, changes, share: Share(hundredths: number(0..<10_001)) ?? .all)
        if number(0..<3) == 0 { rollout.selector = ["zone": number(0..<2) == 0 ? "eu" : "us"] }
        rollout.state = [.open, .paused, .done][number(0..<3)]
        return rollout
    }

    /// After a compaction, say: what happened meanwhile is not known.
    private mutating func readAnew() {
        isAsleep = false
        state.replace(with: Array(model.pairs.values).shuffled(using: &chance))
        for number in 0..<6 {
            let (name, key) = ("A/B/\(number)", keys.values + Array("A/B/\(number)".utf8))
            model.hear(name, model.pairs[key] == nil ? nil : .some(goodValues[name]))
        }
        for number in 0..<5 {
            let id = "r\(number)"
            model.hear(id, model.pairs[keys.rollout(id)] == nil ? nil : .some(goodRollouts[id]))
        }
    }
}

@Suite struct DesiredModelTests {
    private static func isRefused(_ value: TweakValue) -> Bool {
        if case .int(let number) = value { number >= 80 } else { true }
    }

    @Test(arguments: 1...8)
    func `What a process composes is what the keys mean, whatever was garbage or slept through`(_ seed: UInt64) throws {
        var play = Play(seed: seed)
        for step in 0..<500 {
            try play.step()
            let instance = FleetInstance(id: "i\(step % 7)", labels: step % 2 == 0 ? ["zone": "eu"] : [:])
            let left: Set<String> = step % 5 == 0 ? ["r1"] : []
            let composition = play.state.composed(for: instance, without: left) { _, value in
                Self.isRefused(value) ? .refused("too large") : .fits
            }
            let meaning = play.model.meaning(for: instance, without: left, Self.isRefused)
            let values = composition.values.map { path, value in
                (path.joined, "\(value.value) " + (value.rollout.map { "by \($0)" } ?? "@\(value.revision)"))
            }
            #expect(Dictionary(uniqueKeysWithValues: values) == meaning.values, "seed \(seed), step \(step)")
            let refused = composition.refused.map { refusal in refusal.rollout.map { "rollout \($0)" } ?? refusal.path }
            #expect(Set(refused) == meaning.refused, "seed \(seed), step \(step)")
        }
    }
}
