// Holds the follower's copy of its fleet and applies the values meant for this process, without blocking.

package import Tweaks
import TweaksSystem

/// The state and all decisions of a follower, without I/O. What a change costs depends on what it changes.
package struct FleetCore: Sendable {
    package let instance: FleetInstance
    private let keys: FleetKeys
    private let sink: TweakSourceSink
    private let time: any FleetClock
    package private(set) var desired: DesiredState
    /// The last position in the store; nil before the first contact ever.
    package private(set) var position: FleetPosition?
    /// Why the store's content is not applied; nil if it is.
    package private(set) var storeProblem: StoreProblem?
    /// Rollouts that were left because their lease ran out without contact, until the store has been read again.
    package private(set) var leftRollouts: Set<String> = []
    package private(set) var composition = Composition()
    /// The values last passed to the registry, including those that it refused.
    private var applied: [TweakPath: ComposedValue] = [:]
    /// Of these, the values that the registry accepted.
    private var effective: [TweakPath: ComposedValue] = [:]
    /// The last accepted value of each path from the values for all processes.
    private var goodValues: [TweakPath: ComposedValue] = [:]
    private var entries: [TweakPath: StoredEntry] = [:]
    /// The registry's generation in which the composition was validated.
    private var generation: UInt64?
    /// The desired keys that have changed since the last ``takeUnsaved(whole:)``; nil for all of them.
    private var unsaved: Set<[UInt8]>?
    /// How often the content of a store was applied.
    private(set) var changeCount: UInt64 = 0

    /// What is composed again.
    private enum Scope {
        case everything
        case changes(DesiredChanges)

        static let rollouts = Scope.changes(DesiredChanges(hasRollouts: true))
    }

    package init(
        keys: FleetKeys, instance: FleetInstance, sink: TweakSourceSink, time: any FleetClock = SystemTime()
    ) {
        self.keys = keys
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
        apply(.everything, by: "fleet, last good state of etcd revision \(saved.position.revision)", isStart: true)
        // Most tweaks register later; saved values were accepted before.
        goodValues.merge(composition.common) { $1 }
    }

    /// Applies the complete desired state if it continues what was applied.
    /// - Parameter ancestor: The chain that the store has for the write that was applied last.
    /// - Returns: Whether it was applied.
    package mutating func apply(_ range: EtcdRangeResult, ancestor: String? = nil) -> Bool {
        var next = desired
        next.replace(with: range.keys)
        let proof = FleetProof(
            header: range.header, head: next.head?.value, headRevision: next.head?.modRevision ?? 0, ancestor: ancestor)
        guard validate(proof) == nil, accepts(isTooLarge: next.isTooLarge) else { return false }
        if storeProblem == nil, leftRollouts.isEmpty, position?.clusterID == range.header.clusterID, next == desired {
            progress(to: range.header)
            return true
        }
        desired = next
        // What was left for want of contact is still there, or is not among the keys.
        leftRollouts = []
        unsaved = nil
        take(range.header, .everything, by: "fleet, etcd revision \(range.header.revision)")
        return true
    }

    /// Applies the changes of one revision.
    /// - Throws: If the store must be read first: the changes do not follow from what was applied.
    package mutating func apply(_ events: [EtcdEvent], of header: EtcdHeader) throws(FleetGapError) -> Bool {
        let old = desired.head?.value
        let head = desired.head(after: events)
        let isGap = head != old && position.map { $0.needsAncestor(for: head) || $0.needsRead(for: head) } ?? false
        if isGap || storeProblem != nil { throw FleetGapError() }
        let proof = FleetProof(
            header: header, head: head, headRevision: head == old ? 0 : header.revision)
        guard validate(proof) == nil, accepts(isTooLarge: desired.isTooLarge(after: events)) else { return false }
        let changes = desired.apply(events)
        leftRollouts.formIntersection(desired.rollouts.keys)
        unsaved?.formUnion(changes.keys)
        let who = head == old ? nil : head.map { ": \($0.by), \($0.what)" }
        take(header, .changes(changes), by: "fleet\(who ?? ""), etcd revision \(header.revision)")
        return true
    }

    /// Records that nothing has changed up to a revision.
    package mutating func progress(to header: EtcdHeader) {
        guard let known = position, known.clusterID == header.clusterID else { return }
        position?.revision = max(known.revision, header.revision)
    }

    /// Returns why a store that replies cannot be followed, or nil. A problem persists until the complete state has
    /// been read again.
    package mutating func validate(_ proof: FleetProof) -> StoreProblem? {
        let found = position?.problem(with: proof)
        storeProblem = found ?? storeProblem
        return found
    }

    private mutating func accepts(isTooLarge: Bool) -> Bool {
        if isTooLarge { storeProblem = .tooLarge }
        return !isTooLarge
    }

    private mutating func take(_ header: EtcdHeader, _ scope: Scope, by origin: String) {
        changeCount &+= 1
        storeProblem = nil
        position = FleetPosition(clusterID: header.clusterID, revision: header.revision, head: desired.head?.value)
        apply(scope, by: origin)
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
        apply(.rollouts, by: "fleet, no contact for \(ended.values.max() ?? 0) s")
    }

    /// The keys of this process's rollouts that end with a lease, which no head announces.
    package var leasedKeys: [[UInt8]] { composition.leases.keys.sorted().map(keys.rollout) }

    /// Leaves rollouts that ended with their lease, according to a store that was asked for them at a revision.
    package mutating func leave(missing keys: [[UInt8]], at revision: Int64) {
        let ended = composition.leases.keys.filter { id in
            let created = desired.rollouts[id]?.createRevision ?? .max
            return created <= revision && keys.contains(self.keys.rollout(id))
        }
        if ended.isEmpty { return }
        leftRollouts.formUnion(ended)
        apply(.rollouts, by: "fleet, etcd revision \(revision)")
    }

    // MARK: Applying

    /// Composes again after the program's tweaks have changed.
    package mutating func recompose() { apply(.everything, by: "fleet, etcd revision \(position?.revision ?? 0)") }

    private mutating func apply(_ scope: Scope, by origin: String, isStart: Bool = false) {
        let changed = compose(scope)
        var target = changed.map { ($0, composition.values[$0]) }
        let kept = changed.filter(composition.keptPaths.contains)
        if !kept.isEmpty {
            // Remove first: replace each refused value by its last good one, unless that is in effect already.
            let good = kept.map { path in
                let lastGoodValue = lastGood(path)
                return (path, effective[path] == lastGoodValue ? applied[path] : lastGoodValue)
            }
            commit(target.filter { !composition.keptPaths.contains($0.0) } + good, by: origin, isStart)
            // Then pass the refused values: the registry keeps what it has and records the reason.
            target = kept.map { ($0, desired.values[$0].map { ComposedValue($0) }) }
        }
        commit(target, by: origin, isStart)
    }

    /// Composes the values, and records which values for all processes are accepted.
    /// - Returns: The paths whose values may have changed.
    private mutating func compose(_ scope: Scope) -> Set<TweakPath> {
        let now = sink.registry.generation
        let hasNewTweaks = now != generation
        generation = now
        if hasNewTweaks { noteRegistered() }
        // A method of this value would copy it, with all its dictionaries.
        let validate = { [sink] (path, value) in Self.validation(path, value, sink) }
        guard !hasNewTweaks, case .changes(let changes) = scope else { return composeEverything(validate) }
        composition.update(changes.paths, in: desired, validate: validate)
        noteGood(changes.paths)
        if !changes.hasRollouts { return changes.paths }
        let covered = composition.updateRollouts(
            in: desired, for: instance, without: leftRollouts, validate: validate)
        return changes.paths.union(covered)
    }

    private mutating func composeEverything(
        _ validate: (TweakPath, TweakValue) -> ValueValidation
    ) -> Set<TweakPath> {
        composition = desired.composed(for: instance, without: leftRollouts, validate: validate)
        noteGood(Set(desired.values.keys).union(goodValues.keys))
        // What stands in for refused values may be another one now.
        unsaved = nil
        return Set(composition.values.keys).union(applied.keys).union(composition.keptPaths)
    }

    /// Values that were applied before their tweaks registered have been accepted by now.
    private mutating func noteRegistered() {
        for path in composition.undeclared {
            guard let value = composition.common[path], Self.validation(path, value.value, sink) == .accepted else {
                continue
            }
            goodValues[path] = value
        }
    }

    private mutating func noteGood(_ paths: Set<TweakPath>) {
        for path in paths {
            if desired.values[path] == nil {
                goodValues[path] = nil
            } else if let value = composition.common[path], !composition.undeclared.contains(path) {
                goodValues[path] = value
            }
        }
    }

    /// Validates a value against the program's current declarations.
    private static func validation(
        _ path: TweakPath, _ value: TweakValue, _ sink: TweakSourceSink
    ) -> ValueValidation {
        guard let refusal = sink.registry.refusal(of: path, value, in: sink.layer) else { return .accepted }
        return refusal.code == .unknownTweak ? .undeclared : .refused(refusal.message)
    }

    /// The last good value of a path, if the program's current declarations still allow it.
    private func lastGood(_ path: TweakPath) -> ComposedValue? {
        guard let value = goodValues[path] else { return nil }
        if case .refused = Self.validation(path, value.value, sink) { return nil }
        return value
    }

    private mutating func commit(_ target: [(TweakPath, ComposedValue?)], by origin: String, _ isStart: Bool) {
        var changed: Set<TweakPath> = []
        for (path, value) in target where applied[path] != value {
            applied[path] = value
            entries[path] = value.map { entry(path, $0) }
            changed.insert(path)
        }
        if changed.isEmpty { return }
        let difference = sink.update(to: entries, changed: changed, origin: TweakOrigin(origin), isStart: isStart)
        // The process ends, and its sources with it.
        if difference.isIgnored { return }
        for path in changed.subtracting(difference.refused.map(\.path)) { effective[path] = applied[path] }
    }

    private func entry(_ path: TweakPath, _ value: ComposedValue) -> StoredEntry {
        let rollout = value.rollout.map { ", rollout \($0)" } ?? ""
        return StoredEntry(
            path: path, content: .value(value.value),
            origin: TweakOrigin("fleet: \(value.by)\(rollout), etcd revision \(value.revision)")
                .ofRollout(value.rollout),
            time: instant(value.at))
    }

    /// Converts a wall clock time; never later than now.
    private func instant(_ wall: Int64) -> Moment {
        let (age, overflows) = time.wall.subtractingReportingOverflow(wall)
        return overflows ? time.now : time.now.advanced(by: .zero - .milliseconds(max(0, min(age, 1 << 45))))
    }
}

