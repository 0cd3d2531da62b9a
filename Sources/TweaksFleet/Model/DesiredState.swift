// Holds the parsed desired keys of a fleet; an unreadable key does not affect the others.

package import Tweaks

/// The desired keys of a fleet at one revision.
package struct DesiredState: Sendable {
    /// A parsed record with the etcd metadata of its key.
    package struct Entry<Record: Hashable & Sendable>: Hashable, Sendable {
        package var value: Record
        package var createRevision: Int64
        package var modRevision: Int64
        /// 0 means no lease.
        package var lease: Int64
        /// The unparsed key and value.
        package var pair: EtcdKeyValue

        init(_ value: Record, _ pair: EtcdKeyValue) {
            (self.value, self.pair) = (value, pair)
            (createRevision, modRevision, lease) = (pair.createRevision, pair.modRevision, pair.lease)
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
            switch keys.desired(pair.key) {
            case .head: head = old.head
            case .value(let path): values[path] = old.values[path]
            case .rollout(let id): rollouts[id] = old.rollouts[id]
            case .foreign: break
            }
            put(pair)
        }
    }

    /// Applies changes in order.
    package mutating func apply(_ events: [EtcdEvent]) {
        for event in events {
            switch event.kind {
            case .put: put(event.pair)
            case .delete: delete(event.pair.key)
            }
        }
    }

    private mutating func delete(_ key: [UInt8]) {
        problems[key] = nil
        switch keys.desired(key) {
        case .head: head = nil
        case .value(let path): values[path] = nil
        case .rollout(let id): rollouts[id] = nil
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
