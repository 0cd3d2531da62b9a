// Says what a process has to hold, read naively from the keys and from what it knew before; shares no code with it.

import Tweaks

@testable import TweaksFleet

/// What a process knows that the keys do not say any more: behind garbage, and behind values that it refuses.
struct FleetReference {
    private struct KnownRollout {
        var rollout: Rollout
        var created: Int64
        var lease: Int64
    }

    let instance: FleetInstance
    private let keys: FleetKeys
    private var values: [String: TweakValue] = [:]
    private var rollouts: [String: KnownRollout] = [:]
    /// The last value for all that was not refused.
    private var good: [String: TweakValue] = [:]

    init(_ instance: FleetInstance, _ keys: FleetKeys) { (self.instance, self.keys) = (instance, keys) }

    // MARK: Judging

    enum Verdict { case fits, lacks, refused }

    /// - Parameter hasLate: The tweak that registers late is there.
    static func verdict(_ path: String, _ value: TweakValue, hasLate: Bool) -> Verdict {
        switch (path, value) {
        case ("A/B/Size", .number(let number)): (10...100).contains(number) ? .fits : .refused
        case ("A/B/Count", .int(let number)): (0...9).contains(number) ? .fits : .refused
        case ("A/B/Late", _) where !hasLate: .lacks
        case ("A/B/Late", .int(let number)): (0...9).contains(number) ? .fits : .refused
        case ("A/B/Size", _), ("A/B/Count", _), ("A/B/Late", _): .refused
        default: .lacks
        }
    }

    /// Whether a rollout includes the instance; by the definition, in other words than the product's.
    private func isIn(_ rollout: Rollout) -> Bool {
        for (name, value) in rollout.selector where instance.labels[name] != value { return false }
        if rollout.share.hundredths == 10_000 { return true }
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in Array("\(instance.id)\u{0}\(rollout.id)".utf8) { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        for factor: UInt64 in [18_397_679_294_719_823_053, 14_181_476_777_654_086_739] {
            hash ^= hash >> 33
            hash = hash &* factor
        }
        hash ^= hash >> 33
        return Double(hash) / 18_446_744_073_709_551_616 * 10_000 < Double(rollout.share.hundredths)
    }

    // MARK: Reading

    /// Reads the keys as they are.
    mutating func see(_ pairs: [EtcdKeyValue], hasLate: Bool) {
        let old = self
        (values, rollouts) = ([:], [:])
        for pair in pairs {
            let key = String(decoding: pair.key, as: UTF8.self)
            if let path = key.split(after: "/desired/values/") {
                values[path] = (try? DesiredValue(pair.value))?.value ?? old.values[path]
            } else if let id = key.split(after: "/desired/rollouts/") {
                rollouts[id] = old.rollouts[id]
                guard let rollout = try? Rollout(pair.value), rollout.id == id else { continue }
                rollouts[id] = KnownRollout(rollout: rollout, created: pair.createRevision, lease: pair.lease)
            }
        }
        good = good.filter { values[$0.key] != nil }
        for (path, value) in values where Self.verdict(path, value, hasLate: hasLate) == .fits { good[path] = value }
    }

    /// What it should hold by the fleet, by path.
    func held(hasLate: Bool) -> [String: TweakValue] {
        var held: [String: TweakValue] = [:]
        for (path, value) in values {
            held[path] = isRefused(path, value, hasLate) ? lastGood(path, hasLate) : value
        }
        for known in rollouts.values.sorted(by: { ($0.created, $0.rollout.id) < ($1.created, $1.rollout.id) })
        where isIn(known.rollout) && !isRefused(known.rollout, hasLate) {
            for change in known.rollout.changes { held[change.path.joined] = change.value }
        }
        return held
    }

    private func isRefused(_ path: String, _ value: TweakValue, _ hasLate: Bool) -> Bool {
        Self.verdict(path, value, hasLate: hasLate) == .refused
    }

    private func lastGood(_ path: String, _ hasLate: Bool) -> TweakValue? {
        good[path].flatMap { isRefused(path, $0, hasLate) ? nil : $0 }
    }

    private func isRefused(_ rollout: Rollout, _ hasLate: Bool) -> Bool {
        rollout.changes.contains { Self.verdict($0.path.joined, $0.value, hasLate: hasLate) == .refused }
    }

    /// What it refuses, as its status says it.
    func refused(hasLate: Bool) -> Set<String> {
        var refused = Set(values.filter { Self.verdict($0.key, $0.value, hasLate: hasLate) == .refused }.keys)
        for known in rollouts.values where isIn(known.rollout) && isRefused(known.rollout, hasLate) {
            refused.insert(known.rollout.id)
        }
        return refused
    }

    // MARK: Restarting

    /// Without a directory nothing is known; with one, what is not open, and good values instead of refused ones.
    mutating func restart(keepsFiles: Bool, hadLate: Bool) {
        guard keepsFiles else {
            self = FleetReference(instance, keys)
            return
        }
        rollouts = rollouts.filter { $0.value.rollout.state == .done && $0.value.lease == 0 }
        for (path, value) in values where isRefused(path, value, hadLate) { values[path] = lastGood(path, hadLate) }
        good = values
    }

    /// What a file says, where it is not known what was written to it last.
    mutating func restart(from kept: LastGood?) {
        self = FleetReference(instance, keys)
        see(kept?.keys ?? [], hasLate: false)
        good = values
    }
}

extension String {
    /// What stands behind a mark.
    fileprivate func split(after mark: String) -> String? {
        let parts = split(separator: mark, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[1]) : nil
    }
}
