// Computes the values that a process must have, with a naive implementation that shares no code with the product.

import Tweaks

@testable import TweaksFleet

/// The knowledge of a process, including the last valid content of malformed keys and of refused values.
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

    enum Verdict { case accepted, undeclared, refused }

    /// - Parameter hasLate: The tweak with the late registration is registered.
    static func verdict(_ path: String, _ value: TweakValue, hasLate: Bool) -> Verdict {
        switch (path, value) {
        case ("A/B/Late", _) where !hasLate: .undeclared
        case ("A/B/Size", .number(let number)): (10...100).contains(number) ? .accepted : .refused
        case ("A/B/Count", .int(let number)), ("A/B/Late", .int(let number)):
            (0...9).contains(number) ? .accepted : .refused
        case ("A/B/Size", _), ("A/B/Count", _), ("A/B/Late", _): .refused
        default: .undeclared
        }
    }

    /// Whether a rollout includes the instance, by the definition.
    private func isIn(_ rollout: Rollout) -> Bool {
        for (name, value) in rollout.selector where instance.labels[name] != value { return false }
        if rollout.share.hundredths == 10_000 { return true }
        if !rollout.canary.isEmpty, rollout.canary.allSatisfy({ instance.labels[$0] == $1 }) { return true }
        let seed = rollout.seed ?? rollout.id
        var hash: UInt64 = 14_695_981_039_346_656_037
        for byte in Array("\(instance.id)\u{0}\(seed)".utf8) { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
        for factor: UInt64 in [18_397_679_294_719_823_053, 14_181_476_777_654_086_739] {
            hash ^= hash >> 33
            hash = hash &* factor
        }
        hash ^= hash >> 33
        if let label = rollout.per {
            let cutoff = rollout.cutoffs.first { $0.stratum == instance.labels[label] }
            return cutoff.map { hash < $0.hash || hash == $0.hash && instance.id <= $0.id } ?? false
        }
        return Double(hash) / 18_446_744_073_709_551_616 * 10_000 < Double(rollout.share.hundredths)
    }

    /// Reads all keys.
    mutating func read(_ pairs: [EtcdKeyValue], hasLate: Bool) {
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
        for (path, value) in values where Self.verdict(path, value, hasLate: hasLate) == .accepted {
            good[path] = value
        }
    }

    /// Returns the values of the fleet, by path.
    func fleetValues(hasLate: Bool) -> [String: TweakValue] {
        var result: [String: TweakValue] = [:]
        for (path, value) in values { result[path] = isRefused(path, value, hasLate) ? lastGood(path, hasLate) : value }
        for known in rollouts.values.sorted(by: { ($0.created, $0.rollout.id) < ($1.created, $1.rollout.id) })
        where isIn(known.rollout) && !isRefused(known.rollout, hasLate) {
            for change in known.rollout.changes { result[change.path.joined] = change.value }
        }
        return result
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

    /// Returns the refused paths and rollouts, as in its status.
    func refused(hasLate: Bool) -> Set<String> {
        var refused = Set(values.filter { Self.verdict($0.key, $0.value, hasLate: hasLate) == .refused }.keys)
        for known in rollouts.values where isIn(known.rollout) && isRefused(known.rollout, hasLate) {
            refused.insert(known.rollout.id)
        }
        return refused
    }

    /// With a file all but open rollouts remains known, with the last good values instead of refused ones.
    mutating func restart(keepsFiles: Bool, hadLate: Bool) {
        guard keepsFiles else {
            self = FleetReference(instance, keys)
            return
        }
        rollouts = rollouts.filter { $0.value.rollout.state == .done && $0.value.lease == 0 }
        for (path, value) in values where isRefused(path, value, hadLate) { values[path] = lastGood(path, hadLate) }
        good = values
    }

    /// Restarts with the content of the file, if the last write to it is unknown.
    mutating func restart(from file: LastGood?) {
        self = FleetReference(instance, keys)
        read(file?.keys ?? [], hasLate: false)
        good = values
    }
}

extension String {
    /// Returns the text after a mark.
    fileprivate func split(after mark: String) -> String? {
        let parts = split(separator: mark, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[1]) : nil
    }
}
