// Holds what the keys of a fleet say, as it was read last; a key that cannot be read harms itself alone.

package import Tweaks

/// The desired keys of a fleet at one revision.
package struct DesiredState: Sendable {
    /// What a key holds, and what etcd says of it.
    package struct Entry<Record: Hashable & Sendable>: Hashable, Sendable {
        package var value: Record
        package var createRevision: Int64
        package var modRevision: Int64
        /// 0: none.
        package var lease: Int64
        /// As it stands in etcd.
        package var pair: EtcdKeyValue

        init(_ value: Record, _ pair: EtcdKeyValue) {
            (self.value, self.pair) = (value, pair)
            (createRevision, modRevision, lease) = (pair.createRevision, pair.modRevision, pair.lease)
        }
    }

    /// So many keys at most.
    package static let mostKeys = 10_000

    private let keys: FleetKeys
    package private(set) var head: Entry<FleetHead>?
    package private(set) var values: [TweakPath: Entry<DesiredValue>] = [:]
    package private(set) var rollouts: [String: Entry<Rollout>] = [:]
    /// What is wrong with each key that cannot be read.
    package private(set) var problems: [[UInt8]: String] = [:]

    package init(keys: FleetKeys) { self.keys = keys }

    /// Whether there are more keys than it takes.
    package var isTooLarge: Bool {
        let known = values.count + rollouts.count
        guard known + problems.count > Self.mostKeys else { return false }
        // Of some keys both is there: what is wrong, and what they said before.
        return known + problems.keys.count { !isKnown($0) } > Self.mostKeys
    }

    private func isKnown(_ key: [UInt8]) -> Bool {
        switch keys.desired(key) {
        case .head, .foreign: false
        case .value(let path): values[path] != nil
        case .rollout(let id): rollouts[id] != nil
        }
    }

    /// Takes all keys as they are. What cannot be read is as it was before.
    package mutating func replace(with pairs: [EtcdKeyValue]) {
        let old = self
        self = DesiredState(keys: keys)
        for pair in pairs {
            // What was known of a key that is there is the basis for what it says now.
            switch keys.desired(pair.key) {
            case .head: head = old.head
            case .value(let path): values[path] = old.values[path]
            case .rollout(let id): rollouts[id] = old.rollouts[id]
            case .foreign: break
            }
            put(pair)
        }
    }

    /// Takes changes, in their order.
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
