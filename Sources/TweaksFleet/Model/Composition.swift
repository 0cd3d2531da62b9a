// Composes the values that a fleet wants in one process, and composes again only what a change concerns.

package import Tweaks

/// The result of validating a value in a process.
package enum ValueValidation: Hashable, Sendable {
    case accepted
    /// This build has no such tweak.
    case undeclared
    case refused(String)
}

/// A value for a process, and its source.
package struct ComposedValue: Hashable, Sendable {
    package var value: TweakValue
    package var by: String
    package var at: Int64
    /// Nil for a value for all processes.
    package var rollout: String?
    /// The revision at which its key was last changed.
    package var revision: Int64
}

/// The values that a fleet wants in one process.
package struct Composition: Sendable {
    package private(set) var values: [TweakPath: ComposedValue] = [:]
    /// The accepted values for all processes, including those that a rollout replaces.
    package private(set) var common: [TweakPath: ComposedValue] = [:]
    /// Of these, the paths that this build does not declare, or not yet.
    package private(set) var undeclared: Set<TweakPath> = []
    /// Paths whose value for all processes is refused and that no rollout covers: they keep their last good value.
    package private(set) var keptPaths: Set<TweakPath> = []
    /// The rollouts that include this process and are not refused by it.
    package private(set) var members: [String] = []
    /// For each of these that has a lease, the seconds without contact after which the process leaves it.
    package private(set) var leases: [String: Int64] = [:]
    /// Why values for all processes are refused.
    private var refusedValues: [TweakPath: String] = [:]
    private var refusedRollouts: [FleetStatus.Refusal] = []
    /// The values of rollouts; of several for one path, the last.
    private var covers: [TweakPath: ComposedValue] = [:]

    package init() {}

    /// Values and rollouts that are refused, sorted.
    package var refused: [FleetStatus.Refusal] {
        let values = refusedValues.map { FleetStatus.Refusal(rollout: nil, path: $0.joined, reason: $1) }
        return (values + refusedRollouts).sorted { ($0.rollout ?? "", $0.path) < ($1.rollout ?? "", $1.path) }
    }
}

extension Composition {
    /// Composes again the values of some paths.
    /// - Parameter validate: Validates a value; called once for each.
    package mutating func update(
        _ paths: some Sequence<TweakPath>, in desired: DesiredState,
        validate: (TweakPath, TweakValue) -> ValueValidation
    ) {
        for path in paths {
            common[path] = nil
            undeclared.remove(path)
            refusedValues[path] = nil
            if let entry = desired.values[path] { add(entry, at: path, validate(path, entry.value.value)) }
            combine(path)
        }
    }

    /// Adds a value for all processes.
    private mutating func add(
        _ entry: DesiredState.Entry<DesiredValue>, at path: TweakPath, _ validation: ValueValidation
    ) {
        switch validation {
        case .refused(let reason):
            refusedValues[path] = reason
            return
        case .undeclared: undeclared.insert(path)
        case .accepted: break
        }
        common[path] = ComposedValue(entry)
    }

    /// Decides between the value for all processes and that of a rollout.
    private mutating func combine(_ path: TweakPath) {
        values[path] = covers[path] ?? common[path]
        if refusedValues[path] != nil, covers[path] == nil {
            keptPaths.insert(path)
        } else {
            keptPaths.remove(path)
        }
    }

    /// Composes the rollouts again: they apply in order of create revision, then ID; the last one wins.
    /// - Parameter left: Rollouts that the instance has left.
    /// - Returns: The paths that this changes.
    package mutating func updateRollouts(
        in desired: DesiredState, for instance: FleetInstance, without left: Set<String>,
        validate: (TweakPath, TweakValue) -> ValueValidation
    ) -> Set<TweakPath> {
        let old = covers
        (members, leases, refusedRollouts, covers) = ([], [:], [], [:])
        for entry in desired.rollouts.values.sorted(by: Self.precedes)
        where entry.value.includes(instance) && !left.contains(entry.value.id) {
            add(entry, validate)
        }
        let changed = Set(old.keys).union(covers.keys).filter { old[$0] != covers[$0] }
        for path in changed { combine(path) }
        return changed
    }

    private static func precedes(_ left: DesiredState.Entry<Rollout>, _ right: DesiredState.Entry<Rollout>) -> Bool {
        (left.createRevision, left.value.id) < (right.createRevision, right.value.id)
    }

    /// Adds a rollout, completely or not at all.
    private mutating func add(
        _ entry: DesiredState.Entry<Rollout>, _ validate: (TweakPath, TweakValue) -> ValueValidation
    ) {
        let rollout = entry.value
        for change in rollout.changes {
            guard case .refused(let reason) = validate(change.path, change.value) else { continue }
            refusedRollouts.append(.init(rollout: rollout.id, path: change.path.joined, reason: reason))
            return
        }
        members.append(rollout.id)
        leases[rollout.id] = rollout.lifetime
        for change in rollout.changes {
            covers[change.path] = ComposedValue(
                value: change.value, by: rollout.by, at: rollout.at, rollout: rollout.id, revision: entry.modRevision)
        }
    }
}

extension DesiredState {
    /// Composes all values for an instance.
    /// - Parameters:
    ///   - left: Rollouts that the instance has left.
    ///   - validate: Validates a value; called once for each.
    package func composed(
        for instance: FleetInstance, without left: Set<String> = [],
        validate: (TweakPath, TweakValue) -> ValueValidation
    ) -> Composition {
        var composition = Composition()
        composition.update(values.keys, in: self, validate: validate)
        _ = composition.updateRollouts(in: self, for: instance, without: left, validate: validate)
        return composition
    }
}

extension ComposedValue {
    /// Creates a value for all processes.
    package init(_ entry: DesiredState.Entry<DesiredValue>) {
        self.init(
            value: entry.value.value, by: entry.value.by, at: entry.value.at, rollout: nil, revision: entry.modRevision)
    }
}