/// Changes of a store do not follow from what was applied: it must be read first.
package struct FleetGapError: Error {}

// MARK: - Telling

extension FleetCore {
    /// Whether the program ends by an error.
    package var hasProgramFailed: Bool { sink.hasProgramFailed }

    /// Paths whose fleet value is hidden by a local override.
    package var covered: [TweakPath] { sink.coveredPaths }

    /// The number of applied values.
    package var count: Int { applied.count }

    /// The values of the fleet in effect, by path.
    package var heldValues: [TweakPath: TweakValue] { effective.mapValues(\.value) }

    /// The keys to save on disk: no open rollouts, and the last good value in place of each refused one.
    package var lastGood: LastGood? {
        let refused = desired.values.keys.filter { composition.common[$0] == nil }
        let instead = refused.reduce(into: [:]) { $0[$1] = .some(lastGood($1)) }
        return position.map { LastGood(position: $0, desired: desired, instead: instead) }
    }

    /// Returns what to save since the last call.
    /// - Parameter whole: All of it.
    package mutating func takeUnsaved(whole: Bool) -> LastGoodUpdate? {
        guard let position else { return nil }
        defer { unsaved = [] }
        guard let unsaved, !whole else { return lastGood.map { .whole($0) } }
        var changes: [[UInt8]: EtcdKeyValue?] = [:]
        for key in unsaved { changes.updateValue(kept(key), forKey: key) }
        return .changes(position, changes)
    }

    /// The pair to save for a key; nil if there is none.
    private func kept(_ key: [UInt8]) -> EtcdKeyValue? {
        switch keys.desired(key) {
        case .head: return desired.head?.pair
        case .value(let path):
            guard let entry = desired.values[path] else { return nil }
            return LastGood.pair(entry, instead: composition.common[path] == nil ? .some(lastGood(path)) : nil)
        case .rollout(let id): return desired.rollouts[id].flatMap(LastGood.pair)
        case .foreign: return nil
        }
    }
}
