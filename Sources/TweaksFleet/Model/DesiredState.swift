// Holds the parsed desired keys of a fleet at one revision.

package import Tweaks

/// What some changes of the desired keys concern.
package struct DesiredChanges: Sendable {
    package var keys: Set<[UInt8]> = []
    /// The paths of values for all processes.
    package var paths: Set<TweakPath> = []
    package var hasRollouts = false
}

/// The desired keys of a fleet at one revision.
package struct DesiredState: Equatable, Sendable {
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
    package var isTooLarge: Bool { isTooLarge(after: []) }

    /// Whether there would be more keys than the maximum after some changes.
    func isTooLarge(after events: [EtcdEvent]) -> Bool {
        let known = values.count + rollouts.count
        guard known + problems.count + events.count > Self.maxKeys else { return false }
        if !events.isEmpty {
            var next = self
            _ = next.apply(events)
            return next.isTooLarge
        }
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
    /// - Returns: What they concern.
    @discardableResult package mutating func apply(_ events: [EtcdEvent]) -> DesiredChanges {
        var changes = DesiredChanges()
        for event in events {
            let key = event.pair.key
            changes.keys.insert(key)
            switch keys.desired(key) {
            case .value(let path): changes.paths.insert(path)
            case .rollout: changes.hasRollouts = true
            case .head, .foreign: break
            }
            switch event.kind {
            case .put: put(event.pair)
            case .delete:
                problems[key] = nil
                take(key, from: DesiredState(keys: keys))
            }
        }
        return changes
    }

    /// Returns the head after some changes; the present one where they do not concern it, or leave it unreadable.
    func head(after events: [EtcdEvent]) -> FleetHead? {
        guard let event = events.last(where: { $0.pair.key == keys.head }) else { return head?.value }
        if event.kind == .delete { return nil }
        return (try? FleetHead(event.pair.value)) ?? head?.value
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
