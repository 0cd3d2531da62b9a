// Composes the values of one process: the values for all processes, then those of its rollouts.

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

    package init(value: TweakValue, by: String, at: Int64, rollout: String?, revision: Int64) {
        (self.value, self.by, self.at) = (value, by, at)
        (self.rollout, self.revision) = (rollout, revision)
    }
}

/// The values that a fleet wants in one process.
package struct Composition: Hashable, Sendable {
    package var values: [TweakPath: ComposedValue] = [:]
    /// The accepted values for all processes, including those that a rollout replaces.
    package var common: [TweakPath: ComposedValue] = [:]
    /// Of these, the paths that this build does not declare, or not yet.
    package var undeclared: Set<TweakPath> = []
    /// Paths whose value for all processes is refused and that no rollout covers: they keep their last good value.
    package var keptPaths: Set<TweakPath> = []
    package var refused: [FleetStatus.Refusal] = []
    /// The rollouts that include this process and are not refused by it.
    package var members: [String] = []
    /// For each of these that has a lease, the seconds without contact after which the process leaves it.
    package var leases: [String: Int64] = [:]

    package init() {}
}

extension DesiredState {
    /// Composes the values for an instance. Rollouts apply in order of create revision, then ID; the last one wins.
    /// - Parameters:
    ///   - left: Rollouts that the instance has left.
    ///   - validate: Validates a value; called once for each.
    package func composed(
        for instance: FleetInstance, without left: Set<String> = [],
        validate: (TweakPath, TweakValue) -> ValueValidation
    ) -> Composition {
        var composition = Composition()
        for (path, entry) in values {
            composition.add(entry, at: path, validate(path, entry.value.value))
        }
        composition.values = composition.common
        for entry in rollouts.values.sorted(by: Self.precedes)
        where entry.value.includes(instance) && !left.contains(entry.value.id) {
            composition.add(entry, validate)
        }
        composition.refused.sort { ($0.rollout ?? "", $0.path) < ($1.rollout ?? "", $1.path) }
        return composition
    }

    private static func precedes(_ left: Entry<Rollout>, _ right: Entry<Rollout>) -> Bool {
        (left.createRevision, left.value.id) < (right.createRevision, right.value.id)
    }
}

extension Composition {
    /// Adds a value for all processes.
    fileprivate mutating func add(
        _ entry: DesiredState.Entry<DesiredValue>, at path: TweakPath, _ validation: ValueValidation
    ) {
        switch validation {
        case .refused(let reason):
            keptPaths.insert(path)
            refused.append(.init(rollout: nil, path: path.joined, reason: reason))
            return
        case .undeclared: undeclared.insert(path)
        case .accepted: break
        }
        common[path] = ComposedValue(entry)
    }

    /// Adds a rollout, completely or not at all.
    fileprivate mutating func add(
        _ entry: DesiredState.Entry<Rollout>, _ validate: (TweakPath, TweakValue) -> ValueValidation
    ) {
        let rollout = entry.value
        for change in rollout.changes {
            guard case .refused(let reason) = validate(change.path, change.value) else { continue }
            return refused.append(.init(rollout: rollout.id, path: change.path.joined, reason: reason))
        }
        members.append(rollout.id)
        leases[rollout.id] = rollout.lifetime
        for change in rollout.changes {
            keptPaths.remove(change.path)
            values[change.path] = ComposedValue(
                value: change.value, by: rollout.by, at: rollout.at, rollout: rollout.id, revision: entry.modRevision)
        }
    }
}

extension ComposedValue {
    /// Creates a value for all processes.
    package init(_ entry: DesiredState.Entry<DesiredValue>) {
        self.init(
            value: entry.value.value, by: entry.value.by, at: entry.value.at, rollout: nil, revision: entry.modRevision)
    }
}
