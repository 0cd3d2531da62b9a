// Composes what a fleet wants of one process: the values for all, then the rollouts that it is in.

package import Tweaks

/// What a process says to a value.
package enum FleetJudgement: Hashable, Sendable {
    case fits
    /// This build has no such tweak.
    case lacks
    case refused(String)
}

/// A value that a fleet wants of a process, and where it comes from.
package struct ComposedValue: Hashable, Sendable {
    package var value: TweakValue
    package var by: String
    package var at: Int64
    /// Nil: it is a value for all.
    package var rollout: String?
    /// When its key was changed last.
    package var revision: Int64

    package init(value: TweakValue, by: String, at: Int64, rollout: String?, revision: Int64) {
        (self.value, self.by, self.at) = (value, by, at)
        (self.rollout, self.revision) = (rollout, revision)
    }
}

/// What a fleet wants of one process.
package struct Composition: Hashable, Sendable {
    package var values: [TweakPath: ComposedValue] = [:]
    /// The values for all that are not refused, also where a rollout has another one.
    package var common: [TweakPath: ComposedValue] = [:]
    /// Of these, what nothing can be said of: the build has no such tweak, or not yet.
    package var lacking: Set<TweakPath> = []
    /// Paths whose value for all is refused, and that no rollout covers: they keep their last good one.
    package var kept: Set<TweakPath> = []
    package var refused: [FleetStatus.Refusal] = []
    /// The rollouts that it takes part in, and has not refused.
    package var members: [String] = []
    /// Of these, how many seconds it stays without contact where they are under a lease.
    package var leases: [String: Int64] = [:]

    package init() {}
}

extension DesiredState {
    /// Composes for an instance. Rollouts go by create revision, then by ID; the last one wins a path.
    /// - Parameters:
    ///   - left: Rollouts that it does not take part in any more.
    ///   - judge: Says whether a value fits; asked once for each.
    package func composed(
        for instance: FleetInstance, without left: Set<String> = [],
        judge: (TweakPath, TweakValue) -> FleetJudgement
    ) -> Composition {
        var composition = Composition()
        for (path, entry) in values {
            composition.add(entry, at: path, judge(path, entry.value.value))
        }
        composition.values = composition.common
        for entry in rollouts.values.sorted(by: Self.precedes)
        where entry.value.includes(instance) && !left.contains(entry.value.id) {
            composition.add(entry, judge)
        }
        composition.refused.sort { ($0.rollout ?? "", $0.path) < ($1.rollout ?? "", $1.path) }
        return composition
    }

    private static func precedes(_ left: Entry<Rollout>, _ right: Entry<Rollout>) -> Bool {
        (left.createRevision, left.value.id) < (right.createRevision, right.value.id)
    }
}

extension Composition {
    /// Adds a value for all.
    fileprivate mutating func add(
        _ entry: DesiredState.Entry<DesiredValue>, at path: TweakPath, _ judgement: FleetJudgement
    ) {
        switch judgement {
        case .refused(let reason):
            kept.insert(path)
            refused.append(.init(rollout: nil, path: path.joined, reason: reason))
            return
        case .lacks: lacking.insert(path)
        case .fits: break
        }
        common[path] = ComposedValue(entry)
    }

    /// Adds a rollout, all of it or nothing.
    fileprivate mutating func add(
        _ entry: DesiredState.Entry<Rollout>, _ judge: (TweakPath, TweakValue) -> FleetJudgement
    ) {
        let rollout = entry.value
        for change in rollout.changes {
            guard case .refused(let reason) = judge(change.path, change.value) else { continue }
            return refused.append(.init(rollout: rollout.id, path: change.path.joined, reason: reason))
        }
        members.append(rollout.id)
        leases[rollout.id] = rollout.lifetime
        for change in rollout.changes {
            kept.remove(change.path)
            values[change.path] = ComposedValue(
                value: change.value, by: rollout.by, at: rollout.at, rollout: rollout.id, revision: entry.modRevision)
        }
    }
}

extension ComposedValue {
    /// A value for all.
    package init(_ entry: DesiredState.Entry<DesiredValue>) {
        self.init(
            value: entry.value.value, by: entry.value.by, at: entry.value.at, rollout: nil, revision: entry.modRevision)
    }
}
