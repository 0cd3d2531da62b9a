// Holds the parsed desired keys of a fleet, and composes from them the values of one process.

package import Tweaks

/// The desired keys of a fleet at one revision.
package struct DesiredState: Sendable {
    /// A parsed record with the etcd metadata of its key.
    package struct Entry<Record: Hashable & Sendable>: Hashable, Sendable {
        package var value: Record
        /// The unparsed key and value.
        package var pair: EtcdKeyValue

        package var createRevision: Int64 { pair.createRevision }
        package var modRevision: Int64 { pair.modRevision }
        /// 0 means no lease.
        package var lease: Int64 { pair.lease }

        init(_ value: Record, _ pair: EtcdKeyValue) {
            self.value = value
            self.pair = pair
        }
    }

    /// The maximum number of keys.
    package static let maxKeys = 10_000

    private let keys: FleetKeys
    package private(set) var head: Entry<FleetHead>?
    package private(set) var values: [TweakPath: Entry<DesiredValue>] = [:]
    package private(set) var rollouts: [String: Entry<Rollout>] = [:]
    /// The reason why a key cannot be read, by key.
    package private(set) var problems: [[UInt8]: String] = [:]

    package init(keys: FleetKeys) { self.keys = keys }

    /// Whether there are more keys than the maximum.
    package var isTooLarge: Bool {
        let known = values.count + rollouts.count
        guard known + problems.count > Self.maxKeys else { return false }
        // A key can have both a problem and an earlier readable value.
        return known + problems.keys.count { !isKnown($0) } > Self.maxKeys
    }

    private func isKnown(_ key: [UInt8]) -> Bool {
        switch keys.desired(key) {
        case .head, .foreign: false
        case .value(let path): values[path] != nil
        case .rollout(let id): rollouts[id] != nil
        }
    }

    /// Replaces all keys. An unreadable key keeps its earlier value.
    package mutating func replace(with pairs: [EtcdKeyValue]) {
        let old = self
        self = DesiredState(keys: keys)
        for pair in pairs {
            // Start with the earlier value, which remains if the new one is unreadable.
            take(pair.key, from: old)
            put(pair)
        }
    }

    /// Applies changes in order.
    package mutating func apply(_ events: [EtcdEvent]) {
        for event in events {
            switch event.kind {
            case .put: put(event.pair)
            case .delete:
                problems[event.pair.key] = nil
                take(event.pair.key, from: DesiredState(keys: keys))
            }
        }
    }

    /// Takes over the record of a key, or that there is none.
    private mutating func take(_ key: [UInt8], from other: DesiredState) {
        switch keys.desired(key) {
        case .head: head = other.head
        case .value(let path): values[path] = other.values[path]
        case .rollout(let id): rollouts[id] = other.rollouts[id]
        case .foreign: break
        }
    }

    private mutating func put(_ pair: EtcdKeyValue) {
        problems[pair.key] = nil
        do throws(FleetProblem) {
            try read(pair)
        } catch {
            problems[pair.key] = error.text
        }
    }

    private mutating func read(_ pair: EtcdKeyValue) throws(FleetProblem) {
        switch keys.desired(pair.key) {
        case .head: head = Entry(try FleetHead(pair.value), pair)
        case .value(let path):
            values[path] = Entry(try DesiredValue(pair.value), pair)
            if pair.lease != 0 { throw FleetProblem("a value has a lease, and will be gone with it; set it again") }
        case .rollout(let id):
            let rollout = try Rollout(pair.value)
            guard rollout.id == id else { throw FleetProblem("its “id” is \(rollout.id), and not that of its key") }
            rollouts[id] = Entry(rollout, pair)
        case .foreign: throw FleetProblem("it is not a key of a fleet")
        }
    }
}

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
