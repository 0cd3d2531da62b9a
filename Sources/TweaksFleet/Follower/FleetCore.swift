// Keeps what a process knows of its fleet, and applies what of that is meant for it; without waiting for anything.

package import Tweaks

/// The state of a follower. Everything that it decides is decided here.
package struct FleetCore: Sendable {
    package let instance: FleetInstance
    private let registry: TweakRegistry
    private let time: any FleetTime
    package private(set) var desired: DesiredState
    /// How far it has followed; nil before the first contact ever.
    package private(set) var position: FleetPosition?
    /// Why what the store says is not applied; nil: it is.
    package private(set) var objection: String?
    /// Rollouts that it has left without contact.
    package private(set) var left: Set<String> = []
    package private(set) var composition = Composition()
    /// What the registry was asked for last, by path; also what it has refused, for it says why.
    private var applied: [TweakPath: ComposedValue] = [:]
    /// Of these, what it took.
    private var effective: [TweakPath: ComposedValue] = [:]
    /// The last value of each path for all processes that was not refused.
    private var good: [TweakPath: ComposedValue] = [:]
    private var entries: [TweakPath: StoredEntry] = [:]

    /// What was said of values, by the registry's generation.
    private var judged: (generation: UInt64, known: [TweakPath: (value: TweakValue, judgement: FleetJudgement)]) = (
        0, [:]
    )

    package init(keys: FleetKeys, instance: FleetInstance, registry: TweakRegistry, time: any FleetTime) {
        (self.instance, self.registry, self.time) = (instance, registry, time)
        desired = DesiredState(keys: keys)
    }

    // MARK: Taking

    /// Applies what was kept on disk.
    package mutating func take(_ kept: LastGood) {
        position = kept.position
        desired.replace(with: kept.keys)
        apply(by: "fleet, last good state of etcd revision \(kept.position.revision)")
        // Most tweaks register later; what was kept is what was good.
        good.merge(composition.common) { $1 }
    }

    /// Applies all of what the fleet wants, where the store is the one that it was.
    /// - Returns: Whether it was taken.
    package mutating func take(_ range: EtcdRangeResult) -> Bool {
        var next = desired
        next.replace(with: range.keys)
        return take(next, range.header, by: "fleet, etcd revision \(range.header.revision)")
    }

    /// Applies the changes of one revision.
    package mutating func take(_ events: [EtcdEvent], of header: EtcdHeader) -> Bool {
        var next = desired
        next.apply(events)
        let who = next.head == desired.head ? nil : next.head.map { "\($0.value.by), \($0.value.what)" }
        let by = "fleet: \(who ?? "without a head's word"), etcd revision \(header.revision)"
        return take(next, header, by: who == nil ? "fleet, etcd revision \(header.revision)" : by)
    }

    /// Nothing has changed up to a revision.
    package mutating func progress(to header: EtcdHeader) {
        guard let known = position, known.clusterID == header.clusterID else { return }
        position?.revision = max(known.revision, header.revision)
    }

    /// What is to be said against a store that answers; nil where nothing is. What was said once stays until all of it
    /// was read anew.
    package mutating func judge(_ header: EtcdHeader, _ head: FleetHead?) -> String? {
        let found = position?.objection(to: header, head)
        objection = found ?? objection
        return found
    }

    private mutating func take(_ next: DesiredState, _ header: EtcdHeader, by origin: String) -> Bool {
        if judge(header, next.head?.value) != nil { return false }
        if next.isTooLarge {
            objection = "the fleet has more than \(DesiredState.mostKeys) keys; remove some"
            return false
        }
        objection = nil
        desired = next
        position = FleetPosition(clusterID: header.clusterID, revision: header.revision, head: next.head?.value)
        left.formIntersection(next.rollouts.keys)
        apply(by: origin)
        return true
    }

    // MARK: Leases

    /// When it leaves a rollout without contact; nil where it is in none under a lease.
    package func nextLeave(since contact: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        composition.leases.values.min().map { contact.advanced(by: .seconds($0)) }
    }

    /// Leaves the rollouts whose lease has ended by all that is known.
    package mutating func leave(after contact: ContinuousClock.Instant) {
        let ended = composition.leases.filter { contact.advanced(by: .seconds($0.value)) <= time.now }
        if ended.isEmpty { return }
        left.formUnion(ended.keys)
        apply(by: "fleet, no contact for \(ended.values.max() ?? 0) s")
    }

    /// Takes part again in what it has left.
    package mutating func rejoin() {
        if left.isEmpty { return }
        left = []
        apply(by: "fleet, in contact again")
    }

    // MARK: Applying

    /// Composes anew, since the program's tweaks are others now.
    package mutating func recompose() { apply(by: "fleet, etcd revision \(position?.revision ?? 0)") }

    private mutating func apply(by origin: String) {
        learn()
        var target = composition.values
        // First what gives way: to a refused value nothing does but the last good one, which may be in effect already.
        for path in composition.kept {
            let good = lastGood(path)
            target[path] = effective[path] == good ? applied[path] : good
        }
        commit(target, by: origin)
        // Then what is refused: the registry keeps what it has, and notes why.
        for path in composition.kept { target[path] = desired.values[path].map { ComposedValue($0) } }
        commit(target, by: origin)
    }

    /// Composes, and notes which values for all are good.
    private mutating func learn() {
        // Tweaks may have registered since.
        for path in composition.lacking {
            guard let value = composition.common[path], judgement(path, value.value) == .fits else { continue }
            good[path] = value
        }
        // Most values were judged before; the program's tweaks are others only when the registry says so.
        let generation = registry.generation
        var known = judged.generation == generation ? judged.known : [:]
        composition = desired.composed(for: instance, without: left) { path, value in
            if let known = known[path], known.value == value { return known.judgement }
            let judgement = judgement(path, value)
            known[path] = (value, judgement)
            return judgement
        }
        judged = (generation, known)
        for (path, value) in composition.common where !composition.lacking.contains(path) { good[path] = value }
        good = good.filter { desired.values[$0.key] != nil }
    }

    /// Judges a value by what the program declares now.
    private func judgement(_ path: TweakPath, _ value: TweakValue) -> FleetJudgement {
        guard let refusal = registry.fleetRefusal(path, value) else { return .fits }
        return refusal.code == .unknownTweak ? .lacks : .refused(refusal.message)
    }

    /// The last good value of a path, where it is one by what the program declares now.
    private func lastGood(_ path: TweakPath) -> ComposedValue? {
        guard let value = good[path] else { return nil }
        if case .refused = judgement(path, value.value) { return nil }
        return value
    }

    private mutating func commit(_ target: [TweakPath: ComposedValue], by origin: String) {
        let changed = Set(target.keys).union(applied.keys).filter { target[$0] != applied[$0] }
        applied = target
        if changed.isEmpty { return }
        for path in changed { entries[path] = target[path].map { entry(path, $0) } }
        let outcome = registry.applyFleet(
            entries, changed: changed, origin: TweakOrigin(origin), delivery: .carrier)
        for path in changed.subtracting(outcome.refused.map(\.path)) { effective[path] = target[path] }
    }

    private func entry(_ path: TweakPath, _ value: ComposedValue) -> StoredEntry {
        let rollout = value.rollout.map { ", rollout \($0)" } ?? ""
        return StoredEntry(
            path: path, content: .value(value.value),
            origin: TweakOrigin("fleet: \(value.by)\(rollout), etcd revision \(value.revision)"),
            time: time.instant(value.at))
    }

    // MARK: Telling

    /// Paths whose value from the fleet is covered by a local override.
    package var covered: [TweakPath] { registry.coveredFleetPaths }

    /// How many values are applied.
    package var count: Int { applied.count }

    /// The keys that are to be kept on disk: without open rollouts, and of refused values the last good one.
    package var lastGood: LastGood? {
        let refused = desired.values.keys.filter { composition.common[$0] == nil }
        let instead = refused.reduce(into: [:]) { $0[$1] = .some(lastGood($1)) }
        return position.map { LastGood(position: $0, desired: desired, instead: instead) }
    }
}
