// Holds the follower's copy of its fleet and applies the values meant for this process, without blocking.

package import Tweaks
import TweaksSystem

/// The state and all decisions of a follower, without I/O.
package struct FleetCore: Sendable {
    package let instance: FleetInstance
    private let sink: TweakSourceSink
    private let time: any FleetClock
    package private(set) var desired: DesiredState
    /// The last position in the store; nil before the first contact ever.
    package private(set) var position: FleetPosition?
    /// Why the store's content is not applied; nil if it is.
    package private(set) var storeProblem: String?
    /// Rollouts that were left because their lease ran out without contact.
    package private(set) var leftRollouts: Set<String> = []
    package private(set) var composition = Composition()
    /// The values last passed to the registry, including those that it refused.
    private var applied: [TweakPath: ComposedValue] = [:]
    /// Of these, the values that the registry accepted.
    private var effective: [TweakPath: ComposedValue] = [:]
    /// The last accepted value of each path from the values for all processes.
    private var goodValues: [TweakPath: ComposedValue] = [:]
    private var entries: [TweakPath: StoredEntry] = [:]

    /// Cached validation results, valid for one generation of the registry.
    private var validated = Validated()

    private struct Validated {
        var generation: UInt64 = 0
        var known: [TweakPath: (value: TweakValue, result: ValueValidation)] = [:]
    }

    package init(
        keys: FleetKeys, instance: FleetInstance, sink: TweakSourceSink, time: any FleetClock = SystemTime()
    ) {
        self.instance = instance
        self.sink = sink
        self.time = time
        desired = DesiredState(keys: keys)
    }

    // MARK: Taking

    /// Applies the state loaded from disk.
    package mutating func restore(_ saved: LastGood) {
        position = saved.position
        desired.replace(with: saved.keys)
        apply(by: "fleet, last good state of etcd revision \(saved.position.revision)", isStart: true)
        // Most tweaks register later; saved values were accepted before.
        goodValues.merge(composition.common) { $1 }
    }

    /// Applies the complete desired state if it comes from the same store as before.
    /// - Returns: Whether it was applied.
    package mutating func apply(_ range: EtcdRangeResult) -> Bool {
        var next = desired
        next.replace(with: range.keys)
        return adopt(next, range.header, by: "fleet, etcd revision \(range.header.revision)")
    }

    /// Applies the changes of one revision.
    package mutating func apply(_ events: [EtcdEvent], of header: EtcdHeader) -> Bool {
        var next = desired
        next.apply(events)
        let who = next.head == desired.head ? nil : next.head.map { "\($0.value.by), \($0.value.what)" }
        let by = "fleet: \(who ?? "without a head's word"), etcd revision \(header.revision)"
        return adopt(next, header, by: who == nil ? "fleet, etcd revision \(header.revision)" : by)
    }

    /// Records that nothing has changed up to a revision.
    package mutating func progress(to header: EtcdHeader) {
        guard let known = position, known.clusterID == header.clusterID else { return }
        position?.revision = max(known.revision, header.revision)
    }

    /// Returns why a store that replies cannot be followed, or nil. A problem persists until the complete state has
    /// been read again.
    package mutating func validate(_ header: EtcdHeader, _ head: FleetHead?) -> String? {
        let found = position?.problem(with: header, head)
        storeProblem = found ?? storeProblem
        return found
    }

    private mutating func adopt(_ next: DesiredState, _ header: EtcdHeader, by origin: String) -> Bool {
        if validate(header, next.head?.value) != nil { return false }
        if next.isTooLarge {
            storeProblem = "the fleet has more than \(DesiredState.maxKeys) keys; remove some"
            return false
        }
        storeProblem = nil
        desired = next
        position = FleetPosition(clusterID: header.clusterID, revision: header.revision, head: next.head?.value)
        leftRollouts.formIntersection(next.rollouts.keys)
        apply(by: origin)
        return true
    }

    // MARK: Leases

    /// When the next rollout must be left if there is no contact; nil without rollouts under a lease.
    package func nextLeave(since contact: Moment) -> Moment? {
        composition.leases.values.min().map { contact.advanced(by: .seconds($0)) }
    }

    /// Leaves the rollouts whose lease must have expired since the last contact.
    package mutating func leave(after contact: Moment) {
        let ended = composition.leases.filter { contact.advanced(by: .seconds($0.value)) <= time.now }
        if ended.isEmpty { return }
        leftRollouts.formUnion(ended.keys)
        apply(by: "fleet, no contact for \(ended.values.max() ?? 0) s")
    }

    /// Rejoins the rollouts that were left.
    package mutating func rejoin() {
        if leftRollouts.isEmpty { return }
        leftRollouts = []
        apply(by: "fleet, in contact again")
    }

    // MARK: Applying

    /// Composes again after the program's tweaks have changed.
    package mutating func recompose() { apply(by: "fleet, etcd revision \(position?.revision ?? 0)") }

    private mutating func apply(by origin: String, isStart: Bool = false) {
        composeAndRecord()
        var target = composition.values
        // Remove first: replace each refused value by its last good one, unless that is in effect already.
        for path in composition.keptPaths {
            let lastGoodValue = lastGood(path)
            target[path] = effective[path] == lastGoodValue ? applied[path] : lastGoodValue
        }
        commit(target, by: origin, isStart)
        // Then pass the refused values: the registry keeps what it has and records the reason.
        for path in composition.keptPaths { target[path] = desired.values[path].map { ComposedValue($0) } }
        commit(target, by: origin, isStart)
    }

    /// Composes the values and records which values for all processes are accepted.
    private mutating func composeAndRecord() {
        // Tweaks may have registered since.
        for path in composition.undeclared {
            guard let value = composition.common[path], validation(path, value.value) == .accepted else { continue }
            goodValues[path] = value
        }
        // Reuse earlier results: the program's tweaks have changed only if the registry's generation has.
        let generation = sink.registry.generation
        var known = validated.generation == generation ? validated.known : [:]
        composition = desired.composed(for: instance, without: leftRollouts) { path, value in
            if let known = known[path], known.value == value { return known.result }
            let validation = validation(path, value)
            known[path] = (value, validation)
            return validation
        }
        validated = Validated(generation: generation, known: known)
        for (path, value) in composition.common where !composition.undeclared.contains(path) {
            goodValues[path] = value
        }
        goodValues = goodValues.filter { desired.values[$0.key] != nil }
    }

    /// Validates a value against the program's current declarations.
    private func validation(_ path: TweakPath, _ value: TweakValue) -> ValueValidation {
        guard let refusal = sink.registry.refusal(of: path, value, in: sink.layer) else { return .accepted }
        return refusal.code == .unknownTweak ? .undeclared : .refused(refusal.message)
    }

    /// The last good value of a path, if the program's current declarations still allow it.
    private func lastGood(_ path: TweakPath) -> ComposedValue? {
        guard let value = goodValues[path] else { return nil }
        if case .refused = validation(path, value.value) { return nil }
        return value
    }

    private mutating func commit(_ target: [TweakPath: ComposedValue], by origin: String, _ isStart: Bool) {
        let changed = Set(target.keys).union(applied.keys).filter { target[$0] != applied[$0] }
        applied = target
        if changed.isEmpty { return }
        for path in changed { entries[path] = target[path].map { entry(path, $0) } }
        let difference = sink.update(to: entries, changed: changed, origin: TweakOrigin(origin), isStart: isStart)
        // The process ends, and its sources with it.
        if difference.isIgnored { return }
        for path in changed.subtracting(difference.refused.map(\.path)) { effective[path] = target[path] }
    }

    private func entry(_ path: TweakPath, _ value: ComposedValue) -> StoredEntry {
        let rollout = value.rollout.map { ", rollout \($0)" } ?? ""
        return StoredEntry(
            path: path, content: .value(value.value),
            origin: TweakOrigin("fleet: \(value.by)\(rollout), etcd revision \(value.revision)"),
            time: instant(value.at))
    }

    /// Converts a wall clock time; never later than now.
    private func instant(_ wall: Int64) -> Moment {
        let (age, overflows) = time.wall.subtractingReportingOverflow(wall)
        return overflows ? time.now : time.now.advanced(by: .zero - .milliseconds(max(0, min(age, 1 << 45))))
    }

    // MARK: Telling

    /// Whether the program ends by an error.
    package var hasProgramFailed: Bool { sink.hasProgramFailed }

    /// Paths whose fleet value is hidden by a local override.
    package var covered: [TweakPath] { sink.coveredPaths }

    /// The number of applied values.
    package var count: Int { applied.count }

    /// The keys to save on disk: no open rollouts, and the last good value in place of each refused one.
    package var lastGood: LastGood? {
        let refused = desired.values.keys.filter { composition.common[$0] == nil }
        let instead = refused.reduce(into: [:]) { $0[$1] = .some(lastGood($1)) }
        return position.map { LastGood(position: $0, desired: desired, instead: instead) }
    }
}

/// How far a process has followed its fleet.
package struct FleetPosition: Hashable, Sendable {
    package var clusterID: UInt64
    package var revision: Int64
    package var head: FleetHead?

    package init(clusterID: UInt64, revision: Int64, head: FleetHead?) {
        self.clusterID = clusterID
        self.revision = revision
        self.head = head
    }

    /// Returns why a store cannot be followed; nil if it can.
    package func problem(with header: EtcdHeader, _ head: FleetHead?) -> String? {
        if let head, head.adopted > (self.head?.counter ?? 0) { return nil }
        if header.clusterID != clusterID {
            let (old, new) = (String(clusterID, radix: 16), String(header.clusterID, radix: 16))
            return "etcd is another cluster, \(new) and not \(old)"
        }
        guard let known = self.head else { return nil }
        guard let head else { return "etcd has no head of the fleet anymore: it was emptied" }
        if head.counter < known.counter || header.revision < revision || head.counter == known.counter && head != known
        {
            return "etcd was restored: it is at write \(head.counter), and \(known.counter) was applied"
        }
        return nil
    }
}
